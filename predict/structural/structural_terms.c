/* structural_terms.c - what a value is made up of.
 *
 * A sum is parted into what is added, by all that stands between: components
 * into what they are, a product or quotient with one sum in it into that of
 * each part, a maximum or minimum into the one that was chosen. What is no sum
 * is a term. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "pastset/text.h"
#include "predict/structural/structural_internal.h"

#define DEPTH_MAX 400
/* Components that stand twice in others, these twice in others ...: what is not
 * parted by then is a term. */
#define STEPS_MAX 100000

/* By what a term is multiplied: a mean and how much its errors grow. */
typedef struct scale {
    double mean, range;
} scale;

/* Where a node stands. */
typedef struct place {
    uint32_t node;
    const predict__index *index;
    const char *name, *argument; /* of the component that it is; NULL */
    uint32_t line;               /* of that */
} place;

typedef struct parting {
    predict_structural_result *out;
    predict__evaluation *e;
    uint32_t depth, steps;
} parting;

static const predict__node *node_at(const parting *p, uint32_t node)
{
    return &p->e->model->nodes[node];
}

/* --- terms --- */

/* Its text, with what indexes are. */
static void text_put(FILE *out, const char *at, const char *end,
                     const predict__index *index)
{
    while (at < end) {
        size_t bytes = 0;
        const predict__index *i = index;
        while (at + bytes < end &&
               (isalnum((unsigned char)at[bytes]) || at[bytes] == '_'))
            bytes++;
        while (i && (strncmp(i->name, at, bytes) != 0 || i->name[bytes]))
            i = i->outer;
        if (bytes > 0 && i)
            fputs(i->member, out);
        else
            fwrite(at, 1, bytes > 0 ? bytes : 1, out);
        at += bytes > 0 ? bytes : 1;
    }
}

/* NULL: no memory. */
static char *name_of(const parting *p, const place *at)
{
    const predict__node *n = node_at(p, at->node);
    const char *text = p->e->model->sources[n->source].text;
    char *name = NULL;
    size_t bytes;
    FILE *out = pastset_text_begin(&name, &bytes);

    if (!out)
        return NULL;
    if (at->name)
        fprintf(out, at->argument ? "%s(%s)" : "%s", at->name, at->argument);
    else
        text_put(out, text + n->from, text + n->to, at->index);
    if (pastset_text_end(out))
        return name;
    free(name);
    return NULL;
}

/* Twice the same term: once, with both; what it depends on is the same. */
static int term_add(parting *p, const place *at, predict_stochastic v)
{
    predict_structural_result *out = p->out;
    uint32_t line = at->name ? at->line : node_at(p, at->node)->line;
    char *name = name_of(p, at);
    predict_structural_term *terms;

    if (!name)
        return pastset_no_memory("for a model");
    for (size_t i = 0; i < out->term_count; i++) {
        predict_structural_term *t = &out->terms[i];
        if (t->line != line || strcmp(t->name, name) != 0)
            continue;
        t->value = predict_stochastic_add(t->value, v, PREDICT_RELATED);
        free(name);
        return 0;
    }
    terms = pastset_array_grow(out->terms, out->term_count, sizeof(*terms));
    if (!terms) {
        free(name);
        return pastset_no_memory("for a model");
    }
    out->terms = terms;
    terms[out->term_count++] = (predict_structural_term){name, line, v};
    return 0;
}

static int leaf(parting *p, const place *at, scale by)
{
    predict__value value;
    int err = predict__structural_value(&value, p->e, at->node, at->index);

    if (err)
        return err;
    predict__value_scale(&value, by.mean, by.range);
    err = term_add(p, at, predict__value_whole(&value));
    predict__value_fini(&value);
    return err;
}

/* --- what is a sum --- */

static int part(parting *p, const place *at, scale by);

/* Does it come apart? */
static bool is_sum(parting *p, const place *at, uint32_t depth);

static bool is_sum_of(parting *p, uint32_t node, const predict__index *index,
                      uint32_t depth)
{
    place at = {node, index, NULL, NULL, 0};

    return is_sum(p, &at, depth + 1);
}

static bool reference_is_sum(parting *p, const place *at, uint32_t depth)
{
    const predict__node *n = node_at(p, at->node);
    const char *argument = predict__structural_resolve(at->index, n->argument);
    uint32_t d = predict__structural_definition(p->e->model, n->name, argument);
    const predict__definition *definition;

    if (d == PREDICT__NONE)
        return false;
    definition = &p->e->model->definitions[d];
    predict__index index = {definition->argument, argument, NULL};
    return is_sum_of(p, definition->node,
                     definition->set == PREDICT__NONE ? NULL : &index, depth);
}

static bool is_sum(parting *p, const place *at, uint32_t depth)
{
    const predict__node *n = node_at(p, at->node);

    if (depth > DEPTH_MAX || ++p->steps > STEPS_MAX)
        return false;
    switch (n->op) {
    case PREDICT__ADD:
    case PREDICT__SUBTRACT:
    case PREDICT__SUM:
    case PREDICT__MAX:
    case PREDICT__MIN:
        return true;
    case PREDICT__REFERENCE:
        return reference_is_sum(p, at, depth);
    case PREDICT__MULTIPLY:
        return is_sum_of(p, n->a, at->index, depth) !=
               is_sum_of(p, n->b, at->index, depth);
    case PREDICT__DIVIDE:
    case PREDICT__NEGATE:
        return is_sum_of(p, n->a, at->index, depth);
    case PREDICT__REPEAT:
        return is_sum_of(p, n->b, at->index, depth);
    case PREDICT__NUMBER:
    case PREDICT__COUNT:
        return false;
    }
    return false;
}

/* --- parting --- */

static int part_of(parting *p, const place *at, uint32_t node, scale by)
{
    place inner = {node, at->index, NULL, NULL, 0};

    return part(p, &inner, by);
}

static int part_reference(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    const char *argument = predict__structural_resolve(at->index, n->argument);
    uint32_t d = predict__structural_definition(p->e->model, n->name, argument);
    const predict__definition *definition = &p->e->model->definitions[d];
    predict__index index = {definition->argument, argument, NULL};
    place inner = {definition->node,
                   definition->set == PREDICT__NONE ? NULL : &index, n->name,
                   argument, definition->line};

    return part(p, &inner, by);
}

/* One factor is a sum, and the other one is by what it is multiplied. */
static int part_product(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    bool is_first =
        n->op != PREDICT__MULTIPLY || is_sum_of(p, n->a, at->index, p->depth);
    predict__value factor;
    int err = predict__structural_value(&factor, p->e, is_first ? n->b : n->a,
                                        at->index);
    double mean;

    if (err)
        return err;
    mean = n->op == PREDICT__DIVIDE ? 1 / factor.mean : factor.mean;
    predict__value_fini(&factor);
    return part_of(p, at, is_first ? n->a : n->b,
                   (scale){by.mean * mean, by.range * fabs(mean)});
}

static int part_repeat(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    predict__value times;
    int err = predict__structural_value(&times, p->e, n->a, at->index);

    if (err)
        return err;
    by = (scale){by.mean * times.mean, by.range * sqrt(times.mean)};
    predict__value_fini(&times);
    return part_of(p, at, n->b, by);
}

static int part_chosen(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    predict__choice choice;
    int err = predict__structural_choose(&choice, p->e, at->node, at->index);
    predict__index inner = {n->argument, choice.member, at->index};
    place chosen = {choice.node, n->set == PREDICT__NONE ? at->index : &inner,
                    NULL, NULL, 0};

    return err ? err : part(p, &chosen, by);
}

static int part_all(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    const predict__set *set =
        n->set == PREDICT__NONE ? NULL : &p->e->model->sets[n->set];
    int err = 0;

    for (uint32_t of = n->a; !set && of != PREDICT__NONE && !err;
         of = node_at(p, of)->next)
        err = part_of(p, at, of, by);
    for (uint32_t i = 0; set && i < set->count && !err; i++) {
        predict__index inner = {n->argument, set->members[i], at->index};
        place one = {n->a, &inner, NULL, NULL, 0};
        err = part(p, &one, by);
    }
    return err;
}

static int part_sum(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    int err;

    switch (n->op) {
    case PREDICT__ADD:
    case PREDICT__SUBTRACT:
        err = part_of(p, at, n->a, by);
        if (n->op == PREDICT__SUBTRACT)
            by.mean = -by.mean;
        return err ? err : part_of(p, at, n->b, by);
    case PREDICT__SUM:
        return part_all(p, at, by);
    case PREDICT__MAX:
    case PREDICT__MIN:
        return part_chosen(p, at, by);
    case PREDICT__REFERENCE:
        return part_reference(p, at, by);
    case PREDICT__NEGATE:
        return part_of(p, at, n->a, (scale){-by.mean, by.range});
    case PREDICT__REPEAT:
        return part_repeat(p, at, by);
    default:
        return part_product(p, at, by);
    }
}

static void name_find(const parting *p, place *named, const place *at)
{
    const predict__node *n = node_at(p, at->node);

    uint32_t d;

    named->name = n->name;
    named->argument = predict__structural_resolve(at->index, n->argument);
    d = predict__structural_definition(p->e->model, n->name, named->argument);
    named->line =
        d == PREDICT__NONE ? n->line : p->e->model->definitions[d].line;
}

static int part(parting *p, const place *at, scale by)
{
    const predict__node *n = node_at(p, at->node);
    place named = *at;
    int err;

    if (++p->depth > DEPTH_MAX)
        return pastset_fail(PASTSET_EINVAL,
                            "too many components stand in each other");
    if (is_sum(p, at, 0)) {
        err = part_sum(p, at, by);
    } else {
        if (n->op == PREDICT__REFERENCE && !named.name)
            name_find(p, &named, at);
        err = leaf(p, &named, by);
    }
    p->depth--;
    return err;
}

static int largest_first(const void *left, const void *right)
{
    const predict_structural_term *a = left, *b = right;
    double x = fabs(a->value.mean), y = fabs(b->value.mean);

    return (x < y) - (x > y);
}

int predict__structural_terms(predict_structural_result *out,
                              predict__evaluation *e, uint32_t node)
{
    parting p = {.out = out, .e = e};
    place at = {.node = node};
    int err = part(&p, &at, (scale){1, 1});

    if (!err && out->term_count > 1)
        qsort(out->terms, out->term_count, sizeof(*out->terms), largest_first);
    return err;
}
