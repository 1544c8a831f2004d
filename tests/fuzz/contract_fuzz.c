/* contract_fuzz.c - whatever is read as a rulebase concludes numbers within the
 * range of their variables, or nothing; whatever is read as a contract is the
 * same when it is printed and read again; or it is refused. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "contracts/rules/rules_internal.h"
#include "pastset/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static void check_refusal(int err)
{
    must(err == PASTSET_EFORMAT || err == PASTSET_EIO,
         "it is the text's fault");
    must(*pastset_error() != 0, "it is said what is wrong");
}

static void check_rules(const char *text)
{
    contracts_rules *rules;
    int err = contracts__rules_parse(&rules, text, "fuzz");
    size_t count;
    double *values;

    if (err) {
        check_refusal(err);
        return;
    }
    count = contracts_rules_count(rules);
    values = calloc(count + 1, sizeof(*values));
    must(values != NULL, "there is memory");
    for (size_t i = 0; i < count; i++)
        values[i] = rules->variables[i].from +
                    (rules->variables[i].to - rules->variables[i].from) / 3;
    must(contracts_rules_infer(rules, values) == 0, "something is concluded");
    for (size_t i = 0; i < count; i++) {
        const contracts__variable *v = &rules->variables[i];
        double slack = 1e-6 * (fabs(v->from) + fabs(v->to));
        must(!v->is_concluded || isnan(values[i]) ||
                 (values[i] >= v->from - slack && values[i] <= v->to + slack),
             "it is within the range");
    }
    free(values);
    contracts_rules_destroy(rules);
}

static char *printed(const contracts_contract *c)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    must(out != NULL, "there is memory");
    must(contracts_contract_print(c, out) == 0, "it is printed");
    fclose(out);
    return text;
}

static void check_contract(const char *text)
{
    contracts_contract *c, *again;
    int err = contracts__contract_parse(&c, text, "fuzz");
    char *once, *twice;

    if (err) {
        check_refusal(err);
        return;
    }
    once = printed(c);
    contracts_contract_destroy(c);
    err = contracts__contract_parse(&again, once, "printed");
    if (err)
        fprintf(stderr, "%s\n%s\n", pastset_error(), once);
    must(err == 0, "what was printed can be read");
    twice = printed(again);
    must(strcmp(once, twice) == 0, "and is the same");
    contracts_contract_destroy(again);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);

    if (!text)
        return 0;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    check_rules(text);
    check_contract(text);
    free(text);
    return 0;
}
