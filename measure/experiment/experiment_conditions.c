/* experiment_conditions.c - what a case says: which nodes get how many
 * competitors, which links which rate.
 *
 * The texts are those of predict/cluster/condition.h; here is what an
 * experiment can make true of them. A latency or a speed it cannot. */
#include "measure/experiment/experiment_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define BLANKS " \t\n"
#define MAX_LOAD 1000
#define ALL (PREDICT_OF_NODES | PREDICT_OF_LINKS | PREDICT_BUSY)

/* Whether an experiment can make it true. */
static int check(const experiment_condition *c)
{
    unsigned told = c->is.told;
    if (told & PREDICT_SPEED)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: an experiment cannot change how fast a "
                            "processor is; it can add load",
                            c->text);
    if (told & (PREDICT_WAITING | PREDICT_SESSION))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: an experiment cannot change how a program "
                            "waits, or the session of its competitors, which "
                            "is that of the program",
                            c->text);
    if (c->is.load > MAX_LOAD)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the load %g is not a number from 0 to %d",
                            c->text, c->is.load, MAX_LOAD);
    if (!(told & PREDICT_OF_NODES) && told != PREDICT_BANDWIDTH)
        return pastset_fail(
            PASTSET_EINVAL,
            "%s: an experiment can add load, as in n0:load=1, and limit a "
            "bandwidth, as in n0-n1:bandwidth=10mbit; it cannot change "
            "anything else of a link",
            c->text);
    return 0;
}

static int parse_one(experiment_condition *c, const char *word,
                     const char *const *names, size_t count)
{
    int err;
    c->text = strdup(word);
    if (!c->text)
        return pastset_no_memory("for %s", word);
    err = predict_condition_parse(&c->is, word, ALL, names, count);
    return err ? err : check(c);
}

int measure__experiment_conditions_parse(experiment_conditions *out,
                                         const char *text,
                                         const char *const *names, size_t count)
{
    char *copy = strdup(text), *state;
    int err = copy ? 0 : pastset_no_memory("for %s", text);
    *out = (experiment_conditions){0};
    for (char *word = err ? NULL : strtok_r(copy, BLANKS, &state); word && !err;
         word = strtok_r(NULL, BLANKS, &state)) {
        experiment_condition *more =
            pastset_array_grow(out->items, out->count, sizeof(*more));
        if (!more) {
            err = pastset_no_memory("for %s", text);
            break;
        }
        out->items = more;
        err = parse_one(&more[out->count++], word, names, count);
    }
    if (!err && !out->count)
        err = pastset_fail(PASTSET_EINVAL,
                           "a scenario has no condition: write for "
                           "example n0:load=1");
    free(copy);
    if (err)
        measure__experiment_conditions_fini(out);
    return err;
}

int measure_experiment_check(const char *text)
{
    experiment_conditions conditions;
    int err = measure__experiment_conditions_parse(&conditions, text, NULL, 0);

    if (!err)
        measure__experiment_conditions_fini(&conditions);
    return err;
}

void measure__experiment_conditions_fini(experiment_conditions *conditions)
{
    for (size_t i = 0; i < conditions->count; i++)
        free(conditions->items[i].text);
    free(conditions->items);
    *conditions = (experiment_conditions){0};
}
