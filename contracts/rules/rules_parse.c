/* rules_parse.c - reading a rulebase.
 *
 *     rulebase   = { variable | rule | "inference" ( "mamdani" | "product" )
 * ";" } variable   = "var" NAME "(" NUMBER "," NUMBER ")" "{" set { set } "}"
 *     set        = "set" "trapez" NAME "(" N "," N "," N "," N ")" ";"
 *                | "set" "triangle" NAME "(" N "," N "," N ")" ";"
 *     rule       = "if" "(" either ")" "{" NAME "=" NAME ";" { ... } "}"
 *     either     = both { ( "or" | "||" ) both }
 *     both       = one { ( "and" | "&&" ) one }
 *     one        = ( "not" | "!" ) one | "(" either ")" | NAME ( "==" | "!=" )
 * NAME
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/rules/rules_internal.h"
#include "contracts/text/tokens.h"
#include "pastset/status.h"

#define DEPTH_MAX 100
#define SETS_MAX 64
#define ITEMS_MAX 10000 /* variables, conditions, rules */

typedef struct parser {
    contracts__tokens t;
    contracts_rules *rules;
    uint32_t depth;
} parser;

/* --- variables --- */

static uint32_t set_find(const contracts__variable *v,
                         const contracts__tokens *t)
{
    for (size_t i = 0; i < v->set_count; i++)
        if (v->sets[i].name && contracts__is_name(t, v->sets[i].name))
            return (uint32_t)i;
    return CONTRACTS_NONE;
}

/* Numbers in parentheses. */
static void numbers_parse(parser *p, double *out, int count)
{
    contracts__need_mark(&p->t, "(");
    for (int i = 0; i < count; i++) {
        if (i)
            contracts__need_mark(&p->t, ",");
        out[i] = contracts__need_number(&p->t);
    }
    contracts__need_mark(&p->t, ")");
}

static void set_fill(parser *p, contracts__set *set, bool is_trapez)
{
    contracts__tokens at = p->t; /* what is wrong is wrong from here on */
    double n[4];

    numbers_parse(p, n, is_trapez ? 4 : 3);
    if (p->t.err)
        return;
    if (!is_trapez) {
        n[3] = n[2];
        n[2] = n[1];
        n[1] = n[0];
    }
    if (n[1] < n[0] || n[2] < 0 || n[3] < 0) {
        contracts__wrong(
            &at, n[1] < n[0] ? "a set ends before it begins"
                             : "what a set rises or falls within is below 0");
        p->t.err = at.err;
        return;
    }
    memcpy(set->x, (double[]){n[0] - n[2], n[0], n[1], n[1] + n[3]},
           sizeof(set->x));
}

static void set_parse(parser *p, contracts__variable *v)
{
    bool is_trapez = contracts__take_word(&p->t, "trapez");
    contracts__set *set;

    if (!is_trapez && !contracts__take_word(&p->t, "triangle"))
        contracts__expected(&p->t, "trapez or triangle");
    if (!p->t.err && set_find(v, &p->t) != CONTRACTS_NONE)
        contracts__wrong(&p->t, "%s has this set already", v->name);
    set = contracts__more(&p->t, (void **)&v->sets, &v->set_count, sizeof(*set),
                          SETS_MAX, "sets of a variable");
    if (!set)
        return;
    set->name = contracts__need_name(&p->t, "the name of a set");
    set_fill(p, set, is_trapez);
    contracts__need_mark(&p->t, ";");
}

static uint32_t variable_find(const parser *p)
{
    for (size_t i = 0; i < p->rules->variable_count; i++)
        if (p->rules->variables[i].name &&
            contracts__is_name(&p->t, p->rules->variables[i].name))
            return (uint32_t)i;
    return CONTRACTS_NONE;
}

static void variable_parse(parser *p)
{
    contracts_rules *r = p->rules;
    contracts__variable *v;
    contracts__tokens at;
    double range[2] = {0, 0};

    if (!p->t.err && variable_find(p) != CONTRACTS_NONE)
        contracts__wrong(&p->t, "there is this variable already");
    v = contracts__more(&p->t, (void **)&r->variables, &r->variable_count,
                        sizeof(*v), ITEMS_MAX, "variables");
    if (!v)
        return;
    v->name = contracts__need_name(&p->t, "the name of a variable");
    at = p->t;
    numbers_parse(p, range, 2);
    if (!p->t.err && !(range[0] < range[1])) {
        contracts__wrong(&at, "a range must begin before it ends");
        p->t.err = at.err;
    }
    v->from = range[0];
    v->to = range[1];
    contracts__need_mark(&p->t, "{");
    if (!contracts__is_name(&p->t, "set"))
        contracts__expected(&p->t, "set");
    while (contracts__take_word(&p->t, "set"))
        set_parse(p, v);
    if (!p->t.err && !contracts__take_mark(&p->t, "}"))
        contracts__expected(&p->t, "set or \"}\"");
}

/* A variable that is asked for or concluded, and one of its sets. */
static void variable_of_rule(parser *p, uint32_t *variable, bool is_asked)
{
    contracts__variable *v;

    if (!p->t.err && p->t.kind != CONTRACTS__WORD)
        contracts__expected(&p->t, "a variable");
    *variable = variable_find(p);
    if (!p->t.err && *variable == CONTRACTS_NONE)
        contracts__wrong(&p->t, "there is no variable \"%.*s\"",
                         p->t.bytes < 40 ? (int)p->t.bytes : 40, p->t.at);
    if (p->t.err)
        return;
    v = &p->rules->variables[*variable];
    if (is_asked ? v->is_concluded : v->is_asked)
        contracts__wrong(&p->t,
                         "%s is concluded by one rule and asked for by another",
                         v->name);
    v->is_asked |= is_asked;
    v->is_concluded |= !is_asked;
    contracts__token_next(&p->t);
}

static void set_of_rule(parser *p, uint32_t variable, uint32_t *set)
{
    const contracts__variable *v;

    if (p->t.err)
        return;
    v = &p->rules->variables[variable];
    *set = set_find(v, &p->t);
    if (p->t.kind != CONTRACTS__WORD)
        contracts__expected(&p->t, "the name of a set");
    else if (*set == CONTRACTS_NONE)
        contracts__wrong(&p->t, "%s has no set \"%.*s\"", v->name,
                         p->t.bytes < 40 ? (int)p->t.bytes : 40, p->t.at);
    contracts__token_next(&p->t);
}

/* --- conditions --- */

static uint32_t condition(parser *p, contracts__op op, uint32_t a, uint32_t b)
{
    contracts_rules *r = p->rules;
    contracts__condition *c =
        contracts__more(&p->t, (void **)&r->conditions, &r->condition_count,
                        sizeof(*c), ITEMS_MAX, "conditions");

    if (!c)
        return CONTRACTS_NONE;
    *c = (contracts__condition){op, a, b};
    return (uint32_t)r->condition_count - 1;
}

static uint32_t either_parse(parser *p);

static uint32_t is_parse(parser *p)
{
    uint32_t variable = CONTRACTS_NONE, set = CONTRACTS_NONE, is;
    bool differs;

    variable_of_rule(p, &variable, true);
    differs = contracts__take_mark(&p->t, "!=");
    if (!differs && !contracts__take_mark(&p->t, "=="))
        contracts__expected(&p->t, "\"==\" or \"!=\"");
    set_of_rule(p, variable, &set);
    is = condition(p, CONTRACTS__IS, variable, set);
    return differs ? condition(p, CONTRACTS__NOT, is, is) : is;
}

static uint32_t one_parse(parser *p)
{
    uint32_t found;

    if (++p->depth > DEPTH_MAX)
        contracts__wrong(&p->t, "a condition is more than %d deep", DEPTH_MAX);
    if (p->t.err)
        return CONTRACTS_NONE;
    if (contracts__take_word(&p->t, "not") ||
        contracts__take_mark(&p->t, "!")) {
        found = one_parse(p);
        found = condition(p, CONTRACTS__NOT, found, found);
    } else if (contracts__take_mark(&p->t, "(")) {
        found = either_parse(p);
        contracts__need_mark(&p->t, ")");
    } else {
        found = is_parse(p);
    }
    p->depth--;
    return found;
}

static uint32_t both_parse(parser *p)
{
    uint32_t found = one_parse(p);

    while (contracts__take_word(&p->t, "and") ||
           contracts__take_mark(&p->t, "&&"))
        found = condition(p, CONTRACTS__AND, found, one_parse(p));
    return found;
}

static uint32_t either_parse(parser *p)
{
    uint32_t found = both_parse(p);

    while (contracts__take_word(&p->t, "or") ||
           contracts__take_mark(&p->t, "||"))
        found = condition(p, CONTRACTS__OR, found, both_parse(p));
    return found;
}

/* --- rules --- */

static void conclusion_parse(parser *p, uint32_t of)
{
    contracts_rules *r = p->rules;
    contracts__rule rule = {of, CONTRACTS_NONE, CONTRACTS_NONE}, *added;

    variable_of_rule(p, &rule.variable, false);
    contracts__need_mark(&p->t, "=");
    set_of_rule(p, rule.variable, &rule.set);
    contracts__need_mark(&p->t, ";");
    added = contracts__more(&p->t, (void **)&r->rules, &r->rule_count,
                            sizeof(*added), ITEMS_MAX, "rules");
    if (added)
        *added = rule;
}

static void rule_parse(parser *p)
{
    uint32_t of;

    contracts__need_mark(&p->t, "(");
    of = either_parse(p);
    contracts__need_mark(&p->t, ")");
    contracts__need_mark(&p->t, "{");
    do
        conclusion_parse(p, of);
    while (!p->t.err && !contracts__take_mark(&p->t, "}"));
}

static void inference_parse(parser *p)
{
    p->rules->is_product = contracts__take_word(&p->t, "product");
    if (!p->rules->is_product && !contracts__take_word(&p->t, "mamdani"))
        contracts__expected(&p->t, "mamdani or product");
    contracts__need_mark(&p->t, ";");
}

static void parse(parser *p)
{
    while (!p->t.err && p->t.kind != CONTRACTS__END) {
        if (contracts__take_word(&p->t, "var"))
            variable_parse(p);
        else if (contracts__take_word(&p->t, "if"))
            rule_parse(p);
        else if (contracts__take_word(&p->t, "inference"))
            inference_parse(p);
        else
            contracts__expected(&p->t, "var, if or inference");
    }
    if (!p->t.err && p->rules->rule_count == 0)
        contracts__wrong(&p->t, "there is no rule");
}

/* --- all of it --- */

int contracts__rules_parse(contracts_rules **out, const char *text,
                           const char *name)
{
    parser p = {.rules = calloc(1, sizeof(*p.rules))};

    *out = NULL;
    if (!p.rules)
        return pastset_no_memory("for a rulebase");
    contracts__tokens_begin(&p.t, text, name);
    parse(&p);
    if (p.t.err)
        contracts_rules_destroy(p.rules);
    else
        *out = p.rules;
    return p.t.err;
}
