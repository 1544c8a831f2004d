/* metrics.c - expressions, as a list of steps each of which uses what steps
 * before it gave.
 *
 *     metric     = ( "intrinsic" | "performance" ) NAME "=" sum ";"
 *     sum        = product { ( "+" | "-" ) product }
 *     product    = factor { ( "*" | "/" ) factor }
 *     factor     = "-" factor | "(" sum ")" | NUMBER | NAME
 *                | ( "program" | "history" ) "(" STRING ")"
 *                | ( "delta" | "total" ) "(" sum ")"
 *                | ( "mean" | "smooth" ) "(" sum "," NUMBER ")" */
#include "contracts/signature/metrics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define DEPTH_MAX 100
#define STEPS_MAX 4096
#define MEAN_MAX 1000
#define NONE UINT32_MAX

typedef enum operation {
    NUMBER,
    QUANTITY, /* number `a` */
    PROGRAM,  /* number `a` of what programs count */
    HISTORY,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    DELTA,
    MEAN,
    SMOOTH,
    TOTAL,
} operation;

typedef struct step {
    operation op;
    uint32_t a, b;     /* steps */
    double number;     /* of NUMBER, MEAN, SMOOTH */
    uint32_t memories; /* its first one */
} step;

typedef struct metric {
    char *name, *text;
    bool is_intrinsic;
    uint32_t step;
} metric;

typedef struct names {
    char **items;
    size_t count;
} names;

struct contracts_metrics {
    const char *const *quantities;
    size_t quantity_count;
    names programs; /* what they count */
    names histories;
    metric metrics[CONTRACTS_METRICS_MAX];
    size_t count;
    step *steps;
    size_t step_count;
    uint32_t memory_count;
};

struct contracts_metric_state {
    double *values;   /* by step: of this interval */
    double *memories; /* NAN: nothing so far */
    double *kept;     /* memories, meanwhile */
};

/* --- reading --- */

typedef struct parser {
    contracts__tokens *t;
    contracts_metrics *m;
    int depth;
} parser;

static uint32_t add_step(parser *p, step s)
{
    contracts_metrics *m = p->m;
    step *grown;

    if (p->t->err)
        return 0;
    if (m->step_count == STEPS_MAX) {
        contracts__wrong(p->t, "metrics have more than %d parts", STEPS_MAX);
        return 0;
    }
    grown = pastset_array_grow(m->steps, m->step_count, sizeof(*grown));
    if (!grown) {
        contracts__text_no_memory(p->t);
        return 0;
    }
    m->steps = grown;
    m->steps[m->step_count] = s;
    return (uint32_t)m->step_count++;
}

static uint32_t sum_parse(parser *p);

/* So many values are remembered of it. */
static uint32_t add_function(parser *p, operation op, uint32_t a, double number,
                             uint32_t memories)
{
    uint32_t first = p->m->memory_count;

    p->m->memory_count += memories;
    return add_step(p, (step){op, a, 0, number, first});
}

static uint32_t function_parse(parser *p, operation op)
{
    uint32_t a, memories = 1;
    double number = 0;
    contracts__tokens at;

    contracts__need_mark(p->t, "(");
    a = sum_parse(p);
    at = *p->t;
    if (op == MEAN || op == SMOOTH) {
        contracts__need_mark(p->t, ",");
        at = *p->t;
        number = contracts__need_number(p->t);
    }
    if (!p->t->err && op == MEAN &&
        (number < 1 || number > MEAN_MAX || number != floor(number))) {
        contracts__wrong(&at, "a mean is of 1 to %d intervals", MEAN_MAX);
        p->t->err = at.err;
    }
    if (!p->t->err && op == SMOOTH && !(number > 0 && number <= 1)) {
        contracts__wrong(&at, "smoothing is by a number above 0 and up to 1");
        p->t->err = at.err;
    }
    if (p->t->err)
        return 0;
    if (op == MEAN)
        memories = (uint32_t)number + 1; /* and where the next one goes */
    contracts__need_mark(p->t, ")");
    return add_function(p, op, a, number, memories);
}

static bool function_take(parser *p, operation *op)
{
    static const struct {
        const char *name;
        operation op;
    } functions[] = {
        {"delta", DELTA}, {"mean", MEAN}, {"smooth", SMOOTH}, {"total", TOTAL}};

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        *op = functions[i].op;
        if (contracts__take_word(p->t, functions[i].name))
            return true;
    }
    return false;
}

/* The number of a name, which is taken over. */
static size_t name_add(parser *p, names *all, char *name)
{
    char **more;
    size_t i = 0;

    while (i < all->count && strcmp(all->items[i], name) != 0)
        i++;
    more = i == all->count ? pastset_array_grow(all->items, i, sizeof(*more))
                           : NULL;
    if (i < all->count) {
        free(name);
    } else if (more) {
        all->items = more;
        all->items[all->count++] = name;
    } else {
        free(name);
        contracts__text_no_memory(p->t);
    }
    return i;
}

static uint32_t named_parse(parser *p, operation op, names *all,
                            const char *what)
{
    char *name;

    contracts__need_mark(p->t, "(");
    name = contracts__need_string(p->t, what);
    if (name && op == HISTORY && strchr(name, '/'))
        contracts__wrong(p->t, "the name of a history has no /");
    contracts__need_mark(p->t, ")");
    if (!name || p->t->err) {
        free(name);
        return 0;
    }
    return add_step(p, (step){.op = op, .a = (uint32_t)name_add(p, all, name)});
}

static uint32_t name_parse(parser *p)
{
    contracts_metrics *m = p->m;

    for (size_t i = 0; i < m->count; i++)
        if (contracts__take_word(p->t, m->metrics[i].name))
            return m->metrics[i].step;
    for (size_t i = 0; i < m->quantity_count; i++)
        if (contracts__take_word(p->t, m->quantities[i]))
            return add_step(p, (step){.op = QUANTITY, .a = (uint32_t)i});
    if (p->t->kind == CONTRACTS__WORD)
        contracts__wrong(p->t, "there is no quantity or metric \"%.*s\"",
                         p->t->bytes < 40 ? (int)p->t->bytes : 40, p->t->at);
    else
        contracts__expected(p->t, "a number, a name or \"(\"");
    return 0;
}

static uint32_t factor_parse(parser *p)
{
    uint32_t found = 0;
    operation op;

    if (++p->depth > DEPTH_MAX)
        contracts__wrong(p->t, "an expression is more than %d deep", DEPTH_MAX);
    if (p->t->err)
        return 0;
    if (contracts__take_mark(p->t, "-")) {
        uint32_t zero = add_step(p, (step){.op = NUMBER});
        found = add_step(
            p, (step){.op = SUBTRACT, .a = zero, .b = factor_parse(p)});
    } else if (contracts__take_mark(p->t, "(")) {
        found = sum_parse(p);
        contracts__need_mark(p->t, ")");
    } else if (p->t->kind == CONTRACTS__NUMBER) {
        found = add_step(p, (step){.op = NUMBER, .number = p->t->number});
        contracts__token_next(p->t);
    } else if (contracts__take_word(p->t, "program")) {
        found = named_parse(p, PROGRAM, &p->m->programs,
                            "the name of a metric of the program");
    } else if (contracts__take_word(p->t, "history")) {
        found =
            named_parse(p, HISTORY, &p->m->histories, "the name of a history");
    } else if (function_take(p, &op)) {
        found = function_parse(p, op);
    } else {
        found = name_parse(p);
    }
    p->depth--;
    return found;
}

static uint32_t product_parse(parser *p)
{
    uint32_t found = factor_parse(p);

    for (;;) {
        if (contracts__take_mark(p->t, "*"))
            found = add_step(
                p, (step){.op = MULTIPLY, .a = found, .b = factor_parse(p)});
        else if (contracts__take_mark(p->t, "/"))
            found = add_step(
                p, (step){.op = DIVIDE, .a = found, .b = factor_parse(p)});
        else
            return found;
    }
}

static uint32_t sum_parse(parser *p)
{
    uint32_t found = product_parse(p);

    for (;;) {
        if (contracts__take_mark(p->t, "+"))
            found = add_step(
                p, (step){.op = ADD, .a = found, .b = product_parse(p)});
        else if (contracts__take_mark(p->t, "-"))
            found = add_step(
                p, (step){.op = SUBTRACT, .a = found, .b = product_parse(p)});
        else
            return found;
    }
}

static void check_name(const contracts_metrics *m, contracts__tokens *t)
{
    static const char *const functions[] = {"delta",   "history", "mean",
                                            "program", "smooth",  "total"};

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (contracts__is_name(t, functions[i]))
            contracts__wrong(t, "this is a function");
    for (size_t i = 0; i < m->quantity_count; i++)
        if (contracts__is_name(t, m->quantities[i]))
            contracts__wrong(t, "this is a quantity that is measured");
    for (size_t i = 0; i < m->count; i++)
        if (contracts__is_name(t, m->metrics[i].name))
            contracts__wrong(t, "there is this metric already");
    if (m->count == CONTRACTS_METRICS_MAX)
        contracts__wrong(t, "more than %d metrics", CONTRACTS_METRICS_MAX);
}

static size_t comment_bytes(const char *at)
{
    return *at == '#' || (at[0] == '/' && at[1] == '/') ? strcspn(at, "\n") : 0;
}

/* Without comments, of which the last would not end before what comes next. */
static char *text_copy(const char *from, const char *to)
{
    char *copy = malloc((size_t)(to - from) + 1), *at = copy;

    if (!copy)
        return NULL;
    while (from < to) {
        size_t skipped = comment_bytes(from);
        if (skipped)
            from += skipped;
        else
            *at++ = *from++;
    }
    while (at > copy && isspace((unsigned char)at[-1]))
        at--;
    *at = 0;
    return copy;
}

void contracts__metric_parse(contracts_metrics *m, contracts__tokens *t)
{
    parser p = {t, m, 0};
    metric new = {0};
    const char *from;

    new.is_intrinsic = contracts__take_word(t, "intrinsic");
    if (!new.is_intrinsic && !contracts__take_word(t, "performance"))
        contracts__expected(t, "intrinsic or performance");
    check_name(m, t);
    new.name = contracts__need_name(t, "the name of a metric");
    contracts__need_mark(t, "=");
    from = t->at;
    new.step = sum_parse(&p);
    if (!t->err && !(new.text = text_copy(from, t->at)))
        contracts__text_no_memory(t);
    contracts__need_mark(t, ";");
    if (t->err) {
        free(new.name);
        free(new.text);
        return;
    }
    m->metrics[m->count++] = new;
}

/* --- working out --- */

static double mean_next(const step *s, double *memory, double x)
{
    double sum = 0;
    size_t most = (size_t)s->number,
           at = isnan(memory[0]) ? 0 : (size_t)memory[0];
    size_t count = 0;

    if (!isnan(x)) {
        memory[1 + at] = x;
        memory[0] = (double)((at + 1) % most);
    }
    for (size_t i = 0; i < most && !isnan(memory[1 + i]); i++) {
        sum += memory[1 + i];
        count++;
    }
    return count && !isnan(x) ? sum / (double)count : (double)NAN;
}

static double remembered(const step *s, double *memory, double x)
{
    double before = *memory;

    if (s->op == MEAN)
        return mean_next(s, memory, x);
    if (isnan(x))
        return (double)NAN;
    if (s->op == DELTA) {
        *memory = x;
        return x - before;
    }
    if (isnan(before))
        *memory = x;
    else
        *memory = s->op == TOTAL ? before + x
                                 : s->number * x + (1 - s->number) * before;
    return *memory;
}

static double value_of(const contracts_metrics *m, const step *s,
                       contracts_metric_state *state, const double *quantities)
{
    const double *v = state->values;

    switch (s->op) {
    case NUMBER:
        return s->number;
    case QUANTITY:
        return quantities[s->a];
    case PROGRAM:
        return quantities[m->quantity_count + s->a];
    case HISTORY:
        return quantities[m->quantity_count + m->programs.count + s->a];
    case ADD:
        return v[s->a] + v[s->b];
    case SUBTRACT:
        return v[s->a] - v[s->b];
    case MULTIPLY:
        return v[s->a] * v[s->b];
    case DIVIDE:
        return v[s->a] / v[s->b];
    default:
        return remembered(s, &state->memories[s->memories], v[s->a]);
    }
}

void contracts_metrics_next(const contracts_metrics *m,
                            contracts_metric_state *state,
                            const double *quantities, double *out)
{
    for (size_t i = 0; i < m->step_count; i++) {
        double value = value_of(m, &m->steps[i], state, quantities);
        state->values[i] = isfinite(value) ? value : (double)NAN;
    }
    for (size_t i = 0; i < m->count; i++)
        out[i] = state->values[m->metrics[i].step];
}

void contracts_metrics_instead(const contracts_metrics *m,
                               contracts_metric_state *state,
                               const double *quantities, double *out)
{
    size_t bytes = m->memory_count * sizeof(*state->memories);

    memcpy(state->kept, state->memories, bytes);
    contracts_metrics_next(m, state, quantities, out);
    memcpy(state->memories, state->kept, bytes);
}

/* --- all of it --- */

int contracts_metrics_create(contracts_metrics **out,
                             const char *const *quantities, size_t count)
{
    contracts_metrics *m = calloc(1, sizeof(*m));

    *out = m;
    if (!m)
        return pastset_no_memory("for metrics");
    m->quantities = quantities;
    m->quantity_count = count;
    return 0;
}

static void names_free(names *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i]);
    free(all->items);
}

void contracts_metrics_destroy(contracts_metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++) {
        free(m->metrics[i].name);
        free(m->metrics[i].text);
    }
    names_free(&m->programs);
    names_free(&m->histories);
    free(m->steps);
    free(m);
}

size_t contracts_metrics_count(const contracts_metrics *m)
{
    return m->count;
}

const char *contracts_metric_name(const contracts_metrics *m, size_t i)
{
    return m->metrics[i].name;
}

const char *contracts_metric_text(const contracts_metrics *m, size_t i)
{
    return m->metrics[i].text;
}

const char *const *contracts_metrics_programs(const contracts_metrics *m,
                                              size_t *count)
{
    *count = m->programs.count;
    return (const char *const *)m->programs.items;
}

const char *const *contracts_metrics_histories(const contracts_metrics *m,
                                               size_t *count)
{
    *count = m->histories.count;
    return (const char *const *)m->histories.items;
}

bool contracts_metric_is_intrinsic(const contracts_metrics *m, size_t i)
{
    return m->metrics[i].is_intrinsic;
}

int contracts_metric_state_create(contracts_metric_state **out,
                                  const contracts_metrics *m)
{
    contracts_metric_state *s = calloc(1, sizeof(*s));

    *out = NULL;
    if (s) {
        s->values = calloc(m->step_count + 1, sizeof(*s->values));
        s->memories = calloc((size_t)m->memory_count + 1, sizeof(*s->memories));
        s->kept = calloc((size_t)m->memory_count + 1, sizeof(*s->kept));
    }
    if (!s || !s->values || !s->memories || !s->kept) {
        contracts_metric_state_destroy(s);
        return pastset_no_memory("for metrics");
    }
    for (uint32_t i = 0; i < m->memory_count; i++)
        s->memories[i] = (double)NAN;
    *out = s;
    return 0;
}

int contracts_metric_state_copy(contracts_metric_state **out,
                                const contracts_metrics *m,
                                const contracts_metric_state *state)
{
    int err = contracts_metric_state_create(out, m);

    if (!err)
        memcpy((*out)->memories, state->memories,
               m->memory_count * sizeof(*state->memories));
    return err;
}

void contracts_metric_state_destroy(contracts_metric_state *state)
{
    if (!state)
        return;
    free(state->values);
    free(state->memories);
    free(state->kept);
    free(state);
}
