/* rules_test.c - rulebases: the one of paper 003, figure 4, with its numbers;
 * what a sum over many thin strips says of others; what is refused, and where.
 */
#include "contracts/rules/rules_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"

#define FIGURE4                                                                \
    "var distance(0, 10) {\n"                                                  \
    "  set trapez SHORT (0, 3, 0, 3);\n"                                       \
    "  set trapez LONG (6, 10, 3, 0);\n"                                       \
    "}\n"                                                                      \
    "var contract(-1, 2) {\n"                                                  \
    "  set triangle OK (0, 1, 1);\n"                                           \
    "  set triangle VIOLATED (1, 1, 1);\n"                                     \
    "}\n"                                                                      \
    "if ( distance == SHORT )\n"                                               \
    "  { contract = OK; }\n"                                                   \
    "if ( distance == LONG )\n"                                                \
    "  { contract = VIOLATED; }\n"

static contracts_rules *parsed(const char *text)
{
    contracts_rules *rules;

    check_status(contracts__rules_parse(&rules, text, "test"), 0);
    return rules;
}

/* What follows from one value. */
static double level(const contracts_rules *rules, double distance)
{
    double values[] = {distance, -100};

    check_status(contracts_rules_infer(rules, values), 0);
    return values[1];
}

static void levels_are(const char *text, const double *distances,
                       const double *levels, size_t count, double within)
{
    contracts_rules *rules = parsed(text);

    for (size_t i = 0; i < count; i++)
        cr_expect_float_eq(level(rules, distances[i]), levels[i], within,
                           "%g: %.6f, not %.6f", distances[i],
                           level(rules, distances[i]), levels[i]);
    contracts_rules_destroy(rules);
}

static const double distances[] = {-1, 0, 1, 3, 3.5, 4, 4.5, 5, 5.5, 6, 10, 99};
#define DISTANCES (sizeof(distances) / sizeof(distances[0]))

Test(rules, judge_as_in_figure_4, .timeout = 60)
{
    static const double levels[] = {0,     0,     0,     0, 0.207, 0.364,
                                    0.500, 0.636, 0.793, 1, 1,     1};

    levels_are(FIGURE4, distances, levels, DISTANCES, 5e-4);
}

Test(rules, judge_by_products_and_sums, .timeout = 60)
{
    static const double levels[] = {
        0, 0, 0, 0, 1 / 6.0, 1 / 3.0, 1 / 2.0, 2 / 3.0, 5 / 6.0, 1, 1, 1};

    levels_are("inference product;" FIGURE4, distances, levels, DISTANCES,
               1e-12);
    levels_are("inference mamdani;" FIGURE4, distances, (double[]){0}, 1,
               1e-12);
}

Test(rules, know_variables_and_degrees, .timeout = 60)
{
    contracts_rules *rules = parsed(FIGURE4);

    cr_assert_eq(contracts_rules_count(rules), 2);
    cr_assert_eq(contracts_rules_find(rules, "distance"), 0);
    cr_assert_eq(contracts_rules_find(rules, "contract"), 1);
    cr_assert_eq(contracts_rules_find(rules, "contracts"), CONTRACTS_NONE);
    cr_assert_str_eq(contracts_rules_name(rules, 1), "contract");
    cr_assert(!contracts_rules_concludes(rules, 0));
    cr_assert(contracts_rules_concludes(rules, 1));
    cr_assert_str_eq(contracts_rules_set(rules, 0, 0), "SHORT");
    cr_assert_str_eq(contracts_rules_set(rules, 0, 1), "LONG");
    cr_assert_null(contracts_rules_set(rules, 0, 2));
    for (double x = 0; x <= 1000; x += 0.5) {
        double is_short = x <= 3 ? 1 : x >= 6 ? 0 : (6 - x) / 3;
        cr_assert_float_eq(contracts_rules_degree(rules, 0, 0, x), is_short,
                           1e-12);
        cr_assert_float_eq(contracts_rules_degree(rules, 0, 1, x), 1 - is_short,
                           1e-12);
    }
    cr_assert(isnan(contracts_rules_degree(rules, 0, 1, NAN)));
    contracts_rules_destroy(rules);
}

/* --- against a sum over strips --- */

typedef struct shape {
    double from, to, before, behind, height;
} shape;

static double shape_at(const shape *s, double x)
{
    if (x < s->from)
        return s->before > 0 ? fmax(0, 1 - (s->from - x) / s->before) : 0;
    if (x > s->to)
        return s->behind > 0 ? fmax(0, 1 - (x - s->to) / s->behind) : 0;
    return 1;
}

static double by_strips(const shape *shapes, size_t count, bool is_product)
{
    enum { STRIPS = 3000000 };
    double sum = 0, moment = 0;

    for (int i = 0; i < STRIPS; i++) {
        double x = -1 + 3 * (i + 0.5) / STRIPS, y = 0;
        for (size_t k = 0; k < count; k++) {
            double own = shape_at(&shapes[k], x);
            if (is_product)
                y += own * shapes[k].height;
            else
                y = fmax(y, fmin(own, shapes[k].height));
        }
        sum += y;
        moment += x * y;
    }
    return moment / sum;
}

/* Sets with steep sides, some beyond the range, that overlap and cross. */
Test(rules, find_the_centroid_of_any_shapes, .timeout = 120)
{
    static const shape of[] = {{-0.5, 0.2, 0.1, 0.8, 0},
                               {0.4, 0.4, 0.9, 0.9, 0},
                               {0.9, 1.4, 0, 0, 0},
                               {1.8, 3, 1.5, 1, 0}};
    static const double at[] = {0.1, 0.35, 0.62, 0.93};

    for (int is_product = 0; is_product < 2; is_product++) {
        for (int i = 0; i < 24; i++) { /* each order of heights */
            char text[2000];
            contracts_rules *rules;
            double values[5], wanted;
            shape shapes[4];
            int left[4] = {0, 1, 2, 3}, n = i;
            size_t used = (size_t)snprintf(text, sizeof(text),
                                           "inference %s; var out(-1, 2) {",
                                           is_product ? "product" : "mamdani");
            for (int k = 0; k < 4; k++) {
                int pick = n % (4 - k);
                n /= 4 - k;
                shapes[k] = of[k];
                shapes[k].height = at[left[pick]];
                left[pick] = left[3 - k];
                used += (size_t)snprintf(text + used, sizeof(text) - used,
                                         " set trapez s%d (%g, %g, %g, %g);", k,
                                         of[k].from, of[k].to, of[k].before,
                                         of[k].behind);
            }
            used += (size_t)snprintf(text + used, sizeof(text) - used, "}");
            for (int k = 0; k < 4; k++)
                used += (size_t)snprintf(
                    text + used, sizeof(text) - used,
                    " var in%d(0, 1) { set trapez up (1, 1, 1, 0); }"
                    " if (in%d == up) { out = s%d; }",
                    k, k, k);
            rules = parsed(text);
            for (int k = 0; k < 4; k++)
                values[1 + k] = shapes[k].height;
            check_status(contracts_rules_infer(rules, values), 0);
            wanted = by_strips(shapes, 4, is_product);
            cr_expect_float_eq(values[0], wanted, 1e-5, "%s: %.8f, not %.8f",
                               text, values[0], wanted);
            contracts_rules_destroy(rules);
        }
    }
}

/* --- conditions --- */

#define TWO                                                                    \
    "var a(0, 1) { set trapez high (1, 1, 1, 0); }\n"                          \
    "var b(0, 1) { set trapez high (1, 1, 1, 0); }\n"                          \
    "var out(-1, 2) { set triangle no (0, 1, 1); set triangle yes (1, 1, 1); " \
    "}\n"

/* By products: out is how much of the two rules is the second one's. */
static void condition_is(const char *condition, double a, double b,
                         double wanted)
{
    char text[1000];
    double values[] = {a, b, 0};
    contracts_rules *rules;

    snprintf(text, sizeof(text),
             "inference product;" TWO
             "if (not (%s)) { out = no; } if (%s) { out = yes; }",
             condition, condition);
    rules = parsed(text);
    check_status(contracts_rules_infer(rules, values), 0);
    cr_expect_float_eq(values[2], wanted, 1e-12, "%s of %g and %g: %g, not %g",
                       condition, a, b, values[2], wanted);
    contracts_rules_destroy(rules);
}

Test(rules, combine_conditions, .timeout = 60)
{
    condition_is("a == high", 0.3, 0.6, 0.3);
    condition_is("a != high", 0.3, 0.6, 0.7);
    condition_is("not a == high", 0.3, 0.6, 0.7);
    condition_is("!a == high", 0.3, 0.6, 0.7);
    condition_is("a == high and b == high", 0.3, 0.6, 0.3);
    condition_is("a == high or b == high", 0.3, 0.6, 0.6);
    condition_is("a == high && !(b == high)", 0.3, 0.6, 0.3);
    condition_is("a == high || b != high", 0.3, 0.6, 0.4);
    /* `and` binds more than `or`. */
    condition_is("b == high or a == high and a == high", 0.3, 0.6, 0.6);
    condition_is("(b == high or a == high) and a == high", 0.3, 0.6, 0.3);
    condition_is("not not not a == high", 0.3, 0.6, 0.7);
}

Test(rules, say_nothing_where_none_holds, .timeout = 60)
{
    contracts_rules *rules =
        parsed("var a(0, 10) { set triangle five (5, 1, 1); }"
               "var out(0, 1) { set trapez all (0, 1, 0, 0); }"
               "if (a == five) { out = all; }");

    cr_assert(isnan(level(rules, 1)));
    cr_assert_float_eq(level(rules, 5.5), 0.5, 1e-12);
    contracts_rules_destroy(rules);
}

Test(rules, conclude_several_things_at_once, .timeout = 60)
{
    contracts_rules *rules = parsed(
        FIGURE4 "var alarm(0, 2) { set triangle on (1, 1, 1); }"
                "if (distance == LONG) { alarm = on; contract = VIOLATED; }");
    double values[] = {9, 0, 0};

    check_status(contracts_rules_infer(rules, values), 0);
    cr_assert_float_eq(values[1], 1, 1e-12);
    cr_assert_float_eq(values[2], 1, 1e-12);
    values[0] = NAN;
    check_status(contracts_rules_infer(rules, values), PASTSET_EINVAL);
    check_error("the rules ask for distance");
    contracts_rules_destroy(rules);
}

/* --- what is refused --- */

static void is_refused(const char *text, const char *why)
{
    contracts_rules *rules;

    check_status(contracts__rules_parse(&rules, text, "file"), PASTSET_EFORMAT);
    cr_assert_null(rules);
    check_error(why);
}

#define A "var a(0, 1) { set triangle s (0, 1, 1); }\n"
#define B "var b(0, 1) { set triangle s (0, 1, 1); }\n"

Test(rules, refuse_what_is_wrong_and_say_where, .timeout = 60)
{
    is_refused("", "file:1:1: there is no rule");
    is_refused(A, "file:2:1: there is no rule");
    is_refused("vra a", "file:1:1: expected var, if or inference, not \"vra\"");
    is_refused("var a(1, 0) {", "file:1:6: a range must begin before it ends");
    is_refused("var a(0, 0) {", "file:1:6: a range must begin before it ends");
    is_refused("var a(0, 1) { }", "file:1:15: expected set, not \"}\"");
    is_refused("var a(0, 1) { set triangle s (0, 1, -1); }",
               "file:1:30: what a set rises or falls within is below 0");
    is_refused("var a(0, 1) {\n  set trapez s (3, 1, 0, 0); }",
               "file:2:16: a set ends before it begins");
    is_refused("var a(0, 1) { set square s (1); }",
               "file:1:19: expected trapez or triangle, not \"square\"");
    is_refused("var a(0, 1) { set triangle s (0, 1, 1) }",
               "file:1:40: expected \";\", not \"}\"");
    is_refused("var a(0, 1) { set triangle s (0, 1, 1);\n"
               "set triangle s (0, 1, 1); }",
               "file:2:14: a has this set already");
    is_refused(A "var a(0, 1) {}", "file:2:5: there is this variable already");
    is_refused(A B "if (c == s) { b = s; }",
               "file:3:5: there is no variable \"c\"");
    is_refused(A B "if (a == t) { b = s; }", "file:3:10: a has no set \"t\"");
    is_refused(A B "if (a == s) { b = t; }", "file:3:19: b has no set \"t\"");
    is_refused(
        A B "if (a == s) { a = s; }",
        "file:3:15: a is concluded by one rule and asked for by another");
    is_refused(A B "if (a = s) { b = s; }",
               "file:3:7: expected \"==\" or \"!=\", not \"=\"");
    is_refused(A B "if (a == s) { }",
               "file:3:15: expected a variable, not \"}\"");
    is_refused(A B "if (a == s and) { b = s; }",
               "file:3:15: expected a variable, not \")\"");
    is_refused(A B "if (a == s) { b = s; ",
               "file:3:22: expected a variable, not the end of the file");
    is_refused("inference centroid;",
               "file:1:11: expected mamdani or product, not \"centroid\"");
    is_refused("var a(0, 1e999) {", "file:1:10: 1e999 is too large");
    is_refused("var a(0, 0x10) {", "file:1:10: expected a decimal number");
    is_refused("var a(0, 1b) {", "file:1:10: a number ends with a letter");
    is_refused("var a(nan, 1) {", "file:1:7: expected a number, not \"nan\"");
}

Test(rules, refuse_what_is_too_deep, .timeout = 60)
{
    char text[2000] = A B "if (";

    for (int i = 0; i < 200; i++)
        strcat(text, "(");
    is_refused(text, "a condition is more than 100 deep");
    strcpy(text, A B "if (");
    for (int i = 0; i < 200; i++)
        strcat(text, "!");
    is_refused(text, "a condition is more than 100 deep");
}
