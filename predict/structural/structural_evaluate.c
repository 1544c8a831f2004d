/* structural_evaluate.c - what a model comes to.
 *
 * A component is evaluated once for each argument, and is the same value
 * wherever it stands: its errors go the same way then. Each number with a range
 * is a source of errors of its own, each time that it is evaluated; so is what
 * is given, but for latency and bandwidth of one link, which are one source.
 * Values that depend on one source are related. */
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/structural/structural_internal.h"

#define DEPTH_MAX 400
#define STEPS_MAX 20000000 /* a second or two */

/* What was evaluated; while it is, it is not done. */
struct predict__instance {
    const char *name, *argument;
    bool is_done;
    predict__value value;
    uint32_t source; /* of a link */
};

static int fail_at(const predict__evaluation *e, uint32_t node, int err,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int fail_at(const predict__evaluation *e, uint32_t node, int err,
                   const char *format, ...)
{
    const predict__node *n = &e->model->nodes[node];
    char text[500];
    va_list rest;

    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    return predict__structural_fail(e->model, n->source, n->line, err, "%s",
                                    text);
}

/* --- instances --- */

static int by_name(const void *left, const void *right)
{
    const predict__instance *a = left, *b = right;

    if (a->name != b->name)
        return (uintptr_t)a->name < (uintptr_t)b->name ? -1 : 1;
    if (a->argument != b->argument)
        return (uintptr_t)a->argument < (uintptr_t)b->argument ? -1 : 1;
    return 0;
}

/* The one of this name and argument; a new one with `*is_new`. NULL: no
 * memory. */
static predict__instance *instance_of(predict__evaluation *e, const char *name,
                                      const char *argument, bool *is_new)
{
    predict__instance key = {.name = name, .argument = argument};
    predict__instance **found = tfind(&key, &e->instances, by_name), *made;

    *is_new = !found;
    if (found)
        return *found;
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->name = name;
    made->argument = argument;
    if (!tsearch(made, &e->instances, by_name)) {
        free(made);
        return NULL;
    }
    return made;
}

static void instance_free(void *instance)
{
    predict__value_fini(&((predict__instance *)instance)->value);
    free(instance);
}

void predict__structural_fini(predict__evaluation *e)
{
    tdestroy(e->instances, instance_free);
    e->instances = NULL;
}

/* --- references --- */

const char *predict__structural_resolve(const predict__index *index,
                                        const char *argument)
{
    for (; argument && index; index = index->outer)
        if (index->name == argument)
            return index->member;
    return argument;
}

uint32_t predict__structural_definition(const predict_structural *m,
                                        const char *name, const char *argument)
{
    uint32_t of_all = PREDICT__NONE;

    for (uint32_t i = 0; i < m->definition_count; i++) {
        const predict__definition *d = &m->definitions[i];
        if (d->name != name)
            continue;
        if (d->set == PREDICT__NONE && d->argument == argument)
            return i;
        if (d->set != PREDICT__NONE && argument &&
            predict__structural_set_has(&m->sets[d->set], argument))
            of_all = i;
    }
    return of_all;
}

static bool is_of(const predict_structural *m, const predict__relation *r,
                  const char *name, const char *argument)
{
    if (r->name != name)
        return false;
    return r->set == PREDICT__NONE
               ? r->argument == argument
               : argument &&
                     predict__structural_set_has(&m->sets[r->set], argument);
}

/* What is related has one source of errors: its group. */
static int relate(predict__instance *i, const predict__evaluation *e)
{
    for (uint32_t k = 0; k < e->model->relation_count; k++)
        if (is_of(e->model, &e->model->relations[k], i->name, i->argument))
            return predict__value_from(&i->value, e->model->relations[k].group);
    return 0;
}

/* A value that has been told; all of its range comes from there. */
static int told(predict__value *out, predict_stochastic v,
                predict_dimension dimension, uint32_t source)
{
    predict__part part = {source, v.range};
    predict__value value = {v.mean, dimension, &part, v.range > 0 ? 1 : 0};

    return predict__value_copy(out, &value);
}

/* "half(C)" */
static const char *reference_text(const char *name, const char *argument,
                                  char *out, size_t bytes)
{
    snprintf(out, bytes, argument ? "%s(%s)" : "%s", name,
             argument ? argument : "");
    return out;
}

static int not_known(const predict__evaluation *e, uint32_t node,
                     const char *name, const char *argument)
{
    char text[160];

    reference_text(name, argument, text, sizeof(text));
    return fail_at(e, node, PASTSET_EINVAL,
                   "%s is not known: add a line %s = ..., or give it", text,
                   text);
}

/* Latency and bandwidth of a link have one source of errors; what else is given
 * has one each. */
static int source_of(uint32_t *out, predict__evaluation *e, const char *name,
                     const char *argument)
{
    bool is_link = argument && (strcmp(name, "latency") == 0 ||
                                strcmp(name, "bandwidth") == 0);
    const char *word =
        is_link ? predict__structural_word(e->model, "a link", 6) : NULL;
    predict__instance *link;
    bool is_new;

    if (!is_link) {
        *out = e->sources++;
        return 0;
    }
    link = word ? instance_of(e, word, argument, &is_new) : NULL;
    if (!link)
        return pastset_no_memory("for a model");
    if (is_new)
        link->source = e->sources++;
    *out = link->source;
    return 0;
}

static int given(predict__value *out, predict__evaluation *e, uint32_t node,
                 const char *name, const char *argument)
{
    predict_stochastic v;
    predict_dimension dimension = {0, 0};
    uint32_t source = 0;
    char what[160];
    int err = e->given
                  ? e->given->find(&v, &dimension, name,
                                   argument ? argument : "", e->given->context)
                  : PASTSET_ENOENT;

    if (err == PASTSET_ENOENT)
        return not_known(e, node, name, argument);
    if (err)
        return err;
    reference_text(name, argument, what, sizeof(what));
    if (predict_stochastic_check(v, what))
        return fail_at(e, node, PASTSET_EINVAL, "%s", pastset_error());
    err = source_of(&source, e, name, argument);
    return err ? err : told(out, v, dimension, source);
}

static int instance_evaluate(predict__instance *i, predict__evaluation *e,
                             uint32_t node)
{
    uint32_t d = predict__structural_definition(e->model, i->name, i->argument);
    const predict__definition *definition;
    predict__index index;
    int err;

    if (d == PREDICT__NONE) {
        err = given(&i->value, e, node, i->name, i->argument);
    } else {
        definition = &e->model->definitions[d];
        index = (predict__index){definition->argument, i->argument, NULL};
        err = predict__structural_value(
            &i->value, e, definition->node,
            definition->set == PREDICT__NONE ? NULL : &index);
    }
    if (!err)
        err = relate(i, e);
    i->is_done = !err;
    return err;
}

static int reference(predict__value *out, predict__evaluation *e, uint32_t node,
                     const predict__index *index)
{
    const predict__node *n = &e->model->nodes[node];
    const char *argument = predict__structural_resolve(index, n->argument);
    char text[160];
    bool is_new;
    predict__instance *i = instance_of(e, n->name, argument, &is_new);
    int err = 0;

    if (!i)
        return pastset_no_memory("for a model");
    if (is_new)
        err = instance_evaluate(i, e, node);
    else if (!i->is_done)
        err = fail_at(e, node, PASTSET_EINVAL, "%s needs itself",
                      reference_text(n->name, argument, text, sizeof(text)));
    return err ? err : predict__value_copy(out, &i->value);
}

/* --- operations --- */

static bool is_same(predict_dimension a, predict_dimension b)
{
    return a.seconds == b.seconds && a.bytes == b.bytes;
}

/* Seconds are not added to bytes, nor compared with them. */
static int units_check(const predict__evaluation *e, uint32_t node,
                       predict_dimension a, predict_dimension b)
{
    char first[32], second[32];
    const char *left = predict_dimension_text(a, first);
    const char *right = predict_dimension_text(b, second);

    if (is_same(a, b))
        return 0;
    return fail_at(e, node, PASTSET_EINVAL,
                   "the units do not fit: %s and %s in %.*s",
                   *left ? left : "a number", *right ? right : "a number",
                   (int)(e->model->nodes[node].to - e->model->nodes[node].from),
                   e->model->sources[e->model->nodes[node].source].text +
                       e->model->nodes[node].from);
}

static int combine(predict__value *out, predict__evaluation *e, uint32_t node,
                   const predict__value *a, const predict__value *b)
{
    predict__op op = e->model->nodes[node].op;
    int sign = op == PREDICT__DIVIDE ? -1 : 1, err = 0;

    if (op != PREDICT__MULTIPLY && op != PREDICT__DIVIDE)
        err = units_check(e, node, a->dimension, b->dimension);
    if (err)
        return err;
    err = predict__value_combine(out, op, a, b);
    if (err == PASTSET_EINVAL)
        return fail_at(e, node, err, "%s", pastset_error());
    if (!err && (op == PREDICT__MULTIPLY || op == PREDICT__DIVIDE)) {
        out->dimension.seconds += sign * b->dimension.seconds;
        out->dimension.bytes += sign * b->dimension.bytes;
    }
    return err;
}

static int both(predict__value *out, predict__evaluation *e, uint32_t node,
                const predict__index *index)
{
    const predict__node *n = &e->model->nodes[node];
    predict__value a, b = {0};
    int err = predict__structural_value(&a, e, n->a, index);

    if (!err)
        err = predict__structural_value(&b, e, n->b, index);
    if (!err)
        err = combine(out, e, node, &a, &b);
    predict__value_fini(&a);
    predict__value_fini(&b);
    return err;
}

/* So many times, unrelated to each other: the errors grow by the root. */
static int repeat(predict__value *out, predict__evaluation *e, uint32_t node,
                  const predict__index *index)
{
    const predict__node *n = &e->model->nodes[node];
    predict__value times;
    int err = predict__structural_value(&times, e, n->a, index);

    if (!err && (times.count > 0 || times.mean < 0 || times.dimension.seconds ||
                 times.dimension.bytes))
        err = fail_at(e, node, PASTSET_EINVAL,
                      "how often is to be a number from 0, without a range and "
                      "a unit");
    if (!err)
        err = predict__structural_value(out, e, n->b, index);
    if (!err)
        predict__value_scale(out, times.mean, sqrt(times.mean));
    predict__value_fini(&times);
    return err;
}

/* --- of several --- */

typedef struct several {
    predict__value all; /* the sum, or the one that was chosen */
    predict__choice choice;
    uint32_t count;
} several;

static bool is_better(const predict__evaluation *e, predict__op op,
                      predict_stochastic now, predict_stochastic next)
{
    predict_stochastic values[] = {now, next};

    return (op == PREDICT__MAX ? predict_stochastic_max(values, 2, e->by)
                               : predict_stochastic_min(values, 2, e->by)) == 1;
}

static int sum_add(several *s, const predict__value *next)
{
    predict__value sum;
    int err = predict__value_combine(&sum, PREDICT__ADD, &s->all, next);

    if (err)
        return err;
    predict__value_fini(&s->all);
    s->all = sum;
    return 0;
}

/* Takes `next`. */
static int several_take(several *s, predict__evaluation *e, uint32_t node,
                        predict__value *next, predict__choice choice)
{
    predict__op op = e->model->nodes[node].op;
    int err = 0;

    if (s->count > 0)
        err = units_check(e, node, s->all.dimension, next->dimension);
    if (!err && s->count > 0 && op == PREDICT__SUM) {
        err = sum_add(s, next);
    } else if (!err &&
               (s->count == 0 || is_better(e, op, predict__value_whole(&s->all),
                                           predict__value_whole(next)))) {
        predict__value_fini(&s->all);
        s->all = *next;
        s->choice = choice;
        *next = (predict__value){0};
    }
    s->count++;
    predict__value_fini(next);
    return err;
}

static int several_add(several *s, predict__evaluation *e, uint32_t node,
                       uint32_t of, const predict__index *index)
{
    predict__choice choice = {of, index ? index->member : NULL};
    predict__value next;
    int err = predict__structural_value(&next, e, of, index);

    return err ? err : several_take(s, e, node, &next, choice);
}

static int several_evaluate(several *s, predict__evaluation *e, uint32_t node,
                            const predict__index *index)
{
    const predict__node *n = &e->model->nodes[node];
    int err = 0;

    memset(s, 0, sizeof(*s));
    if (n->set == PREDICT__NONE) {
        for (uint32_t of = n->a; of != PREDICT__NONE && !err;
             of = e->model->nodes[of].next)
            err = several_add(s, e, node, of, index);
        return err;
    }
    for (uint32_t i = 0; i < e->model->sets[n->set].count && !err; i++) {
        predict__index inner = {n->argument, e->model->sets[n->set].members[i],
                                index};
        err = several_add(s, e, node, n->a, &inner);
    }
    return err;
}

int predict__structural_choose(predict__choice *out, predict__evaluation *e,
                               uint32_t node, const predict__index *index)
{
    several s;
    int err = several_evaluate(&s, e, node, index);

    *out = s.choice;
    predict__value_fini(&s.all);
    return err;
}

/* --- all --- */

static int number(predict__value *out, predict__evaluation *e, uint32_t node)
{
    const predict__node *n = &e->model->nodes[node];

    return told(out, n->value, n->dimension, e->sources++);
}

static int evaluate(predict__value *out, predict__evaluation *e, uint32_t node,
                    const predict__index *index)
{
    const predict__node *n = &e->model->nodes[node];
    several s;
    int err;

    switch (n->op) {
    case PREDICT__NUMBER:
        return number(out, e, node);
    case PREDICT__REFERENCE:
        return reference(out, e, node, index);
    case PREDICT__ADD:
    case PREDICT__SUBTRACT:
    case PREDICT__MULTIPLY:
    case PREDICT__DIVIDE:
        return both(out, e, node, index);
    case PREDICT__NEGATE:
        err = predict__structural_value(out, e, n->a, index);
        out->mean = -out->mean;
        return err;
    case PREDICT__REPEAT:
        return repeat(out, e, node, index);
    case PREDICT__COUNT:
        out->mean = e->model->sets[n->set].count;
        return 0;
    case PREDICT__MAX:
    case PREDICT__MIN:
    case PREDICT__SUM:
        err = several_evaluate(&s, e, node, index);
        *out = s.all;
        return err;
    }
    return 0;
}

int predict__structural_value(predict__value *out, predict__evaluation *e,
                              uint32_t node, const predict__index *index)
{
    int err;

    memset(out, 0, sizeof(*out));
    if (++e->depth > DEPTH_MAX)
        return fail_at(e, node, PASTSET_EINVAL,
                       "too many components stand in each other");
    if (++e->steps > STEPS_MAX)
        return fail_at(e, node, PASTSET_EINVAL,
                       "this takes too long: give what is in the inner max, "
                       "min or sum a name of its own, so that it is worked "
                       "out once");
    err = evaluate(out, e, node, index);
    e->depth--;
    if (!err &&
        (!isfinite(out->mean) || !isfinite(predict__value_whole(out).range)))
        err = fail_at(e, node, PASTSET_EINVAL, "this is too large a number");
    if (err)
        predict__value_fini(out);
    return err;
}
