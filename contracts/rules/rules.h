/* rules.h - rules that judge by degrees (paper 003, 6; figure 4).
 *
 * A rulebase is a text. A variable has a range, and sets of values to which a
 * value belongs more or less; a rule says to which set another variable then
 * belongs, as much as its condition holds:
 *
 *     var distance(0, 10) {
 *       set trapez SHORT (0, 3, 0, 3);
 *       set trapez LONG (6, 10, 3, 0);
 *     }
 *     var contract(-1, 2) {
 *       set triangle OK (0, 1, 1);
 *       set triangle VIOLATED (1, 1, 1);
 *     }
 *     if ( distance == SHORT )
 *       { contract = OK; }
 *     if ( distance == LONG )
 *       { contract = VIOLATED; }
 *
 * trapez NAME (from, to, before, behind) holds fully from `from` to `to`, and
 * is nothing from `before` before and `behind` behind; triangle NAME (peak,
 * before, behind) holds fully at one value.
 *
 * A condition is VARIABLE == SET or VARIABLE != SET, `not`, `and`, `or` of
 * conditions, and parentheses. `and` is the least of the degrees, `or` the
 * largest, `not` what is left of 1.
 *
 * `inference mamdani;` (the default): a set is cut off at the largest degree of
 * the rules that conclude it, and what remains of all sets lies over each
 * other. `inference product;`: each rule multiplies the set that it concludes
 * by its degree, and these are added (product/sum). The value of a concluded
 * variable is the centroid of that area within the variable's range, worked out
 * exactly.
 *
 * A variable is either concluded or asked for. `#` and `//` begin a comment.
 *
 * Threads:   once it was read a rulebase does not change; any number.
 * Ownership: read and parse give, destroy takes back. */
#ifndef CONTRACTS_RULES_H
#define CONTRACTS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTRACTS_NONE UINT32_MAX

typedef struct contracts_rules contracts_rules;

/* The rulebase above: figure 4 of the paper. */
extern const char contracts_rules_usual[];

/* Errors: PASTSET_EFORMAT ("file:line:column: " and what is wrong there),
 * PASTSET_EIO, PASTSET_ENOMEM. `-` is standard input; NULL the usual one. */
int contracts_rules_read(contracts_rules **out, const char *file);
/* NULL is allowed. */
void contracts_rules_destroy(contracts_rules *rules);

size_t contracts_rules_count(const contracts_rules *rules);
/* The number of a variable; CONTRACTS_NONE: there is none of this name. */
uint32_t contracts_rules_find(const contracts_rules *rules, const char *name);
const char *contracts_rules_name(const contracts_rules *rules,
                                 uint32_t variable);
/* Whether it is the rules that conclude it. */
bool contracts_rules_concludes(const contracts_rules *rules, uint32_t variable);
/* The name of a set of a variable; NULL past the last. */
const char *contracts_rules_set(const contracts_rules *rules, uint32_t variable,
                                size_t set);
/* To which degree a value, which counts as the nearest within the range,
 * belongs to a set: 0 to 1; NAN: of no number. */
double contracts_rules_degree(const contracts_rules *rules, uint32_t variable,
                              size_t set, double value);
/* `values` has one for each variable: those that are concluded are worked out
 * from the others, which count as the nearest within their range. NAN: no rule
 * said anything of it. Errors: PASTSET_EINVAL (a value that is asked for is no
 * number), PASTSET_ENOMEM. */
int contracts_rules_infer(const contracts_rules *rules, double *values);

#endif
