/* map_scan.c - a look at DOT text before cgraph's parser gets it.
 *
 * cgraph trusts its input, and keeps no line numbers. This reads the text
 * once, token by token as cgraph's scanner does, and
 *
 *   - refuses what makes cgraph leak, stop in the middle, or fill the memory:
 *     NUL bytes, strings and comments without end, macros (@, which also is
 *     its mark for the end of a graph), names that begin with % (its mark for
 *     nodes without a name), deep nesting (its destructor is recursive), long
 *     chains of edges (its parser's stack), and anything after the graph;
 *   - bounds the work: `{a b} -> {c d}` makes edges by multiplication, each
 *     subgraph keeps each of its nodes and edges once more, each node has a
 *     slot for each name of an attribute that is used anywhere, and a long
 *     string is moved each time that more of it is read;
 *   - notes the line of each name and of each edge.
 *
 * Names are kept as 64-bit hashes: only the line in a message depends on
 * them. Whether the text is correct DOT is left to cgraph. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/array.h"

#define DEPTH_MAX 32           /* of braces */
#define CHAIN_MAX 256          /* arrows in one statement */
#define GROUPS_MAX 65536       /* pairs of braces */
#define NAMES_MAX (4u << 20)   /* names, each times its depth */
#define EDGES_MAX (4u << 20)   /* edges, each times its depth */
#define KEYS_MAX 512           /* different names of attributes */
#define SLOTS_MAX (16u << 20)  /* (names + edges) times KEYS ... */
#define SLOTS_EACH 4           /* ... and more for each byte of the text ... */
#define SLOTS_MOST (64u << 20) /* ... but no more than these */
#define PIECE_MAX 65536        /* bytes of a string, a name, a comment */
#define PLUS_MAX 256           /* strings put together by + */

typedef struct name {
    uint64_t hash; /* 0: empty */
    unsigned line;
    bool declared; /* has a list of attributes there */
} name;

typedef struct names {
    name *slots;
    size_t capacity, used; /* a power of two; at most half of it is taken */
} names;

struct paths__scan {
    names nodes, subgraphs, keys;
    unsigned *edge_lines; /* one for each arrow */
    size_t edge_count;
    bool grouped; /* some arrow begins or ends at a group */
};

typedef enum token {
    END,
    NAME,
    ARROW,
    OTHER, /* any single character: `character` says which */
} token;

/* What came last in a statement: it decides what a name means. */
typedef enum place {
    FRESH, /* a new statement may begin */
    AFTER_ARROW,
    AFTER_COMMA,
    AFTER_COLON,
} place;

/* A pair of braces. The counts of nodes are bounds from above. */
typedef struct group {
    uint64_t nodes; /* named directly or in groups inside */
    uint64_t left;  /* nodes to the left of the last arrow; 0: no arrow */
    uint64_t right; /* nodes of the operand that is being read */
    unsigned chain; /* arrows of this statement */
    place at;
    bool named;   /* holds a named subgraph, which may have more nodes than
                     are named here */
    bool headed;  /* `subgraph NAME {`: its name has begun the statement */
    bool operand; /* the operand that is being read is a group */
} group;

typedef struct scanner {
    paths__scan *scan;
    const char *file;
    const char *p, *end;
    unsigned line;
    char character;   /* of OTHER */
    uint64_t hash;    /* of NAME */
    char first;       /* of NAME in quotes: its first character, or 0 */
    unsigned start;   /* line where the token begins */
    bool quoted;      /* NAME in quotes or between < and > */
    bool html;        /* NAME between < and > */
    const char *word; /* NAME: where it begins, when not quoted */
    size_t word_bytes;

    group groups[DEPTH_MAX + 1];
    unsigned depth;  /* groups[0] is outside of the graph */
    bool brackets;   /* inside [ ... ] */
    bool plus;       /* a string is being put together: "a" + "b" */
    unsigned pluses; /* in that string so far */
    bool equals;     /* after =: what comes is a value */
    bool subgraph;   /* after the keyword, and after the name behind it */
    bool last_is_name;
    bool closed; /* the graph has ended */
    uint64_t last_hash;
    unsigned last_line;
    uint64_t groups_seen, names_seen, edges_seen, weight;
    uint64_t slots_max;
} scanner;

static int refuse(const scanner *s, unsigned line, const char *text)
{
    return pastset_fail(PASTSET_EMAP, "%.250s:%u: %s", s->file, line, text);
}

/* --- tables of hashes --- */

static name *names_slot(const names *table, uint64_t hash)
{
    for (size_t at = hash;; at++) {
        name *slot = &table->slots[at & (table->capacity - 1)];
        if (slot->hash == hash || slot->hash == 0)
            return slot;
    }
}

static bool names_reserve(names *table)
{
    names bigger = {NULL, table->capacity ? 2 * table->capacity : 64,
                    table->used};

    if (table->used < table->capacity / 2)
        return true;
    bigger.slots = calloc(bigger.capacity, sizeof(name));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].hash)
            *names_slot(&bigger, table->slots[i].hash) = table->slots[i];
    }
    free(table->slots);
    *table = bigger;
    return true;
}

/* Notes the first line of a name, unless a declaration comes. */
static int names_note(names *table, uint64_t hash, unsigned line, bool declared)
{
    name *slot;

    if (!names_reserve(table))
        return pastset_no_memory("to read a path map");
    slot = names_slot(table, hash);
    if (slot->hash == 0)
        table->used++;
    else if (slot->declared || !declared)
        return 0;
    *slot = (name){hash, line, declared};
    return 0;
}

static unsigned names_line(const names *table, const char *text)
{
    uint64_t hash = paths__hash(PATHS__HASH, text, strlen(text)) | 1;

    return table->capacity ? names_slot(table, hash)->line : 0;
}

/* --- tokens --- */

static int skip_comment(scanner *s)
{
    unsigned begin = s->line;

    for (s->p += 2; s->end - s->p >= 2; s->p++) {
        if (s->p[0] == '*' && s->p[1] == '/') {
            s->p += 2;
            return 0;
        }
        s->line += *s->p == '\n';
    }
    return refuse(s, begin, "this comment has no end: close it with */");
}

static void skip_line(scanner *s)
{
    while (s->p < s->end && *s->p != '\n')
        s->p++;
}

static bool starts(const scanner *s, const char *text)
{
    size_t length = strlen(text);

    return (size_t)(s->end - s->p) >= length && memcmp(s->p, text, length) == 0;
}

static int skip_blanks(scanner *s)
{
    while (s->p < s->end) {
        int err = 0;
        if (*s->p == '\n')
            s->line++;
        if (isspace((unsigned char)*s->p))
            s->p++;
        else if (starts(s, "/*"))
            err = skip_comment(s);
        else if (starts(s, "//") || *s->p == '#')
            skip_line(s);
        else
            break;
        if (err)
            return err;
    }
    return 0;
}

static void hash_byte(scanner *s, char c)
{
    s->hash = paths__hash(s->hash, &c, 1);
    if (!s->first)
        s->first = c;
}

/* The text in quotes: \" is a quote, a backslash before the end of the line
 * joins two lines, all else stays as it is. */
static int scan_quoted(scanner *s)
{
    for (s->p++; s->p < s->end; s->p++) {
        if (*s->p == '"') {
            s->p++;
            return 0;
        }
        s->line += *s->p == '\n';
        if (*s->p == '\\' && s->end - s->p >= 2) {
            char next = s->p[1];
            if (next == '"' || next == '\\' || next == '\n') {
                s->line += next == '\n';
                if (next == '\\')
                    hash_byte(s, '\\');
                if (next != '\n')
                    hash_byte(s, next);
                s->p++;
                continue;
            }
        }
        hash_byte(s, *s->p);
    }
    return refuse(s, s->start, "this string has no end: close it with \"");
}

static int scan_html(scanner *s)
{
    unsigned depth = 0;

    for (; s->p < s->end; s->p++) {
        s->line += *s->p == '\n';
        depth += *s->p == '<';
        if (*s->p == '>' && --depth == 0) {
            s->p++;
            return 0;
        }
        if (depth > 1 || *s->p != '<')
            hash_byte(s, *s->p);
    }
    return refuse(s, s->start, "this <text> has no end: close it with >");
}

static int scan_string(scanner *s)
{
    int err;

    if (!s->plus) {
        s->hash = PATHS__HASH;
        s->first = 0;
    }
    s->quoted = true;
    s->html = *s->p == '<';
    if (s->html && (!s->equals || s->plus))
        return refuse(s, s->start,
                      "text between < and > is for the values of attributes: "
                      "write names in quotes");
    err = s->html ? scan_html(s) : scan_quoted(s);
    if (!err && s->first == '%' && !s->brackets && !s->equals)
        return refuse(s, s->start,
                      "a name must not begin with %: Graphviz keeps that for "
                      "itself");
    return err;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The character `at` places on, or 0 behind the end. */
static char ahead(const scanner *s, size_t at)
{
    return (size_t)(s->end - s->p) > at ? s->p[at] : 0;
}

static bool is_number(const scanner *s)
{
    size_t at = ahead(s, 0) == '-';

    at += ahead(s, at) == '.';
    return is_digit(ahead(s, at));
}

static void skip_digits(scanner *s)
{
    while (is_digit(ahead(s, 0)))
        s->p++;
}

/* Behind the number must be a delimiter: cgraph would read 1.2.3 as two names
 * and 3a as two, and warn. */
static int scan_number(scanner *s)
{
    s->word = s->p;
    s->p += *s->p == '-';
    skip_digits(s);
    if (ahead(s, 0) == '.') {
        s->p++;
        skip_digits(s);
    }
    if (is_letter(ahead(s, 0)) || ahead(s, 0) == '.')
        return refuse(s, s->start,
                      "a name that begins with a digit or a dot must stand in "
                      "quotes, unless it is a number");
    return 0;
}

static void scan_letters(scanner *s)
{
    s->word = s->p;
    while (is_letter(ahead(s, 0)) || is_digit(ahead(s, 0)))
        s->p++;
}

static int scan_word(scanner *s)
{
    int err = 0;

    if (is_letter(*s->p))
        scan_letters(s);
    else
        err = scan_number(s);
    s->word_bytes = (size_t)(s->p - s->word);
    s->hash = paths__hash(PATHS__HASH, s->word, s->word_bytes);
    s->quoted = s->html = false;
    return err;
}

static bool is_keyword(const scanner *s, const char *keyword)
{
    return !s->quoted && s->word_bytes == strlen(keyword) &&
           strncasecmp(s->word, keyword, s->word_bytes) == 0;
}

static int next(scanner *s, token *out)
{
    int err = skip_blanks(s);
    char c;

    if (err)
        return err;
    s->start = s->line;
    *out = END;
    if (s->p == s->end)
        return 0;
    c = *s->p;
    *out = NAME;
    if (c == '"' || c == '<')
        return scan_string(s);
    if (is_letter(c) || is_number(s))
        return scan_word(s);
    if (starts(s, "->")) {
        *out = ARROW;
        s->p += 2;
        return 0;
    }
    *out = OTHER;
    s->character = *s->p++;
    return 0;
}

/* --- statements --- */

static group *innermost(scanner *s)
{
    return &s->groups[s->depth];
}

static int spend(scanner *s, uint64_t names_new, uint64_t edges_new)
{
    uint64_t keys = s->scan->keys.used + 1;

    s->names_seen += names_new * s->depth;
    /* Saturates far above the limit rather than wrap around. */
    if (__builtin_mul_overflow(edges_new, s->depth, &edges_new) ||
        __builtin_add_overflow(s->edges_seen, edges_new, &s->edges_seen) ||
        s->edges_seen > EDGES_MAX)
        return refuse(s, s->start,
                      "more than 4,194,304 edges: write edges between groups "
                      "of nodes as edges from one node to one node");
    if (s->names_seen > NAMES_MAX)
        return refuse(s, s->start, "more than 4,194,304 names of nodes");
    if ((s->names_seen + s->edges_seen) * keys > s->slots_max)
        return refuse(s, s->start,
                      "too many different attributes for this number of nodes");
    return 0;
}

/* The statement gains `count` nodes: by a name, or by a group that ended. */
static int operand(scanner *s, uint64_t count, bool is_group)
{
    group *g = innermost(s);
    uint64_t edges;

    switch (g->at) {
    case AFTER_COLON: /* a port of the node before */
        g->at = FRESH;
        return 0;
    case FRESH:
        g->left = 0;
        g->chain = 0;
        g->right = count;
        g->operand = is_group;
        break;
    case AFTER_ARROW:
        g->right = count;
        g->operand = is_group;
        break;
    case AFTER_COMMA:
        g->right += count;
        g->operand = true;
        break;
    }
    g->at = FRESH;
    if (g->left && g->operand)
        s->scan->grouped = true;
    if (__builtin_mul_overflow(g->left, count, &edges))
        edges = UINT64_MAX;
    return spend(s, 0, edges);
}

static int arrow(scanner *s)
{
    group *g = innermost(s);
    paths__scan *scan = s->scan;
    unsigned *lines =
        pastset_array_grow(scan->edge_lines, scan->edge_count, sizeof(*lines));

    if (!lines)
        return pastset_no_memory("to read a path map");
    scan->edge_lines = lines;
    lines[scan->edge_count++] = s->start;
    if (++g->chain > CHAIN_MAX)
        return refuse(s, s->start,
                      "more than 256 edges in one statement: write one edge a "
                      "statement");
    if (g->operand)
        scan->grouped = true;
    g->left = g->right;
    g->at = AFTER_ARROW;
    return 0;
}

static int open_group(scanner *s)
{
    bool headed = s->last_is_name && s->subgraph;

    if (s->depth == DEPTH_MAX)
        return refuse(s, s->start, "braces nested more than 32 deep");
    if (++s->groups_seen > GROUPS_MAX)
        return refuse(s, s->start, "more than 65,536 groups of nodes");
    s->groups[++s->depth] = (group){.headed = headed};
    return spend(s, 1, 0);
}

static int close_group(scanner *s)
{
    group ended = *innermost(s);

    if (s->depth == 0)
        return refuse(s, s->start, "a closing brace without an opening one");
    s->depth--;
    if (s->depth == 0) {
        s->closed = true;
        return 0;
    }
    if (ended.named)
        ended.nodes = s->weight;
    innermost(s)->nodes += ended.nodes;
    innermost(s)->named |= ended.named;
    if (ended.headed) /* its name was the operand, which now grows */
        innermost(s)->at = AFTER_COMMA;
    return operand(s, ended.nodes, true);
}

static int name_of_subgraph(scanner *s)
{
    group *g = innermost(s);

    g->named = true;
    if (names_note(&s->scan->subgraphs, s->hash | 1, s->start, true))
        return PASTSET_ENOMEM;
    return operand(s, s->weight, true);
}

static int name_of_node(scanner *s)
{
    group *g = innermost(s);
    int err;

    s->weight++;
    g->nodes++;
    if (g->at != AFTER_COLON &&
        names_note(&s->scan->nodes, s->hash | 1, s->start, false))
        return PASTSET_ENOMEM;
    err = spend(s, 1, 0);
    return err ? err : operand(s, 1, false);
}

static int name_token(scanner *s)
{
    bool keyword = is_keyword(s, "node") || is_keyword(s, "edge") ||
                   is_keyword(s, "graph");
    bool named = s->subgraph && !s->last_is_name;

    s->last_is_name = !keyword;
    s->last_hash = s->hash | 1;
    s->last_line = s->start;
    if (s->depth == 0 || s->brackets || s->plus || s->equals)
        return 0;
    if (named)
        return name_of_subgraph(s);
    s->subgraph = is_keyword(s, "subgraph");
    if (s->subgraph) {
        s->last_is_name = false;
        return 0;
    }
    if (keyword) {
        innermost(s)->at = FRESH;
        return 0;
    }
    return name_of_node(s);
}

static int open_brackets(scanner *s)
{
    s->brackets = true;
    /* `name [`: here the node is declared, unless it ends an edge. */
    if (s->last_is_name && s->depth && innermost(s)->left == 0)
        return names_note(&s->scan->nodes, s->last_hash, s->last_line, true);
    return 0;
}

static int key(scanner *s)
{
    if (!s->last_is_name)
        return 0;
    if (names_note(&s->scan->keys, s->last_hash, s->last_line, true))
        return PASTSET_ENOMEM;
    if (s->scan->keys.used > KEYS_MAX)
        return refuse(s, s->start, "more than 512 different attributes");
    return spend(s, 0, 0);
}

static int other_token(scanner *s)
{
    switch (s->character) {
    case '@':
        return refuse(s, s->start, "@ must stand in quotes");
    case '%':
        return refuse(s, s->start, "% must stand in quotes");
    case '+':
        if (s->html)
            return refuse(s, s->start,
                          "text between < and > cannot be added to");
        if (++s->pluses > PLUS_MAX)
            return refuse(s, s->start, "more than 256 strings put together");
        return 0;
    case '{':
        return open_group(s);
    case '}':
        return close_group(s);
    case '[':
        return open_brackets(s);
    case ']':
        s->brackets = false;
        return 0;
    case '=':
        return key(s);
    case ';':
        if (!s->brackets)
            innermost(s)->at = FRESH;
        return 0;
    case ',':
        if (!s->brackets)
            innermost(s)->at = AFTER_COMMA;
        return 0;
    case ':':
        innermost(s)->at = AFTER_COLON;
        return 0;
    default:
        return 0;
    }
}

static int scan_text(scanner *s)
{
    for (;;) {
        const char *before = s->p;
        token t;
        int err = next(s, &t);
        if (!err && (size_t)(s->p - before) > PIECE_MAX)
            err = refuse(s, s->start,
                         "a string or a comment of more than 64 KiB ends here");
        if (err || t == END)
            return err;
        if (s->closed)
            return refuse(s, s->start,
                          "there is something after the end of the graph: a "
                          "file holds one graph");
        if (t == NAME)
            err = name_token(s);
        else if (t == ARROW && s->depth && !s->brackets)
            err = arrow(s);
        else if (t == OTHER)
            err = other_token(s);
        if (err)
            return err;
        if (t != NAME)
            s->last_is_name = s->subgraph = false;
        s->equals = t == OTHER &&
                    (s->character == '=' || (s->equals && s->character == '+'));
        s->plus = t == OTHER && s->character == '+';
        if (t != NAME && !s->plus)
            s->pluses = 0;
    }
}

int paths__scan_create(paths__scan **out, const char *text, size_t bytes,
                       const char *file)
{
    scanner s = {.file = file,
                 .p = text,
                 .end = text + bytes,
                 .line = 1,
                 .slots_max = SLOTS_MAX + SLOTS_EACH * (uint64_t)bytes};
    int err;

    *out = NULL;
    if (s.slots_max > SLOTS_MOST)
        s.slots_max = SLOTS_MOST;
    if (bytes > PATHS__FILE_BYTES)
        return pastset_fail(PASTSET_EMAP, "%.250s: larger than 64 MiB", file);
    if (memchr(text, 0, bytes))
        return pastset_fail(
            PASTSET_EMAP, "%.250s: it contains a zero byte: not a text", file);
    s.scan = calloc(1, sizeof(*s.scan));
    if (!s.scan)
        return pastset_no_memory("to read a path map");
    err = scan_text(&s);
    if (!err && s.depth)
        err = refuse(&s, s.line, "the graph has no end: a } is missing");
    if (err)
        paths__scan_destroy(s.scan);
    else
        *out = s.scan;
    return err;
}

void paths__scan_destroy(paths__scan *scan)
{
    if (!scan)
        return;
    free(scan->nodes.slots);
    free(scan->subgraphs.slots);
    free(scan->keys.slots);
    free(scan->edge_lines);
    free(scan);
}

unsigned paths__scan_node_line(const paths__scan *scan, const char *text)
{
    return names_line(&scan->nodes, text);
}

unsigned paths__scan_subgraph_line(const paths__scan *scan, const char *text)
{
    return names_line(&scan->subgraphs, text);
}

unsigned paths__scan_edge_line(const paths__scan *scan, size_t position,
                               size_t count)
{
    if (scan->grouped || scan->edge_count != count)
        return 0;
    return scan->edge_lines[position];
}
