/* map_check.c - everything that a run relies on, checked beforehand.
 *
 * All diagnostics are collected, since people mend several things at a time.
 * Each says what is wrong and what to do. Diagnostics come in the order graph,
 * processes, nodes, edges, paths, and within each in the order of the file. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/net/address.h"
#include "paths/generate/generate.h"
#include "paths/generate/generate_internal.h"
#include "paths/map/attribute_types.h"
#include "paths/map/map_internal.h"
#include "paths/map/networks_internal.h"
#include "paths/map/nearest_word.h"
#include "paths/wrappers/wrapper.h"
#include "pastset/element.h"
#include "pastset/status.h"
#include "pastset/type.h"

#define PROCESS_NAME_BYTES 100
#define PATH_NODES_MAX 4096 /* of one path, over all processes */

/* --- diagnostics --- */

typedef struct checker {
    const paths_map *map;
    paths_diagnostics *diagnostics;
    int err; /* PASTSET_ENOMEM when a diagnostic could not be kept */
} checker;

static void __attribute__((format(printf, 4, 5)))
diagnose(checker *c, unsigned line, const char *node, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (paths__diagnose_list(c->diagnostics, line, node, format, arguments))
        c->err = PASTSET_ENOMEM;
    va_end(arguments);
}

static void __attribute__((format(printf, 3, 4)))
diagnose_edge(checker *c, uint32_t index, const char *format, ...)
{
    const paths_map_edge *edge = &c->map->edges[index];
    va_list arguments;
    char *name;

    if (asprintf(&name, "%s -> %s", c->map->nodes[edge->from].name,
                 c->map->nodes[edge->to].name) < 0) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    va_start(arguments, format);
    if (paths__diagnose_list(c->diagnostics, edge->line, name, format,
                             arguments))
        c->err = PASTSET_ENOMEM;
    va_end(arguments);
    free(name);
}

/* --- words and lists of words --- */

/* A row of words, "a, b, c", cut with "..." when it does not fit. */
typedef struct words {
    char text[400];
    size_t used;
} words;

static void words_add(words *w, const char *between, const char *word)
{
    size_t capacity = sizeof(w->text) - w->used;
    int length = snprintf(w->text + w->used, capacity, "%s%s",
                          w->used ? between : "", word);

    if (length >= 0 && (size_t)length + 4 < capacity)
        w->used += (size_t)length;
    else
        snprintf(w->text + w->used, capacity, "...");
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

/* --- processes --- */

static bool is_file_name(const char *name)
{
    if (name[0] == 0 || name[0] == '.' || strlen(name) > PROCESS_NAME_BYTES)
        return false;
    for (; *name; name++) {
        if (!strchr("_.-", *name) &&
            !((*name >= 'a' && *name <= 'z') ||
              (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9')))
            return false;
    }
    return true;
}

typedef struct place {
    paths_address address;
    uint32_t process;
} place;

static int compare_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = memcmp(&x->address.socket, &y->address.socket,
                       sizeof(x->address.socket));

    return order ? order
                 : (x->process > y->process) - (x->process < y->process);
}

static bool is_one_place(const place *a, const place *b)
{
    return memcmp(&a->address.socket, &b->address.socket,
                  sizeof(a->address.socket)) == 0;
}

/* Private networks may use the same addresses. */
static void check_places(checker *c, place *places, size_t count)
{
    const paths_map_process *processes = c->map->processes;
    paths__networks *networks = NULL;

    if (paths__networks_create(&networks, c->map) != 0)
        return; /* that has been said */
    qsort(places, count, sizeof(*places), compare_place);
    for (size_t i = 1; i < count; i++) {
        const place *b = &places[i], *a = b - 1;
        while (a >= places && is_one_place(a, b) &&
               !paths__networks_reach(networks, a->process, b->process))
            a--;
        if (b->address.port && a >= places && is_one_place(a, b))
            diagnose(c, processes[b->process].line, processes[b->process].name,
                     "has the address and port of process %s: give it another "
                     "port, or none for any free one",
                     processes[a->process].name);
    }
    paths__networks_destroy(networks);
}

/* What upper layers read. */
static void check_types(checker *c, const paths_map_process *process)
{
    const paths_attribute_type *type;

    for (size_t i = 0; (type = paths_attribute_at(i)); i++) {
        const char *value =
            paths_attributes_get(&process->attributes, type->name);
        if (type->of_processes && type->check && value && value[0] &&
            type->check(value) != 0)
            diagnose(c, process->line, process->name, "%s", pastset_error());
    }
}

/* Of a process, or of the graph, for all that do not say it. */
static void check_encrypt(checker *c, const paths_attributes *attributes,
                          uint32_t line, const char *name)
{
    const char *encrypt = paths_attributes_get(attributes, "encrypt");

    if (encrypt && strcmp(encrypt, "auto") != 0 &&
        strcmp(encrypt, "always") != 0 && strcmp(encrypt, "never") != 0)
        diagnose(c, line, name, "encrypt=%s: choose auto, always or never",
                 encrypt);
}

/* An attribute that is true or false. */
static void check_truth(checker *c, const paths_attributes *attributes,
                        const char *key, uint32_t line, const char *name)
{
    const char *value = paths_attributes_get(attributes, key);

    if (value && *value && strcmp(value, "true") != 0 &&
        strcmp(value, "false") != 0)
        diagnose(c, line, name, "%s=%s: choose true or false", key, value);
}

/* Processes and the graph may have others, which programs read; but one that is
 * nearly like ours is that one. `outer`: what it has from there is not its own.
 */
static void check_misspelt(checker *c, const paths_attributes *attributes,
                           const paths_attributes *outer, uint32_t line,
                           const char *name)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const paths_attribute *item = &attributes->items[i];
        const char *inherited =
            outer ? paths_attributes_get(outer, item->key) : NULL;
        const char *meant = NULL;
        if (item->value[0] && !paths__attribute_draws(item->key) &&
            !(inherited && strcmp(inherited, item->value) == 0))
            meant = paths__attribute_meant(item->key);
        if (meant)
            diagnose(c, line, name, "has an attribute %s; did you mean %s?",
                     item->key, meant);
    }
}

static void check_networks(checker *c, const paths_map_process *process)
{
    const char *text = paths_attributes_get(&process->attributes, "networks");

    const char *own = paths_attributes_get(&process->attributes, "address");

    if (text && (paths__networks_check(text) != 0 ||
                 paths__networks_check_family(text, own) != 0))
        diagnose(c, process->line, process->name, "%s", pastset_error());
}

static void check_process(checker *c, const paths_map_process *process)
{
    check_encrypt(c, &process->attributes, process->line, process->name);
    check_networks(c, process);
    check_misspelt(c, &process->attributes, &c->map->attributes, process->line,
                   process->name);
    if (!is_file_name(process->name))
        diagnose(c, process->line, process->name,
                 "a process's files are named after it: use 1 to %d letters, "
                 "digits, _ . and -, and no . in front",
                 PROCESS_NAME_BYTES);
    check_types(c, process);
}

/* The first process is joined by all others, and those of an edge talk to each
 * other: by way of others, if need be. */
static void check_ways(checker *c)
{
    const paths_map *map = c->map;
    paths__networks *networks;

    if (paths__networks_create(&networks, map) != 0)
        return; /* that has been said */
    for (uint32_t i = 1; networks && i < map->process_count; i++) {
        const paths_map_process *process = &map->processes[i];
        if (paths__networks_next(networks, i, 0) == PATHS_NONE)
            diagnose(c, process->line, process->name,
                     "networks: there is no way from here to process %s: put "
                     "it into a network of one that has a way",
                     map->processes[0].name);
    }
    paths__networks_destroy(networks);
}

static void check_processes(checker *c)
{
    const paths_map *map = c->map;
    place *places = calloc((size_t)map->process_count + 1, sizeof(*places));
    size_t count = 0;

    if (!places) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    check_misspelt(c, &map->attributes, NULL, 0, map->name);
    for (uint32_t i = 0; i < map->process_count; i++) {
        const paths_map_process *process = &map->processes[i];
        const char *text =
            paths_attributes_get(&process->attributes, "address");
        check_process(c, process);
        if (!text || !text[0])
            continue;
        places[count].process = i;
        if (paths_address_parse(&places[count].address, text) == 0)
            count++;
        else
            diagnose(c, process->line, process->name, "address: %s",
                     pastset_error());
    }
    check_places(c, places, count);
    check_ways(c);
    free(places);
}

/* --- nodes --- */

static void known_wrappers(words *out)
{
    const paths_wrapper_type *type;

    for (size_t i = 0; (type = paths_wrapper_at(i)); i++)
        words_add(out, ", ", type->name);
}

static void check_place(checker *c, const paths_map_node *node)
{
    if (node->process == PATHS_NONE)
        diagnose(c, node->line, node->name,
                 "is in no process: put it into a subgraph cluster_PROCESS");
    if (node->second_process != PATHS_NONE)
        diagnose(
            c, node->line, node->name,
            "is in two processes, %s and %s: nodes with the same name are one "
            "node; put it into one of them, or give two nodes different names",
            c->map->processes[node->process].name,
            c->map->processes[node->second_process].name);
}

/* Complains about attributes that nobody looks at: most are misspelt. */
static void check_attributes(checker *c, const paths_map_node *node,
                             const char *const *own)
{
    for (size_t i = 0; i < node->attributes.count; i++) {
        const paths_attribute *item = &node->attributes.items[i];
        words known = {"", 0};
        if (!item->value[0] || paths__attribute_draws(item->key) ||
            is_one_of(item->key, own))
            continue;
        for (size_t k = 0; own[k]; k++)
            words_add(&known, ", ", own[k]);
        diagnose(c, node->line, node->name,
                 "has an unknown attribute, %s: %s has %s%s", item->key,
                 node->type, known.used ? "" : "no attributes but Graphviz's",
                 known.text);
    }
}

static void check_thread(checker *c, const paths_map_node *node,
                         uint32_t threads, uint32_t *seen, bool numbered)
{
    const paths_map *map = c->map;
    const char *text = paths_node_get(node, "number");
    uint64_t number;

    if (node->out_count == 0)
        diagnose(c, node->line, node->name,
                 "has no path: add an edge from it to an element or a "
                 "wrapper");
    if (!text && !numbered)
        return;
    if (!text)
        diagnose(c, node->line, node->name,
                 "has no number: threads are numbered 0 to %u, each once",
                 threads - 1);
    else if (paths_parse_number(text, &number) != 0 || number >= threads)
        diagnose(c, node->line, node->name,
                 "number=%s: threads are numbered 0 to %u, each once", text,
                 threads - 1);
    else if (seen[number] != 0)
        diagnose(c, node->line, node->name,
                 "number=%s: thread %s has that number too", text,
                 map->nodes[seen[number] - 1].name);
    else
        seen[number] = (uint32_t)(node - map->nodes) + 1;
}

static void check_element_name(checker *c, const paths_map_node *node)
{
    const paths_wrapper_type *type;

    if (strlen(node->name) >= PASTSET_NAME_BYTES)
        diagnose(c, node->line, node->name,
                 "the name of an element has at most %d bytes",
                 PASTSET_NAME_BYTES - 1);
    for (size_t i = 0; (type = paths_wrapper_at(i)) != NULL; i++) {
        const char *prefix = type->element_prefix;
        if (prefix && strncmp(node->name, prefix, strlen(prefix)) == 0)
            diagnose(c, node->line, node->name,
                     "names that begin with \"%s\" are for elements that "
                     "kind=%s makes: choose another",
                     prefix, type->name);
    }
    if (paths_element_is_internal(node->name))
        diagnose(c, node->line, node->name,
                 "names that begin with \"~\" are reserved for elements of "
                 "EventSpace itself: choose another");
}

static void check_type(checker *c, const paths_map_node *node, bool needed)
{
    const char *text = paths_node_get(node, "type");
    pastset_type type;

    if (needed && (!text || !text[0]))
        diagnose(c, node->line, node->name,
                 "has no type: say what its tuples are, as in "
                 "type=\"i32 f64[128]\"");
    else if (text && text[0] && pastset_type_parse(&type, text) != 0)
        diagnose(c, node->line, node->name, "%s", pastset_error());
}

static void check_element(checker *c, const paths_map_node *node,
                          const char *const *own, bool needs_type)
{
    const char *policy = paths_node_get(node, "policy");
    pastset_policy found;
    uint64_t capacity = 1;

    check_element_name(c, node);
    check_attributes(c, node, own);
    check_type(c, node, needs_type);
    if (policy && policy[0] && pastset_policy_parse(&found, policy) != 0)
        diagnose(c, node->line, node->name,
                 "policy=%s: choose block, discard or grow", policy);
    if (paths_node_get(node, "capacity") &&
        paths_parse_number(paths_node_get(node, "capacity"), &capacity) != 0)
        diagnose(c, node->line, node->name, "capacity: %s", pastset_error());
    else if (capacity == 0)
        diagnose(c, node->line, node->name,
                 "capacity=0: it holds at least one tuple");
    check_truth(c, &node->attributes, "kept", node->line, node->name);
    /* A mapping need not say it: what is made of it discards. */
    if (paths_node_is_kept(node) && paths_node_policy(node) == PASTSET_BLOCK &&
        (policy || c->map->process_count))
        diagnose(c, node->line, node->name,
                 "kept=true: nobody takes out what is kept, and with "
                 "policy=block its writer would wait for that: write "
                 "policy=discard");
    if (node->out_count)
        diagnose(c, node->line, node->name,
                 "an edge leaves it: an element is where paths end; turn the "
                 "edge around if %s reads from it",
                 c->map->nodes[c->map->edges[node->out[0]].to].name);
}

/* Is it one of the words of the graph's `wrappers`: a type that the program
 * brings, and this process need not have? */
static bool is_programs_own(const paths_map *map, const char *type)
{
    const char *own = paths_attributes_get(&map->attributes, "wrappers");
    size_t length = strlen(type);

    for (const char *at = own; at && (at = strstr(at, type)); at += length) {
        if ((at == own || at[-1] == ' ') &&
            (at[length] == 0 || at[length] == ' '))
            return true;
    }
    return false;
}

/* Does it answer itself? Of a type that is not known here its `type` tells. */
static bool is_source(const paths_map *map, const paths_map_node *node)
{
    const paths_wrapper_type *type =
        node->kind == PATHS_WRAPPER ? paths_wrapper_find(node->type) : NULL;

    return type ? type->source
                : paths_node_is_end(node) && is_programs_own(map, node->type);
}

static void check_source(checker *c, const paths_map_node *node)
{
    check_type(c, node, true);
    if (node->out_count)
        diagnose(c, node->line, node->name,
                 "an edge leaves it: a %s is a source, where paths end",
                 node->type);
}

static void check_wrapper(checker *c, const paths_map_node *node)
{
    static const char *const no_words[] = {NULL};
    const paths_wrapper_type *type = paths_wrapper_find(node->type);

    if (!type && !is_programs_own(c->map, node->type)) {
        words known = {"", 0};
        known_wrappers(&known);
        diagnose(c, node->line, node->name,
                 "kind=%s is not known: choose thread, element, or one of the "
                 "wrappers %s; declare a wrapper of the program's own on the "
                 "graph, as in graph [wrappers=\"%s\"]",
                 node->type, known.text, node->type);
    } else if (type) {
        check_attributes(c, node,
                         type->attributes ? type->attributes : no_words);
        if (type->check)
            type->check(c->map, node, c->diagnostics);
    }
    if (is_source(c->map, node)) {
        check_source(c, node);
        return;
    }
    if (node->out_count == 0)
        diagnose(c, node->line, node->name,
                 "no edge leaves it: add one to where its path continues");
    if (node->out_count > 1)
        diagnose(c, node->line, node->name,
                 "%u edges leave it: a path has one way down; give each path "
                 "a wrapper of its own",
                 node->out_count);
}

static void check_node(checker *c, const paths_map_node *node, uint32_t threads,
                       uint32_t *seen)
{
    static const char *const own[] = {"type", "policy", "capacity", "kept",
                                      NULL};

    check_place(c, node);
    if (node->kind == PATHS_THREAD)
        check_thread(c, node, threads, seen, true);
    else if (node->kind == PATHS_ELEMENT)
        check_element(c, node, own, true);
    else if (node->type[0])
        check_wrapper(c, node);
    else
        diagnose(c, node->line, node->name,
                 "has no kind: is it a thread, an element or a wrapper? "
                 "(a name that only edges mention may be misspelt)");
}

static void check_nodes(checker *c)
{
    const paths_map *map = c->map;
    uint32_t threads = paths_map_threads(map);
    uint32_t *seen = calloc((size_t)threads + 1, sizeof(*seen));

    if (!seen) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    if (threads == 0)
        diagnose(c, 0, "",
                 "there is no thread in the map: a run needs at least one");
    for (uint32_t i = 0; i < map->node_count; i++)
        check_node(c, &map->nodes[i], threads, seen);
    free(seen);
}

/* --- edges --- */

static bool is_proxy(const paths_map_node *node)
{
    return strcmp(node->type, "proxy") == 0;
}

static void check_edge(checker *c, uint32_t index)
{
    const paths_map_edge *edge = &c->map->edges[index];
    const paths_map_node *from = &c->map->nodes[edge->from];
    const paths_map_node *to = &c->map->nodes[edge->to];

    if (to->kind == PATHS_THREAD)
        diagnose_edge(c, index,
                      "an edge leads to a thread: paths begin there; to read, "
                      "write %s -> %s with use=read",
                      to->name, from->name);
    else if (!is_proxy(from) && from->process != to->process &&
             from->process != PATHS_NONE && to->process != PATHS_NONE)
        diagnose_edge(
            c, index,
            "goes from process %s to process %s without a proxy: put one "
            "between, on process %s",
            c->map->processes[from->process].name,
            c->map->processes[to->process].name,
            c->map->processes[from->process].name);
}

/* --- paths --- */

/* Reports each cycle once. Wrappers have one way down (more is complained
 * about elsewhere), so following the first is enough: walks leave their
 * number on what they pass, and one that meets its own number has found a
 * cycle that no walk before has passed. */
static void check_cycles(checker *c)
{
    const paths_map *map = c->map;
    uint32_t *passed = calloc((size_t)map->node_count + 1, sizeof(*passed));

    if (!passed) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < map->node_count; i++) {
        words names = {"", 0};
        uint32_t at = i, first;
        while (!passed[at] && map->nodes[at].kind == PATHS_WRAPPER &&
               map->nodes[at].out_count) {
            passed[at] = i + 1;
            at = map->edges[map->nodes[at].out[0]].to;
        }
        if (passed[at] != i + 1)
            continue;
        first = at;
        do {
            words_add(&names, " -> ", map->nodes[at].name);
            at = map->edges[map->nodes[at].out[0]].to;
        } while (at != first);
        words_add(&names, " -> ", map->nodes[first].name);
        diagnose(c, map->nodes[first].line, map->nodes[first].name,
                 "its path leads back to itself: %s", names.text);
    }
    free(passed);
}

/* Returns the node where the path ends; an element or a source if all is
 * well. */
static uint32_t walk(checker *c, uint32_t index)
{
    const paths_map *map = c->map;
    uint32_t at = map->edges[index].to, stages = 0, process = PATHS_NONE;
    uint32_t oversubscribed = PATHS_NONE; /* a process with too many stages */

    for (int i = 0; i < PATH_NODES_MAX; i++) {
        const paths_map_node *node = &map->nodes[at];
        stages = node->process == process ? stages + 1 : 1;
        process = node->process;
        if (stages > PATHS_STAGES_MAX)
            oversubscribed = process;
        if (node->kind != PATHS_WRAPPER || node->out_count == 0)
            break;
        at = map->edges[node->out[0]].to;
    }
    if (oversubscribed != PATHS_NONE && paths_node_is_end(&map->nodes[at]))
        diagnose_edge(c, index,
                      "the path that begins here has more than %d stages in a "
                      "row on process %s: take some out",
                      PATHS_STAGES_MAX, map->processes[oversubscribed].name);
    return at;
}

/* The type that the program expects, if the edge says one. */
static void check_expected(checker *c, uint32_t index,
                           const paths_map_node *end)
{
    const paths_map_edge *edge = &c->map->edges[index];
    const char *expected = paths_attributes_get(&edge->attributes, "type");
    const char *actual = paths_node_get(end, "type");
    pastset_type a, b;

    if (!expected || !expected[0])
        return;
    if (pastset_type_parse(&a, expected) != 0)
        diagnose_edge(c, index, "%s", pastset_error());
    else if (actual && pastset_type_parse(&b, actual) == 0 &&
             !pastset_type_equal(&a, &b))
        diagnose_edge(c, index,
                      "expects tuples of type \"%s\", but those of %s are "
                      "\"%s\": make the two the same",
                      a.text, end->name, b.text);
}

static void check_use(checker *c, uint32_t index)
{
    static const char *const uses[] = {"read", "write", "both", NULL};
    const char *use =
        paths_attributes_get(&c->map->edges[index].attributes, "use");

    if (use && use[0] && !is_one_of(use, uses) && !paths_is_collective(use))
        diagnose_edge(c, index,
                      "use=%s: choose read, write, both or the kind of a "
                      "collective wrapper, such as sum",
                      use);
}

static void check_path(checker *c, uint32_t index)
{
    const paths_map_node *end = &c->map->nodes[walk(c, index)];

    check_use(c, index);
    if (end->kind == PATHS_ELEMENT || is_source(c->map, end))
        check_expected(c, index, end);
    else
        diagnose_edge(c, index,
                      "the path that begins here does not lead to an element: "
                      "it ends at %s",
                      end->name);
}

typedef struct opened {
    const char *as;
    uint32_t edge;
} opened;

static int compare_opened(const void *a, const void *b)
{
    const opened *x = a, *y = b;
    int order = strcmp(x->as, y->as);

    return order ? order : (x->edge > y->edge) - (x->edge < y->edge);
}

/* The program opens paths by name: each must lead one way. */
static void check_names(checker *c, const paths_map_node *thread)
{
    opened *list = calloc((size_t)thread->out_count + 1, sizeof(*list));

    if (!list) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < thread->out_count; i++) {
        list[i].edge = thread->out[i];
        list[i].as = paths__path_name(c->map, thread->out[i]);
    }
    qsort(list, thread->out_count, sizeof(*list), compare_opened);
    for (uint32_t i = 1; i < thread->out_count; i++) {
        if (strcmp(list[i - 1].as, list[i].as) == 0)
            diagnose_edge(c, list[i].edge,
                          "thread %s has another path called \"%s\", in line "
                          "%u: give each a name of its own with as=NAME",
                          thread->name, list[i].as,
                          c->map->edges[list[i - 1].edge].line);
    }
    free(list);
}

static void check_paths(checker *c)
{
    const paths_map *map = c->map;

    check_cycles(c);
    for (uint32_t i = 0; i < map->edge_count; i++) {
        if (map->nodes[map->edges[i].from].kind == PATHS_THREAD)
            check_path(c, i);
    }
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (map->nodes[i].kind == PATHS_THREAD)
            check_names(c, &map->nodes[i]);
    }
}

/* --- what is kept --- */

static bool keeps_any(const paths_map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (paths_node_is_kept(&map->nodes[i]))
            return true;
    }
    return false;
}

/* `writers`: by node, the thread that writes it; PATHS_NONE: none so far. */
static void check_keeper(checker *c, uint32_t index, uint32_t *writers)
{
    const paths_map *map = c->map;
    const paths_map_edge *edge = &map->edges[index];
    const paths_map_node *thread = &map->nodes[edge->from], *end;
    const char *use = paths_attributes_get(&edge->attributes, "use");
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = thread->kind == PATHS_THREAD
                       ? paths_map_walk(map, index, nodes, PATHS_PATH_NODES)
                       : 0;

    end = count ? &map->nodes[nodes[count - 1]] : NULL;
    if (!end || !paths_node_is_kept(end) || (use && strcmp(use, "read") == 0))
        return;
    if (end->process != thread->process)
        diagnose_edge(c, index,
                      "%s is kept=true: it has to be in the process of the "
                      "thread that writes it",
                      end->name);
    else if (writers[nodes[count - 1]] != PATHS_NONE &&
             writers[nodes[count - 1]] != edge->from)
        diagnose_edge(c, index,
                      "%s is kept=true, and %s writes it already: give each "
                      "thread one of its own (use=read, if it only reads)",
                      end->name, map->nodes[writers[nodes[count - 1]]].name);
    else
        writers[nodes[count - 1]] = edge->from;
}

/* What a thread has committed is what it has written itself, where it is. */
static void check_kept(checker *c)
{
    const paths_map *map = c->map;
    uint32_t *writers;

    if (!keeps_any(map))
        return;
    writers = malloc(((size_t)map->node_count + 1) * sizeof(*writers));
    if (!writers) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < map->node_count; i++)
        writers[i] = PATHS_NONE;
    for (uint32_t i = 0; i < map->edge_count; i++)
        check_keeper(c, i, writers);
    free(writers);
}

/* --- application mappings --- */

/* Of a mapping threads need no numbers, if none has one. */
static bool has_numbers(const paths_map *a)
{
    bool some = false;

    for (uint32_t i = 0; i < a->node_count; i++)
        some |= a->nodes[i].kind == PATHS_THREAD &&
                paths_node_get(&a->nodes[i], "number");
    return some;
}

static bool is_barrier(const paths_map *a, const paths_map_node *element)
{
    const paths_map_edge *edge =
        element->in_count ? &a->edges[element->in[0]] : NULL;
    const char *use =
        edge ? paths_attributes_get(&edge->attributes, "use") : NULL;

    return use && strcmp(use, "barrier") == 0;
}

static void check_mapped(checker *c)
{
    const char *own[16] = {"type", "policy", "capacity", "kept"};
    const paths_map *a = c->map;
    uint32_t threads = paths_map_threads(a);
    uint32_t *seen = calloc((size_t)threads + 1, sizeof(*seen));
    bool numbered = has_numbers(a);

    if (!seen) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    for (size_t i = 0; paths__tree_attributes[i]; i++)
        own[4 + i] = paths__tree_attributes[i];
    for (uint32_t i = 0; i < a->node_count; i++) {
        const paths_map_node *node = &a->nodes[i];
        if (node->kind == PATHS_THREAD)
            check_thread(c, node, threads, seen, numbered);
        else if (node->kind == PATHS_ELEMENT)
            check_element(c, node, own, !is_barrier(a, node));
    }
    free(seen);
}

/* The name that was probably meant: of a node of this kind that has no edge, as
 * the one that is misspelt is missing there; else of any. */
static const char *nearest_node(const checker *c, const char *word,
                                paths_kind kind, const char **names)
{
    const char *nearest = NULL;

    for (int all = 0; all < 2 && !nearest; all++) {
        size_t count = 0;
        for (uint32_t i = 0; i < c->map->node_count; i++) {
            const paths_map_node *node = &c->map->nodes[i];
            if (node->kind == kind &&
                (all || node->in_count + node->out_count == 0))
                names[count++] = node->name;
        }
        nearest = paths_nearest_word(word, names, count);
    }
    return nearest;
}

/* An end of an edge of which nothing else is said. */
static void check_end(checker *c, uint32_t index, uint32_t end, paths_kind kind,
                      const char **names)
{
    const paths_map_node *node = &c->map->nodes[end];
    const char *what = kind == PATHS_THREAD ? "thread" : "element";
    const char *nearest;

    if (node->kind != PATHS_WRAPPER || node->type[0])
        return;
    nearest = nearest_node(c, node->name, kind, names);
    if (nearest)
        diagnose_edge(c, index, "there is no %s %s; did you mean %s?", what,
                      node->name, nearest);
    else
        diagnose_edge(c, index,
                      "there is no %s %s: define it by %s [kind=%s%s]", what,
                      node->name, node->name, what,
                      kind == PATHS_THREAD ? "" : ", type=TYPE");
}

static void check_ends(checker *c)
{
    const paths_map *a = c->map;
    const char **names = calloc((size_t)a->node_count + 1, sizeof(*names));

    if (!names) {
        c->err = PASTSET_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < a->edge_count; i++) {
        check_end(c, i, a->edges[i].from, PATHS_THREAD, names);
        check_end(c, i, a->edges[i].to, PATHS_ELEMENT, names);
    }
    free(names);
}

int paths_mapping_check(const paths_map *application, paths_diagnostics *out)
{
    checker c = {.map = application, .diagnostics = out};

    memset(out, 0, sizeof(*out));
    check_ends(&c);
    check_mapped(&c);
    for (uint32_t i = 0; i < application->edge_count; i++)
        check_use(&c, i);
    check_kept(&c);
    if (c.err)
        return pastset_fail(c.err, "no memory to check a mapping");
    if (out->count == 0)
        return 0;
    return paths__fail_at(application, out->items[0].line, out->items[0].node,
                          "%s", out->items[0].text);
}

/* --- all --- */

static int map_check(const paths_map *map, paths_diagnostics *out)
{
    checker c = {.map = map, .diagnostics = out};

    memset(out, 0, sizeof(*out));
    if (map->process_count == 0 && paths_map_threads(map) > 0) {
        diagnose(&c, 1, "",
                 "there are no processes: this is an application mapping. Make "
                 "a path map of it with `eventspace map generate "
                 "--application=%s --processes=N`",
                 map->file);
    } else {
        check_encrypt(&c, &map->attributes, 1, "");
        check_truth(&c, &map->attributes, "succession", 1, "");
        check_truth(&c, &map->attributes, "restart", 1, "");
        check_processes(&c);
        check_nodes(&c);
    }
    for (uint32_t i = 0; i < map->edge_count; i++)
        check_edge(&c, i);
    check_paths(&c);
    check_kept(&c);
    if (c.err)
        return pastset_fail(c.err, "no memory to check a path map");
    if (out->count == 0)
        return 0;
    return paths__fail_at(map, out->items[0].line, out->items[0].node, "%s",
                          out->items[0].text);
}

int paths_map_check(const paths_map *map, paths_diagnostics *out)
{
    paths_diagnostics own;
    int err = map_check(map, out ? out : &own);

    if (!out)
        paths_diagnostics_clear(&own);
    return err;
}
