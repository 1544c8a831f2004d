/* structural_internal.h - a model as it was read. */
#ifndef PREDICT_STRUCTURAL_INTERNAL_H
#define PREDICT_STRUCTURAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/structural/structural.h"

#define PREDICT__NONE UINT32_MAX

typedef enum predict__op {
    PREDICT__NUMBER,
    PREDICT__REFERENCE, /* `name`, `argument` */
    PREDICT__ADD,       /* a and b, here and in what follows */
    PREDICT__SUBTRACT,
    PREDICT__MULTIPLY,
    PREDICT__DIVIDE,
    PREDICT__NEGATE, /* a */
    PREDICT__REPEAT, /* a times b, each with errors of its own */
    PREDICT__COUNT,  /* members of `set` */
    /* Of all that `argument` can be in `set`, of a; or, without a set, of a and
     * those that come `next`. */
    PREDICT__MAX,
    PREDICT__MIN,
    PREDICT__SUM,
} predict__op;

/* Words are interned: equal ones are the same pointer. */
typedef struct predict__node {
    predict__op op;
    uint32_t line;
    uint32_t from, to; /* its text: places in that of the source */
    uint32_t source;
    uint32_t a, b, next; /* nodes */
    const char *name, *argument;
    uint32_t set;
    predict_stochastic value;
    predict_dimension dimension;
} predict__node;

typedef struct predict__set {
    const char *name;
    const char **members;
    uint32_t count;
} predict__set;

/* `argument` NULL: it has none; `set` NONE: it is of this argument only. */
typedef struct predict__definition {
    const char *name, *argument;
    uint32_t set, node, line;
    bool is_given; /* in place of what the model says */
} predict__definition;

/* One of several that are related. */
typedef struct predict__relation {
    const char *name, *argument; /* NULL: it has none */
    uint32_t set; /* of which the argument is; NONE: it is the argument */
    uint32_t group;
} predict__relation;

/* What nodes point into. */
typedef struct predict__source {
    char *text, *name;
} predict__source;

struct predict_structural {
    predict__source *sources;
    uint32_t source_count;
    void *words; /* a tree (search.h) */
    predict__node *nodes;
    uint32_t node_count;
    predict__set *sets;
    uint32_t set_count;
    predict__definition *definitions;
    uint32_t definition_count;
    predict__relation *relations;
    uint32_t relation_count, group_count;
};

/* --- structural.c --- */

/* predict_structural_read of a text; errors call it `name`. */
int predict__structural_of_text(predict_structural **out, const char *text,
                                const char *name);

/* --- structural_names.c --- */

/* The word itself; NULL: no memory. */
const char *predict__structural_word(predict_structural *model,
                                     const char *text, size_t bytes);
/* NONE: there is none of this name. */
uint32_t predict__structural_set_find(const predict_structural *model,
                                      const char *name);
bool predict__structural_set_has(const predict__set *set, const char *member);
/* "file:line: " and what is wrong. Gives `err`. */
int predict__structural_fail(const predict_structural *model, uint32_t source,
                             uint32_t line, int err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* --- structural_units.c --- */

/* A unit behind a number: its dimension and by what the number is multiplied.
 * False: there is no such unit. */
bool predict__structural_unit(const char *text, size_t bytes, double *factor,
                              predict_dimension *out);

/* --- structural_parse.c --- */

/* Adds what the model's last source says. */
int predict__structural_parse(predict_structural *model, bool is_given);

/* --- structural_value.c --- */

/* How much of a range comes from a source of errors; above 0. */
typedef struct predict__part {
    uint32_t source;
    double range;
} predict__part;

/* Owned by who has it; fini gives back. */
typedef struct predict__value {
    double mean;
    predict_dimension dimension;
    predict__part *parts; /* by source */
    uint32_t count;
} predict__value;

void predict__value_fini(predict__value *value);
/* Errors of these: PASTSET_ENOMEM; then `out` is empty. */
int predict__value_copy(predict__value *out, const predict__value *value);
/* All of the range comes from this one now. */
int predict__value_from(predict__value *value, uint32_t source);
/* ADD to DIVIDE; the dimension of `out` is that of `a`. PASTSET_EINVAL also
 * where predict_stochastic_divide has it. */
int predict__value_combine(predict__value *out, predict__op op,
                           const predict__value *a, const predict__value *b);
void predict__value_scale(predict__value *value, double mean, double range);
predict_stochastic predict__value_whole(const predict__value *value);

/* --- structural_evaluate.c --- */

/* What an index is, and those around it. */
typedef struct predict__index {
    const char *name, *member;
    const struct predict__index *outer;
} predict__index;

typedef struct predict__instance predict__instance;

typedef struct predict__evaluation {
    predict_structural *model;
    predict_group by;
    const predict_structural_given *given;
    void *instances; /* a tree (search.h) of what was evaluated */
    uint32_t depth, steps;
    uint32_t sources; /* of errors: so many there are; first those of the model,
                         of what it says to be related */
} predict__evaluation;

int predict__structural_value(predict__value *out, predict__evaluation *e,
                              uint32_t node, const predict__index *index);
/* The definition that a reference leads to, and the index for it; NONE: it is
 * given from outside. */
uint32_t predict__structural_definition(const predict_structural *model,
                                        const char *name, const char *argument);
/* What an argument stands for. */
const char *predict__structural_resolve(const predict__index *index,
                                        const char *argument);
/* Of a maximum or minimum: which one it is. */
typedef struct predict__choice {
    uint32_t node;
    const char *member; /* of the set; NULL */
} predict__choice;
int predict__structural_choose(predict__choice *out, predict__evaluation *e,
                               uint32_t node, const predict__index *index);
void predict__structural_fini(predict__evaluation *e);

/* --- structural_terms.c --- */

/* Parts the value of a node into terms. */
int predict__structural_terms(predict_structural_result *out,
                              predict__evaluation *e, uint32_t node);

#endif
