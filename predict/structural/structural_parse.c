/* structural_parse.c - reading a model.
 *
 *     model      = { line }
 *     line       = "set" NAME "=" MEMBER { "," MEMBER }
 *                | "related" THING { "," THING }
 *                | NAME [ "(" ( NAME "in" SET | MEMBER ) ")" ] "=" sum
 *     sum        = product { ( "+" | "-" ) product }
 *     product    = factor { ( "*" | "/" ) factor }
 *     factor     = NUMBER [ ( "+-" | "±" ) NUMBER ] | "-" factor | "(" sum ")"
 *                | NAME [ "(" ( NAME | MEMBER ) ")" ]
 *                | "count" "(" SET ")" | "repeat" "(" sum ":" sum ")"
 *                | ( "max" | "min" | "sum" )
 *                  "(" ( NAME "in" SET ":" sum | sum { "," sum } ) ")"
 *
 * A line ends where it ends, but for what is in parentheses. A member is any
 * text without blanks, commas and parentheses; 1..64 are as many members. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "predict/structural/structural_internal.h"

#define DEPTH_MAX 100
#define MEMBERS_MAX 10000
#define NODES_MAX 100000

typedef struct parser {
    predict_structural *model;
    uint32_t source;
    const char *text, *at; /* the next token begins there */
    uint32_t line;
    uint32_t parentheses, depth;
    bool is_given;
    int err;
} parser;

/* --- what is wrong --- */

/* The token at this place, short enough for a line. */
static void tell(const char *at, char out[32])
{
    size_t n = strcspn(at, " \t\n\r,()=*/+:");

    if (*at == 0 || *at == '\n')
        snprintf(out, 32, "the end of the line");
    else
        snprintf(out, 32, "\"%.*s\"", n == 0 ? 1 : n < 24 ? (int)n : 24, at);
}

/* The first that is wrong counts. Gives NONE. */
static uint32_t wrong(parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static uint32_t wrong(parser *p, const char *format, ...)
{
    char text[400];
    va_list rest;

    if (p->err)
        return PREDICT__NONE;
    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    p->err = predict__structural_fail(p->model, p->source, p->line,
                                      PASTSET_EFORMAT, "%s", text);
    return PREDICT__NONE;
}

static uint32_t expected(parser *p, const char *what)
{
    char here[32];

    tell(p->at, here);
    return wrong(p, "expected %s, not %s", what, here);
}

static uint32_t no_memory(parser *p)
{
    if (!p->err)
        p->err = pastset_no_memory("for a model");
    return PREDICT__NONE;
}

/* --- tokens --- */

static void skip(parser *p)
{
    for (;;) {
        if (*p->at == '#')
            p->at += strcspn(p->at, "\n");
        else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
            p->at++;
        else if (*p->at == '\n' && p->parentheses) {
            p->at++;
            p->line++;
        } else
            return;
    }
}

static bool is_next(const parser *p, char c)
{
    return *p->at == c;
}

static bool take(parser *p, char c)
{
    if (*p->at != c)
        return false;
    p->at++;
    skip(p);
    return true;
}

static bool open_parenthesis(parser *p)
{
    if (!is_next(p, '('))
        return false;
    p->parentheses++;
    return take(p, '(');
}

/* What stands behind the parenthesis may be on the next line no more. */
static bool close_parenthesis(parser *p)
{
    if (!is_next(p, ')')) {
        expected(p, "\")\"");
        return false;
    }
    p->parentheses--;
    return take(p, ')');
}

static size_t name_bytes(const char *at)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*at) && *at != '_')
        return 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

static size_t member_bytes(const char *at)
{
    return strcspn(at, " \t\r\n,()=:#");
}

static const char *word_take(parser *p, size_t bytes)
{
    const char *word = predict__structural_word(p->model, p->at, bytes);

    if (!word)
        no_memory(p);
    p->at += bytes;
    skip(p);
    return word;
}

static const char *name_take(parser *p, const char *what)
{
    size_t bytes = name_bytes(p->at);

    if (bytes == 0) {
        expected(p, what);
        return NULL;
    }
    return word_take(p, bytes);
}

static const char *member_take(parser *p, const char *what)
{
    size_t bytes = member_bytes(p->at);

    if (bytes == 0) {
        expected(p, what);
        return NULL;
    }
    return word_take(p, bytes);
}

static bool is_word(const char *word, const char *is)
{
    return word && strcmp(word, is) == 0;
}

/* Takes this word, if it comes next. */
static bool take_word(parser *p, const char *word)
{
    size_t bytes = name_bytes(p->at);

    if (bytes != strlen(word) || memcmp(p->at, word, bytes) != 0)
        return false;
    p->at += bytes;
    skip(p);
    return true;
}

/* --- nodes --- */

static uint32_t node_add(parser *p, predict__op op)
{
    predict_structural *m = p->model;
    predict__node *nodes;

    if (p->err)
        return PREDICT__NONE;
    if (m->node_count == NODES_MAX)
        return wrong(p, "this is too long for a model");
    nodes = pastset_array_grow(m->nodes, m->node_count, sizeof(*nodes));
    if (!nodes)
        return no_memory(p);
    m->nodes = nodes;
    nodes[m->node_count] = (predict__node){.op = op,
                                           .line = p->line,
                                           .source = p->source,
                                           .a = PREDICT__NONE,
                                           .b = PREDICT__NONE,
                                           .next = PREDICT__NONE,
                                           .set = PREDICT__NONE};
    return m->node_count++;
}

static predict__node *node_at(const parser *p, uint32_t node)
{
    return &p->model->nodes[node];
}

/* From a place of the text on up to here, without blanks behind. */
static uint32_t spans(parser *p, uint32_t node, const char *from)
{
    const char *to = p->at;

    if (p->err)
        return PREDICT__NONE;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    node_at(p, node)->from = (uint32_t)(from - p->text);
    node_at(p, node)->to = (uint32_t)(to - p->text);
    return node;
}

static uint32_t node_of(parser *p, predict__op op, uint32_t a, uint32_t b,
                        const char *from)
{
    uint32_t node = node_add(p, op);

    if (p->err)
        return PREDICT__NONE;
    node_at(p, node)->a = a;
    node_at(p, node)->b = b;
    return spans(p, node, from);
}

/* --- numbers --- */

typedef struct number {
    double value;
    predict_dimension dimension;
    bool is_share; /* in % */
} number;

/* 12, 0.5, 2.5e-9: with a power of ten as other programs print it. */
static size_t digits(const char *at)
{
    size_t n = strspn(at, "0123456789"), power;

    if (at[n] == '.' && at[n + 1] != '.')
        n += 1 + strspn(at + n + 1, "0123456789");
    if (n == 0 || (at[n] != 'e' && at[n] != 'E'))
        return n;
    power = n + 1 + (at[n + 1] == '-' || at[n + 1] == '+');
    return isdigit((unsigned char)at[power])
               ? power + strspn(at + power, "0123456789")
               : n;
}

static bool number_take(parser *p, number *out)
{
    size_t bytes = digits(p->at), unit;
    char text[64];
    double factor = 1;

    if (bytes == 0 || bytes >= sizeof(text)) {
        expected(p, "a number");
        return false;
    }
    snprintf(text, sizeof(text), "%.*s", (int)bytes, p->at);
    *out = (number){.value = strtod(text, NULL)};
    if (!isfinite(out->value)) {
        expected(p, "a number");
        return false;
    }
    unit = p->at[bytes] == '%' ? 1 : name_bytes(p->at + bytes);
    if (unit > 0 && !predict__structural_unit(p->at + bytes, unit, &factor,
                                              &out->dimension)) {
        p->at += bytes;
        expected(p, "a unit such as ns, us, ms, s, B, kB, KiB, mbit or %");
        return false;
    }
    out->is_share = unit == 1 && p->at[bytes] == '%';
    out->value *= factor;
    p->at += bytes + unit;
    skip(p);
    return true;
}

static bool take_range_sign(parser *p)
{
    size_t bytes = strncmp(p->at, "+-", 2) == 0  ? 2
                   : strncmp(p->at, "±", 2) == 0 ? strlen("±")
                                                 : 0;

    p->at += bytes;
    if (bytes)
        skip(p);
    return bytes > 0;
}

static bool is_same(predict_dimension a, predict_dimension b)
{
    return a.seconds == b.seconds && a.bytes == b.bytes;
}

static uint32_t number_parse(parser *p)
{
    const char *from = p->at;
    uint32_t node = node_add(p, PREDICT__NUMBER);
    number mean, range = {0};

    if (p->err || !number_take(p, &mean))
        return PREDICT__NONE;
    if (take_range_sign(p)) {
        if (!number_take(p, &range))
            return PREDICT__NONE;
        if (range.is_share && !mean.is_share)
            range.value *= mean.value;
        else if (!is_same(range.dimension, mean.dimension))
            return wrong(p, "the range has another unit than the number: "
                            "write 12ns +- 2ns, or 12ns +- 5%%");
    }
    node_at(p, node)->value = (predict_stochastic){mean.value, range.value};
    node_at(p, node)->dimension = mean.dimension;
    return spans(p, node, from);
}

/* --- expressions --- */

static uint32_t sum_parse(parser *p);

static const char *set_name(parser *p)
{
    return name_take(p, "the name of a set");
}

static uint32_t set_take(parser *p)
{
    const char *name = set_name(p);
    uint32_t set;

    if (!name)
        return PREDICT__NONE;
    set = predict__structural_set_find(p->model, name);
    return set != PREDICT__NONE
               ? set
               : wrong(p,
                       "there is no set %s: add a line set %s = ... "
                       "before this one",
                       name, name);
}

static bool is_binding(const parser *p)
{
    size_t bytes = name_bytes(p->at);
    const char *at = p->at + bytes;

    at += strspn(at, " \t");
    return bytes > 0 && strncmp(at, "in", 2) == 0 &&
           isspace((unsigned char)at[2]);
}

/* "max(" has been read. */
static uint32_t group_parse(parser *p, predict__op op, const char *from)
{
    uint32_t node = node_add(p, op), first, last;
    bool is_bound = !p->err && is_binding(p);

    if (is_bound) {
        const char *index = name_take(p, "a name");
        (void)take_word(p, "in");
        uint32_t set = set_take(p);
        if (p->err)
            return PREDICT__NONE;
        node_at(p, node)->argument = index;
        node_at(p, node)->set = set;
        if (!take(p, ':'))
            return expected(p, "\":\"");
    }
    first = last = sum_parse(p);
    while (!p->err && !is_bound && take(p, ',')) {
        uint32_t more = sum_parse(p);
        if (p->err)
            return PREDICT__NONE;
        node_at(p, last)->next = more;
        last = more;
    }
    if (p->err || !close_parenthesis(p))
        return PREDICT__NONE;
    node_at(p, node)->a = first;
    return spans(p, node, from);
}

static uint32_t repeat_parse(parser *p, const char *from)
{
    uint32_t times = sum_parse(p), of;

    if (!p->err && !take(p, ':'))
        return expected(p, "\":\"");
    of = sum_parse(p);
    if (p->err || !close_parenthesis(p))
        return PREDICT__NONE;
    return node_of(p, PREDICT__REPEAT, times, of, from);
}

static uint32_t count_parse(parser *p, const char *from)
{
    uint32_t set = set_take(p), node;

    if (p->err || !close_parenthesis(p))
        return PREDICT__NONE;
    node = node_add(p, PREDICT__COUNT);
    if (!p->err)
        node_at(p, node)->set = set;
    return spans(p, node, from);
}

static uint32_t reference_parse(parser *p, const char *name, const char *from)
{
    uint32_t node = node_add(p, PREDICT__REFERENCE);
    const char *argument = NULL;

    if (!p->err && open_parenthesis(p)) {
        argument = member_take(p, "a name or a member");
        if (!argument || !close_parenthesis(p))
            return PREDICT__NONE;
    }
    if (p->err)
        return PREDICT__NONE;
    node_at(p, node)->name = name;
    node_at(p, node)->argument = argument;
    return spans(p, node, from);
}

static uint32_t named_parse(parser *p)
{
    static const struct {
        const char *name;
        predict__op op;
    } groups[] = {
        {"max", PREDICT__MAX}, {"min", PREDICT__MIN}, {"sum", PREDICT__SUM}};
    const char *from = p->at, *name = name_take(p, "a name");

    if (!name)
        return PREDICT__NONE;
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
        if (is_word(name, groups[i].name))
            return open_parenthesis(p) ? group_parse(p, groups[i].op, from)
                                       : expected(p, "\"(\"");
    if (is_word(name, "repeat"))
        return open_parenthesis(p) ? repeat_parse(p, from)
                                   : expected(p, "\"(\"");
    if (is_word(name, "count"))
        return open_parenthesis(p) ? count_parse(p, from)
                                   : expected(p, "\"(\"");
    return reference_parse(p, name, from);
}

static uint32_t factor_parse(parser *p)
{
    const char *from = p->at;
    uint32_t node;

    if (p->err)
        return PREDICT__NONE;
    if (++p->depth > DEPTH_MAX)
        return wrong(p, "there is too much in each other here: give a part a "
                        "name of its own");
    if (take(p, '-')) {
        node =
            node_of(p, PREDICT__NEGATE, factor_parse(p), PREDICT__NONE, from);
    } else if (open_parenthesis(p)) {
        node = sum_parse(p);
        if (!p->err)
            (void)close_parenthesis(p);
    } else if (name_bytes(p->at)) {
        node = named_parse(p);
    } else if (isdigit((unsigned char)*p->at) || is_next(p, '.')) {
        node = number_parse(p);
    } else {
        node = expected(p, "a number, a name or \"(\"");
    }
    p->depth--;
    return p->err ? PREDICT__NONE : node;
}

static uint32_t product_parse(parser *p)
{
    const char *from = p->at;
    uint32_t node = factor_parse(p);

    while (!p->err && (is_next(p, '*') || is_next(p, '/'))) {
        predict__op op = is_next(p, '*') ? PREDICT__MULTIPLY : PREDICT__DIVIDE;
        (void)take(p, *p->at);
        uint32_t other = factor_parse(p);
        node = node_of(p, op, node, other, from);
    }
    return node;
}

static uint32_t sum_parse(parser *p)
{
    const char *from = p->at;
    uint32_t node = product_parse(p);

    while (!p->err && (is_next(p, '+') || is_next(p, '-'))) {
        predict__op op = is_next(p, '+') ? PREDICT__ADD : PREDICT__SUBTRACT;
        (void)take(p, *p->at);
        uint32_t other = product_parse(p);
        node = node_of(p, op, node, other, from);
    }
    return node;
}

/* --- sets --- */

static void member_add(parser *p, predict__set *set, const char *member)
{
    const char **members;

    if (p->err)
        return;
    if (set->count == MEMBERS_MAX || predict__structural_set_has(set, member)) {
        wrong(p,
              set->count == MEMBERS_MAX ? "set %s has more than 10000 members"
                                        : "set %s has a member twice",
              set->name);
        return;
    }
    members = pastset_array_grow(set->members, set->count, sizeof(*members));
    if (!members) {
        no_memory(p);
        return;
    }
    set->members = members;
    members[set->count++] = member;
}

/* "1..64". False: it is none. */
static bool range_add(parser *p, predict__set *set, const char *word)
{
    unsigned from, to;
    int used = 0;

    if (sscanf(word, "%5u..%5u%n", &from, &to, &used) != 2 || word[used] ||
        !isdigit((unsigned char)*word))
        return false;
    if (from > to)
        wrong(p, "%s goes down", word);
    for (unsigned i = from; i <= to && !p->err; i++) {
        char text[16];
        int bytes = snprintf(text, sizeof(text), "%u", i);
        const char *member =
            predict__structural_word(p->model, text, (size_t)bytes);
        if (member)
            member_add(p, set, member);
        else
            no_memory(p);
    }
    return true;
}

static void set_parse(parser *p)
{
    const char *name = set_name(p);
    predict__set *sets, *set;

    if (!name)
        return;
    if (predict__structural_set_find(p->model, name) != PREDICT__NONE) {
        wrong(p, "there is a set %s already", name);
        return;
    }
    sets =
        pastset_array_grow(p->model->sets, p->model->set_count, sizeof(*sets));
    if (!sets) {
        no_memory(p);
        return;
    }
    p->model->sets = sets;
    set = &sets[p->model->set_count++];
    *set = (predict__set){.name = name};
    if (!take(p, '=')) {
        expected(p, "\"=\"");
        return;
    }
    do {
        const char *member = member_take(p, "a member");
        if (member && !range_add(p, set, member))
            member_add(p, set, member);
    } while (!p->err && take(p, ','));
}

/* --- what stands for one thing or for all of a set --- */

typedef struct head {
    const char *name, *argument;
    uint32_t set;
} head;

/* A name, and in parentheses a member, or what is in a set. */
static bool head_parse(parser *p, head *out, const char *what)
{
    *out = (head){.name = name_take(p, what), .set = PREDICT__NONE};
    if (!out->name || !open_parenthesis(p))
        return !p->err;
    if (is_binding(p)) {
        out->argument = name_take(p, "a name");
        (void)take_word(p, "in");
        out->set = set_take(p);
    } else {
        out->argument = member_take(p, "a member, or NAME in SET");
    }
    return !p->err && close_parenthesis(p);
}

static void related_parse(parser *p)
{
    predict_structural *m = p->model;
    uint32_t group = m->group_count++;

    do {
        predict__relation *relations = pastset_array_grow(
            m->relations, m->relation_count, sizeof(*relations));
        head h;
        if (!relations) {
            no_memory(p);
            return;
        }
        m->relations = relations;
        if (!head_parse(p, &h, "what is related"))
            return;
        relations[m->relation_count++] =
            (predict__relation){h.name, h.argument, h.set, group};
    } while (take(p, ','));
}

/* --- definitions --- */

static bool is_reserved(const char *name)
{
    static const char *const words[] = {"set", "related", "in",     "max",
                                        "min", "sum",     "repeat", "count"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (is_word(name, words[i]))
            return true;
    return false;
}

static bool is_same_head(const predict__definition *d, const head *h)
{
    return d->name == h->name && d->set == h->set &&
           (d->set != PREDICT__NONE || d->argument == h->argument);
}

static void definition_put(parser *p, const head *h, uint32_t node,
                           uint32_t line)
{
    predict_structural *m = p->model;
    predict__definition *definitions,
        d = {h->name, h->argument, h->set, node, line, p->is_given};

    for (uint32_t i = 0; i < m->definition_count; i++) {
        if (!is_same_head(&m->definitions[i], h))
            continue;
        if (m->definitions[i].is_given == p->is_given && !p->is_given)
            wrong(p, "%s is there already, in line %u", h->name,
                  m->definitions[i].line);
        else
            m->definitions[i] = d;
        return;
    }
    definitions = pastset_array_grow(m->definitions, m->definition_count,
                                     sizeof(*definitions));
    if (!definitions) {
        no_memory(p);
        return;
    }
    m->definitions = definitions;
    definitions[m->definition_count++] = d;
}

static void definition_parse(parser *p)
{
    uint32_t line = p->line, node;
    head h;

    if (!head_parse(p, &h, "a name"))
        return;
    if (is_reserved(h.name)) {
        wrong(p, "%s means something else: take another name", h.name);
        return;
    }
    if (!take(p, '=')) {
        expected(p, "\"=\"");
        return;
    }
    node = sum_parse(p);
    if (!p->err)
        definition_put(p, &h, node, line);
}

static void line_parse(parser *p)
{
    if (take_word(p, "set"))
        set_parse(p);
    else if (take_word(p, "related"))
        related_parse(p);
    else
        definition_parse(p);
    if (!p->err && *p->at && *p->at != '\n')
        expected(p, "the end of the line");
}

int predict__structural_parse(predict_structural *model, bool is_given)
{
    uint32_t source = model->source_count - 1;
    const char *text = model->sources[source].text;
    parser p = {.model = model,
                .source = source,
                .text = text,
                .at = text,
                .line = 1,
                .is_given = is_given};

    for (;;) {
        skip(&p);
        if (is_next(&p, '\n')) {
            p.at++;
            p.line++;
        } else if (*p.at == 0 || p.err) {
            return p.err;
        } else {
            line_parse(&p);
        }
    }
}
