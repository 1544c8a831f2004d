/* rules_internal.h - a rulebase as it was read. */
#ifndef CONTRACTS_RULES_INTERNAL_H
#define CONTRACTS_RULES_INTERNAL_H

#include "contracts/rules/rules.h"

/* 0 at x[0] and before, 1 from x[1] to x[2], 0 from x[3] on; where two are the
 * same it rises or falls at once. */
typedef struct contracts__set {
    char *name;
    double x[4];
} contracts__set;

typedef struct contracts__variable {
    char *name;
    double from, to;
    contracts__set *sets;
    size_t set_count;
    bool is_asked, is_concluded;
} contracts__variable;

typedef enum contracts__op {
    CONTRACTS__IS, /* `variable` of `set` */
    CONTRACTS__NOT,
    CONTRACTS__AND,
    CONTRACTS__OR,
} contracts__op;

typedef struct contracts__condition {
    contracts__op op;
    uint32_t a, b; /* conditions; of IS a variable and its set */
} contracts__condition;

/* A rule that concludes several is several. */
typedef struct contracts__rule {
    uint32_t condition;
    uint32_t variable, set;
} contracts__rule;

struct contracts_rules {
    contracts__variable *variables;
    size_t variable_count;
    contracts__condition *conditions; /* parts before what they are parts of */
    size_t condition_count;
    contracts__rule *rules;
    size_t rule_count;
    bool is_product;
};

/* --- rules_parse.c --- */

/* Reads a text; errors call it `name`. */
int contracts__rules_parse(contracts_rules **out, const char *text,
                           const char *name);

/* --- rules_area.c --- */

/* The centroid of what is below sets, each cut off at (or multiplied by) its
 * height, 0 to 1, from `from` to `to`: below the highest of them, or below
 * their sum. NAN: there is nothing. Errors (`err`): PASTSET_ENOMEM. */
double contracts__centroid(const contracts__set *sets, const double *heights,
                           size_t count, double from, double to,
                           bool is_product, int *err);

#endif
