/* map_write.c - writing path maps as DOT, for people and for diff.
 *
 * One statement a line: the graph's attributes, each process with its nodes,
 * the nodes in no process, the edges. Attributes that a run knows come first,
 * in one order everywhere, then the others by name, so that reading what was
 * written and writing it again gives the same text. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/text.h"

/* --- words --- */

static bool is_keyword(const char *text)
{
    static const char *const keywords[] = {"node",    "edge",   "graph",
                                           "digraph", "strict", "subgraph"};

    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (strcasecmp(text, keywords[i]) == 0)
            return true;
    }
    return false;
}

static bool is_identifier(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_')
        return false;
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    }
    return true;
}

static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0)
        return false;
    text += digits;
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    return *text == 0;
}

/* In quotes only the quote is escaped. A backslash that would escape what
 * follows it can stand in a string only if it came from a program: it is
 * doubled, which is the nearest thing that DOT can say. */
static void write_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('\\', file);
        fputc(*text, file);
        if (*text != '\\')
            continue;
        if (text[1] == '\\') {
            fputc('\\', file);
            text++;
        } else if (text[1] == '"' || text[1] == '\n' || text[1] == 0) {
            fputc('\\', file);
        }
    }
    fputc('"', file);
}

static void write_word(FILE *file, const char *text)
{
    if ((is_identifier(text) && !is_keyword(text)) || is_number(text))
        fputs(text, file);
    else
        write_quoted(file, text);
}

static void write_value(FILE *file, const paths_attribute *item)
{
    if (item->html)
        fprintf(file, "<%s>", item->value);
    else
        write_word(file, item->value);
}

/* --- attributes --- */

/* What a reader looks for first. */
static int rank(const char *key)
{
    static const char *const first[] = {
        "number", "type", "policy", "capacity", "address",
        "as",     "use",  "id",     "trace",
    };

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        if (strcmp(key, first[i]) == 0)
            return (int)i;
    }
    return (int)(sizeof(first) / sizeof(first[0]));
}

static int compare(const void *a, const void *b)
{
    const paths_attribute *x = *(const paths_attribute *const *)a;
    const paths_attribute *y = *(const paths_attribute *const *)b;
    int by_rank = rank(x->key) - rank(y->key);

    return by_rank ? by_rank : strcmp(x->key, y->key);
}

typedef struct list {
    const paths_attribute **items;
    size_t count;
} list;

/* Sorts the attributes that are worth writing: not those that are inherited
 * anyway, and empty ones only where they override what would be. */
static int list_make(list *out, const paths_attributes *attributes,
                     const paths_attributes *inherited)
{
    out->count = 0;
    out->items = calloc(attributes->count + 1, sizeof(*out->items));
    if (!out->items)
        return pastset_no_memory("to write a path map");
    for (size_t i = 0; i < attributes->count; i++) {
        const paths_attribute *item = &attributes->items[i];
        const char *otherwise = paths_attributes_get(inherited, item->key);
        if (strcmp(item->value, otherwise ? otherwise : "") != 0)
            out->items[out->count++] = item;
    }
    qsort(out->items, out->count, sizeof(*out->items), compare);
    return 0;
}

/* Writes " [kind=..., key=value, ...];". */
static int write_list(FILE *file, const char *kind,
                      const paths_attributes *attributes,
                      const paths_attributes *inherited)
{
    const char *between = " [";
    list l;
    int err = list_make(&l, attributes, inherited);

    if (err)
        return err;
    if (kind[0]) {
        fputs(" [kind=", file);
        write_word(file, kind);
        between = ", ";
    }
    for (size_t i = 0; i < l.count; i++) {
        fputs(between, file);
        write_word(file, l.items[i]->key);
        fputc('=', file);
        write_value(file, l.items[i]);
        between = ", ";
    }
    fputs(between[0] == ',' ? "];\n" : ";\n", file);
    free(l.items);
    return 0;
}

/* Writes each attribute as a statement. */
static int write_statements(FILE *file, const char *indent,
                            const paths_attributes *attributes,
                            const paths_attributes *inherited)
{
    list l;
    int err = list_make(&l, attributes, inherited);

    if (err)
        return err;
    for (size_t i = 0; i < l.count; i++) {
        fputs(indent, file);
        write_word(file, l.items[i]->key);
        fputc('=', file);
        write_value(file, l.items[i]);
        fputs(";\n", file);
    }
    free(l.items);
    return 0;
}

/* --- the map --- */

static int write_node(FILE *file, const char *indent, const paths_map *map,
                      const paths_map_node *node)
{
    fputs(indent, file);
    write_word(file, node->name);
    return write_list(file, node->type, &node->attributes, &map->node_defaults);
}

/* The nodes of all processes, sorted by process without changing their order:
 * where process h begins is begin[h], and those in no process come last. */
typedef struct order {
    uint32_t *begin, *nodes;
} order;

static int order_make(order *out, const paths_map *map)
{
    uint32_t none = map->process_count;

    out->begin = calloc((size_t)none + 3, sizeof(uint32_t));
    out->nodes = calloc((size_t)map->node_count + 1, sizeof(uint32_t));
    if (!out->begin || !out->nodes)
        return pastset_no_memory("to write a path map");
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint32_t process = map->nodes[i].process;
        out->begin[(process == PATHS_NONE ? none : process) + 2]++;
    }
    for (uint32_t h = 0; h < none; h++)
        out->begin[h + 2] += out->begin[h + 1];
    /* begin[h + 1] is where the next node of process h goes, and so, when all
     * have gone there, where process h + 1 begins. */
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint32_t process = map->nodes[i].process;
        out->nodes[out->begin[(process == PATHS_NONE ? none : process) + 1]++] =
            i;
    }
    return 0;
}

static int write_process(FILE *file, const paths_map *map, uint32_t process,
                         const order *o)
{
    const paths_map_process *h = &map->processes[process];
    char *cluster;
    int err;

    if (asprintf(&cluster, "cluster_%s", h->name) < 0)
        return pastset_no_memory("to write a path map");
    fputs("    subgraph ", file);
    write_word(file, cluster);
    free(cluster);
    fputs(" {\n", file);
    err = write_statements(file, "        ", &h->attributes, &map->attributes);
    for (uint32_t i = o->begin[process]; i < o->begin[process + 1] && !err; i++)
        err = write_node(file, "        ", map, &map->nodes[o->nodes[i]]);
    fputs("    }\n", file);
    return err;
}

/* The mistake of a node in two processes is written as it was read. */
static int write_second_processes(FILE *file, const paths_map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        char *cluster;
        if (node->second_process == PATHS_NONE)
            continue;
        if (asprintf(&cluster, "cluster_%s",
                     map->processes[node->second_process].name) < 0)
            return pastset_no_memory("to write a path map");
        fputs("    subgraph ", file);
        write_word(file, cluster);
        fputs(" { ", file);
        write_word(file, node->name);
        fputs("; }\n", file);
        free(cluster);
    }
    return 0;
}

static int write_defaults(FILE *file, const char *what,
                          const paths_attributes *defaults)
{
    static const paths_attributes none;

    if (defaults->count == 0)
        return 0;
    fprintf(file, "    %s", what);
    return write_list(file, "", defaults, &none);
}

static int write_head(FILE *file, const paths_map *map)
{
    static const paths_attributes none;
    int err;

    fputs("digraph ", file);
    if (map->name[0]) {
        write_word(file, map->name);
        fputc(' ', file);
    }
    fputs("{\n", file);
    err = write_statements(file, "    ", &map->attributes, &none);
    if (!err)
        err = write_defaults(file, "node", &map->node_defaults);
    return err ? err : write_defaults(file, "edge", &map->edge_defaults);
}

static int write_nodes(FILE *file, const paths_map *map)
{
    uint32_t none = map->process_count;
    order o;
    int err = order_make(&o, map);

    for (uint32_t h = 0; h < none && !err; h++)
        err = write_process(file, map, h, &o);
    for (uint32_t i = err ? 0 : o.begin[none]; !err && i < o.begin[none + 1];
         i++)
        err = write_node(file, "    ", map, &map->nodes[o.nodes[i]]);
    free(o.begin);
    free(o.nodes);
    return err ? err : write_second_processes(file, map);
}

static int write_edges(FILE *file, const paths_map *map)
{
    int err = 0;

    for (uint32_t i = 0; i < map->edge_count && !err; i++) {
        const paths_map_edge *edge = &map->edges[i];
        fputs("    ", file);
        write_word(file, map->nodes[edge->from].name);
        fputs(" -> ", file);
        write_word(file, map->nodes[edge->to].name);
        err = write_list(file, "", &edge->attributes, &map->edge_defaults);
    }
    return err;
}

int paths_map_write(const paths_map *map, FILE *file)
{
    int err = write_head(file, map);

    if (err)
        return err;
    err = write_nodes(file, map);
    if (err)
        return err;
    err = write_edges(file, map);
    if (err)
        return err;
    fputs("}\n", file);
    if (fflush(file) != 0 || ferror(file))
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot write a path map: %s", strerror(errno));
    return 0;
}

/* --- files --- */

static int save(const paths_map *map, int fd)
{
    FILE *stream = fdopen(fd, "w");
    int err;

    if (!stream) {
        err = pastset_no_memory("to write a path map");
        close(fd);
        return err;
    }
    err = paths_map_write(map, stream);
    if (fclose(stream) != 0 && !err)
        err = pastset_fail(PASTSET_EIO, "cannot write a path map: %s",
                           strerror(errno));
    return err;
}

/* A device or a pipe is written to; it must not be replaced by a file. */
static bool is_special(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 && !S_ISREG(status.st_mode);
}

int paths_map_text(char **out, size_t *bytes, const paths_map *map)
{
    FILE *file = pastset_text_begin(out, bytes);
    int err =
        file ? paths_map_write(map, file) : pastset_no_memory("for a map");

    if (file && !pastset_text_end(file) && !err)
        err = pastset_no_memory("for a map");
    if (err) {
        free(*out);
        *out = NULL;
    }
    return err;
}

int paths_map_save(const paths_map *map, const char *file)
{
    char *temporary;
    bool special = is_special(file);
    int err = 0, fd;

    if (asprintf(&temporary, special ? "%s" : "%s.%ld.new", file,
                 (long)getpid()) < 0)
        return pastset_fail(PASTSET_ENOMEM, "%.250s: no memory to write it",
                            file);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        err = pastset_fail(PASTSET_EIO, "%.250s: cannot write it: %s", file,
                           strerror(errno));
        free(temporary);
        return err;
    }
    err = save(map, fd);
    if (!err && !special && rename(temporary, file) != 0)
        err = pastset_fail(PASTSET_EIO, "cannot write it: %s", strerror(errno));
    if (err) {
        if (!special)
            unlink(temporary);
        pastset_fail_while(err, "%.250s", file);
    }
    free(temporary);
    return err;
}
