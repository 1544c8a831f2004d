/* structural.h - models that people write: of what a time is made up.
 *
 * Paper 002, 2.2. A structural model says in a text how the time of a program
 * follows from components, and these from others and from parameters; each may
 * be a stochastic value, and then the time is one (docs/models.md has the
 * language):
 *
 *     set P = A, B, C, D
 *     rows = 1600
 *     columns = 1600
 *     element = 12ns +- 2%
 *     half(p in P) = rows / count(P) * columns / 2 * element / load(p)
 *     time = 100 * (2 * max(p in P: half(p)) + ...)
 *
 * What is not defined is asked of who evaluates it: load(A), latency(A-B),
 * bandwidth(A-B), by the names of machines and links.
 *
 * Which values are related: what comes from the same value with a range, from
 * latency and bandwidth of the same link, or from what the model says to be
 * related. All else is unrelated (stochastic.h).
 *
 * Units are checked: seconds are not added to bytes.
 *
 * Threads:   one thread per model.
 * Ownership: read gives, destroy takes back. */
#ifndef PREDICT_STRUCTURAL_H
#define PREDICT_STRUCTURAL_H

#include "predict/stochastic/stochastic.h"

typedef struct predict_structural predict_structural;

/* Of a value: seconds and bytes, each to a power. Of a rate it is -1 and 1. */
typedef struct predict_dimension {
    int seconds, bytes;
} predict_dimension;

/* "s", "B/s" ..., "" for a number. May be `out`. */
const char *predict_dimension_text(predict_dimension d, char out[32]);

/* Errors: PASTSET_EFORMAT ("file:line: " and what is wrong there), PASTSET_EIO,
 * PASTSET_ENOMEM. `-` is standard input. */
int predict_structural_read(predict_structural **out, const char *file);
/* NULL is allowed. */
void predict_structural_destroy(predict_structural *model);

/* "load(A) = 0.48 +- 0.05": defines this, or in place of what the model says.
 * Errors: as read. */
int predict_structural_set(predict_structural *model, const char *definition);

/* Values that a model does not define. */
typedef struct predict_structural_given {
    /* Gives `*out` the value of `name`, "load", with its argument, "A" ("" if
     * it has none), and its dimension. Errors: PASTSET_ENOENT (it is not
     * known), and others, which end the evaluation. */
    int (*find)(predict_stochastic *out, predict_dimension *dimension,
                const char *name, const char *argument, void *context);
    void *context;
} predict_structural_given;

/* A part of the result that is not a sum itself. */
typedef struct predict_structural_term {
    char *name; /* "half(C)", or the text of the model */
    unsigned line;
    predict_stochastic value; /* what it contributes: all times that it is in
                                 the sum, together */
} predict_structural_term;

typedef struct predict_structural_result {
    predict_stochastic value;
    predict_dimension dimension;
    predict_structural_term *terms; /* the largest first; their means add up to
                                       that of the value */
    size_t term_count;
} predict_structural_result;

/* The value of a component without arguments. `given` NULL: nothing is given.
 * Errors: PASTSET_EINVAL ("file:line: ", as for cycles, what is not known,
 * units that do not fit, divisors that may be 0), PASTSET_ENOMEM. */
int predict_structural_evaluate(predict_structural_result *out,
                                predict_structural *model, const char *what,
                                predict_group by,
                                const predict_structural_given *given);
void predict_structural_result_fini(predict_structural_result *result);

#endif
