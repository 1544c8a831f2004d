/* draw_fold.c - putting equal paths of a map together.
 *
 * Each node gets a signature, and nodes of one signature become one:
 *
 *   thread   its process, and for each of its paths the role, the use, the
 *            kinds and processes of the stages, and the element's type, policy
 *            and capacity. The role is the name of the path with # for its
 *            numbers, so that up_3 and up_4 are one role.
 *   wrapper  the folded thread that passes it first, its role there, how far
 *            down it stands, its kind and process
 *   element  its process, type, policy and capacity, and the folded thread that
 *            writes it first (else: reads it first), with the role
 *
 * This looks one path far and not at what the neighbours are folded to: in a
 * chain of threads that would tell each from all others.
 *
 * Where that leaves too much, or too many processes, processes are folded too:
 * those whose folded nodes and edges are of the same kinds count as one
 * process, and the nodes are signed again. Paths from one of them to another
 * then stay in one box.
 *
 * Where that still leaves too much, nodes are told apart by their process and
 * kind alone, and at last all processes count as one: of each kind there is one
 * node then. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "viewer/draw/draw_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define NONE UINT32_MAX

/* What a signature stands for in the folded map. */
typedef struct entry {
    UT_hash_handle hh;
    uint64_t key;
    uint32_t value; /* NONE at first */
} entry;

typedef struct table {
    entry *by_key;  /* a hash table */
    entry *entries; /* memory for as many as there can be */
    size_t count;
} table;

typedef struct folder {
    const paths_map *map;
    paths_map *folded;
    uint32_t *like; /* of processes: the first process that it is folded with */
    uint32_t *process_index; /* of processes: their process in `folded` */
    uint64_t *signatures;    /* of nodes; 0: not yet */
    uint32_t *groups;        /* of nodes: their node in `folded` */
    uint32_t *members;       /* of nodes of `folded` */
    uint32_t *last;          /* of nodes of `folded`: the last member */
    uint32_t *edge_groups;   /* of edges: their edge in `folded` */
    uint32_t *edge_members;
    bool is_coarse; /* nodes are told apart by process and kind alone */
    table table;
} folder;

static int out_of_memory(void)
{
    return pastset_no_memory("to fold a path map");
}

static int table_init(table *t, size_t most)
{
    *t = (table){.entries = calloc(most + 1, sizeof(*t->entries))};
    return t->entries ? 0 : out_of_memory();
}

static void table_fini(table *t)
{
    HASH_CLEAR(hh, t->by_key);
    free(t->entries);
}

/* The value of a key, which may be new. NULL: memory is out. */
static uint32_t *table_at(table *t, uint64_t key)
{
    entry *found;

    HASH_FIND(hh, t->by_key, &key, sizeof(key), found);
    if (found)
        return &found->value;
    found = &t->entries[t->count++];
    found->key = key;
    found->value = NONE;
    HASH_ADD(hh, t->by_key, key, sizeof(found->key), found);
    return found->hh.tbl ? &found->value : NULL;
}

/* --- signatures --- */

#define BEGIN 0xcbf29ce484222325u

/* FNV-1a over the bytes of a number or a text with its end. */
static uint64_t hash_byte(uint64_t hash, unsigned byte)
{
    return (hash ^ byte) * 0x100000001b3u;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++)
        hash = hash_byte(hash, (unsigned)(number >> (8 * i)) & 0xff);
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = hash_byte(hash, (unsigned char)*text);
    return hash_byte(hash, 0);
}

static uint64_t hash_role(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        bool digit = isdigit((unsigned char)*text);
        if (digit && isdigit((unsigned char)text[1]))
            continue;
        hash = hash_byte(hash, digit ? '#' : (unsigned char)*text);
    }
    return hash_byte(hash, 0);
}

static const char *use_of(const paths_map_edge *edge)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    return use ? use : "both";
}

static uint64_t hash_kind(uint64_t hash, const paths_map_node *node)
{
    hash = hash_text(hash, node->type);
    if (node->kind != PATHS_ELEMENT)
        return hash;
    hash = hash_text(hash, paths_node_get(node, "type"));
    hash = hash_text(hash, paths_node_get(node, "policy"));
    return hash_text(hash, paths_node_get(node, "capacity"));
}

static uint64_t hash_stage(uint64_t hash, const folder *f,
                           const paths_map_node *node)
{
    uint32_t process =
        node->process == PATHS_NONE ? NONE : f->like[node->process];

    return hash_kind(hash_number(hash, process), node);
}

/* The next node down, or NONE. */
static uint32_t below(const paths_map *map, uint32_t node)
{
    const paths_map_node *n = &map->nodes[node];

    if (n->kind != PATHS_WRAPPER || n->out_count == 0)
        return NONE;
    return map->edges[n->out[0]].to;
}

/* A path longer than this is in a circle, or looks like it. */
#define LENGTH_MAX (8 * PATHS_STAGES_MAX)

static uint64_t hash_path(uint64_t hash, const folder *f, uint32_t edge)
{
    const paths_map *map = f->map;
    const char *as = paths_attributes_get(&map->edges[edge].attributes, "as");
    uint32_t at = map->edges[edge].to, end = at;

    hash = hash_text(hash, use_of(&map->edges[edge]));
    for (int i = 0; i < LENGTH_MAX && at != NONE; i++) {
        hash = hash_stage(hash, f, &map->nodes[at]);
        end = at;
        at = below(map, at);
    }
    return hash_role(hash, as ? as : map->nodes[end].name);
}

static void sign_threads(folder *f)
{
    for (uint32_t i = 0; i < f->map->node_count; i++) {
        const paths_map_node *node = &f->map->nodes[i];
        uint64_t hash = hash_stage(BEGIN, f, node);
        if (node->kind != PATHS_THREAD)
            continue;
        for (uint32_t k = 0; k < node->out_count; k++)
            hash = hash_path(hash, f, node->out[k]);
        f->signatures[i] = hash | 1;
    }
}

/* Signs what stands on a path and has no signature yet. */
static void sign_path(folder *f, uint32_t edge, bool elements)
{
    const paths_map *map = f->map;
    uint64_t hash = f->signatures[map->edges[edge].from];
    uint32_t at = map->edges[edge].to;

    hash = hash_path(hash, f, edge);
    for (uint32_t i = 0; i < LENGTH_MAX && at != NONE; i++) {
        const paths_map_node *node = &map->nodes[at];
        bool element = node->kind == PATHS_ELEMENT;
        if (!f->signatures[at] && element == elements)
            f->signatures[at] =
                hash_number(hash_stage(hash, f, node), element ? 0 : i) | 1;
        at = below(map, at);
    }
}

static void sign_paths(folder *f, bool elements, bool readers)
{
    for (uint32_t i = 0; i < f->map->edge_count; i++) {
        const paths_map_edge *edge = &f->map->edges[i];
        bool reads = strcmp(use_of(edge), "read") == 0;
        if (f->map->nodes[edge->from].kind == PATHS_THREAD &&
            (readers || !reads))
            sign_path(f, i, elements);
    }
}

/* What stands on no path stays by itself. */
static void sign_rest(folder *f)
{
    for (uint32_t i = 0; i < f->map->node_count; i++) {
        if (!f->signatures[i])
            f->signatures[i] = hash_text(BEGIN, f->map->nodes[i].name) | 1;
    }
}

static void sign_coarsely(folder *f)
{
    for (uint32_t i = 0; i < f->map->node_count; i++) {
        const paths_map_node *node = &f->map->nodes[i];
        uint32_t process =
            node->process == PATHS_NONE ? NONE : f->like[node->process];
        f->signatures[i] =
            hash_text(hash_number(BEGIN, process), node->type) | 1;
    }
}

static void sign_all(folder *f)
{
    if (f->is_coarse) {
        sign_coarsely(f);
        return;
    }
    sign_threads(f);
    sign_paths(f, false, true);
    sign_paths(f, true, false);
    sign_paths(f, true, true);
    sign_rest(f);
}

/* --- folding --- */

static int fold_node(folder *f, uint32_t index)
{
    const paths_map_node *node = &f->map->nodes[index];
    uint32_t *group = table_at(&f->table, f->signatures[index]);

    if (!group)
        return out_of_memory();
    if (*group == NONE) {
        uint32_t process = node->process == PATHS_NONE
                               ? PATHS_NONE
                               : f->process_index[f->like[node->process]];
        *group = paths_map_add_node(f->folded, process, node->type, node->name);
        if (*group == PATHS_NONE)
            return out_of_memory();
        if (paths_attributes_copy(&f->folded->nodes[*group].attributes,
                                  &node->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    f->groups[index] = *group;
    f->members[*group]++;
    f->last[*group] = index;
    return 0;
}

static int fold_edge(folder *f, uint32_t index)
{
    const paths_map_edge *edge = &f->map->edges[index];
    uint32_t from = f->groups[edge->from], to = f->groups[edge->to];
    uint64_t key = hash_number(hash_number(BEGIN, from), to);
    uint32_t *slot;

    if (f->map->nodes[edge->from].kind == PATHS_THREAD)
        key = hash_text(key, use_of(edge));
    slot = table_at(&f->table, key);
    if (!slot)
        return out_of_memory();
    if (*slot == NONE) {
        *slot = paths_map_add_edge(f->folded, from, to);
        if (*slot == PATHS_NONE)
            return out_of_memory();
        if (paths_attributes_copy(&f->folded->edges[*slot].attributes,
                                  &edge->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    f->edge_groups[index] = *slot;
    f->edge_members[*slot]++;
    return 0;
}

static int fold_nodes(folder *f)
{
    int err = table_init(&f->table, f->map->node_count);

    for (uint32_t i = 0; i < f->map->node_count && !err; i++)
        err = fold_node(f, i);
    table_fini(&f->table);
    return err;
}

static int fold_edges(folder *f)
{
    int err = table_init(&f->table, f->map->edge_count);

    for (uint32_t i = 0; i < f->map->edge_count && !err; i++)
        err = fold_edge(f, i);
    table_fini(&f->table);
    return err;
}

/* --- telling how many there are --- */

static int set_members(paths_attributes *attributes, uint32_t members)
{
    char text[16];

    if (members < 2)
        return 0;
    snprintf(text, sizeof(text), "%u", members);
    return paths_attributes_set(attributes, VIEWER__MEMBERS, text);
}

static int count(folder *f)
{
    int err = 0;

    for (uint32_t i = 0; i < f->folded->node_count && !err; i++) {
        paths_attributes *attributes = &f->folded->nodes[i].attributes;
        err = set_members(attributes, f->members[i]);
        if (!err && f->members[i] > 1)
            err = paths_attributes_set(attributes, VIEWER__LAST,
                                       f->map->nodes[f->last[i]].name);
    }
    for (uint32_t i = 0; i < f->folded->edge_count && !err; i++)
        err = set_members(&f->folded->edges[i].attributes, f->edge_members[i]);
    return err;
}

/* --- processes --- */

/* What folded processes look like, whatever their neighbours are called: each
 * of their edges by the kinds of its ends, and whether it leaves the
 * process. */
static void sign_processes(const paths_map *map, uint64_t *sums)
{
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        const paths_map_node *from = &map->nodes[edge->from];
        const paths_map_node *to = &map->nodes[edge->to];
        uint64_t hash = hash_kind(hash_kind(BEGIN, from), to);
        if (from->process == PATHS_NONE)
            continue;
        hash = hash_text(hash, use_of(edge));
        hash = hash_number(hash, to->process == from->process);
        sums[from->process] += (hash ^ (hash >> 31)) * 0xff51afd7ed558ccdu;
    }
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (node->process != PATHS_NONE)
            sums[node->process] += hash_kind(BEGIN, node) * 0xc4ceb9fe1a85ec53u;
    }
}

/* Finds for each process the first one like it, in a map folded so far. */
static int liken_processes(uint32_t *like, const paths_map *folded)
{
    uint64_t *sums = calloc((size_t)folded->process_count + 1, sizeof(*sums));
    table processes;
    int err = table_init(&processes, folded->process_count);

    if (!sums)
        err = out_of_memory();
    else
        sign_processes(folded, sums);
    for (uint32_t i = 0; i < folded->process_count && !err; i++) {
        uint32_t *first = table_at(&processes, sums[i]);
        if (!first)
            err = out_of_memory();
        else if (*first == NONE)
            *first = i;
        like[i] = first ? *first : i;
    }
    table_fini(&processes);
    free(sums);
    return err;
}

static int fold_process(folder *f, uint32_t index)
{
    const paths_map_process *process = &f->map->processes[index];
    paths_attributes *attributes;
    uint32_t members = 1, last = index;
    int err;

    if (f->like[index] != index)
        return 0;
    for (uint32_t i = index + 1; i < f->map->process_count; i++) {
        if (f->like[i] == index) {
            members++;
            last = i;
        }
    }
    f->process_index[index] = paths_map_add_process(f->folded, process->name);
    if (f->process_index[index] == PATHS_NONE)
        return out_of_memory();
    attributes = &f->folded->processes[f->process_index[index]].attributes;
    err = paths_attributes_copy(attributes, &process->attributes);
    if (err)
        return err;
    err = set_members(attributes, members);
    if (err || members == 1)
        return err;
    return paths_attributes_set(attributes, VIEWER__LAST,
                                f->map->processes[last].name);
}

static int fold_processes(folder *f)
{
    int err = paths_map_create(&f->folded, f->map->name);

    if (err)
        return err;
    err = paths_attributes_copy(&f->folded->attributes, &f->map->attributes);
    for (uint32_t i = 0; i < f->map->process_count && !err; i++)
        err = fold_process(f, i);
    return err;
}

/* --- all of it --- */

static int arrays(folder *f)
{
    size_t nodes = (size_t)f->map->node_count + 1;
    size_t edges = (size_t)f->map->edge_count + 1;

    f->process_index =
        calloc((size_t)f->map->process_count + 1, sizeof(*f->process_index));
    f->signatures = calloc(nodes, sizeof(*f->signatures));
    f->groups = calloc(nodes, sizeof(*f->groups));
    f->members = calloc(nodes, sizeof(*f->members));
    f->last = calloc(nodes, sizeof(*f->last));
    f->edge_groups = calloc(edges, sizeof(*f->edge_groups));
    f->edge_members = calloc(edges, sizeof(*f->edge_members));
    return f->process_index && f->signatures && f->groups && f->members &&
                   f->last && f->edge_groups && f->edge_members
               ? 0
               : out_of_memory();
}

static int fold_all(folder *f)
{
    int err = arrays(f);

    if (err)
        return err;
    err = fold_processes(f);
    if (err)
        return err;
    sign_all(f);
    err = fold_nodes(f);
    if (err)
        return err;
    err = fold_edges(f);
    return err ? err : count(f);
}

/* Folds the map where processes that are `like` each other are one. */
static int fold(viewer__folded *out, const paths_map *map, uint32_t *like,
                bool is_coarse)
{
    folder f = {.map = map, .like = like, .is_coarse = is_coarse};
    int err = fold_all(&f);

    free(f.process_index);
    free(f.signatures);
    free(f.members);
    free(f.last);
    free(f.edge_members);
    *out = (viewer__folded){f.folded, f.groups, f.edge_groups};
    if (err)
        viewer__folded_fini(out);
    return err;
}

static int fold_alike(viewer__folded *out, const paths_map *map, uint32_t *like,
                      bool is_coarse)
{
    viewer__folded first;
    int err = fold(&first, map, like, is_coarse);

    if (err)
        return err;
    err = liken_processes(like, first.map);
    viewer__folded_fini(&first);
    return err ? err : fold(out, map, like, is_coarse);
}

/* Each node and edge by itself. */
static int copy(viewer__folded *out, const paths_map *map)
{
    int err = paths_map_copy(&out->map, map);

    out->nodes = calloc((size_t)map->node_count + 1, sizeof(*out->nodes));
    out->edges = calloc((size_t)map->edge_count + 1, sizeof(*out->edges));
    if (!err && (!out->nodes || !out->edges))
        err = out_of_memory();
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        out->nodes[i] = i;
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        out->edges[i] = i;
    if (err)
        viewer__folded_fini(out);
    return err;
}

int viewer__fold(viewer__folded *out, const paths_map *map, viewer__level level)
{
    uint32_t *like = calloc((size_t)map->process_count + 1, sizeof(*like));
    bool is_coarse = level >= VIEWER__ALIKE_KINDS;
    int err = 0;

    *out = (viewer__folded){0};
    if (!like)
        return out_of_memory();
    for (uint32_t i = 0; i < map->process_count; i++)
        like[i] = level == VIEWER__KINDS ? 0 : i;
    if (level == VIEWER__AS_IT_IS)
        err = copy(out, map);
    else if (level == VIEWER__PATHS || level == VIEWER__KINDS)
        err = fold(out, map, like, is_coarse);
    else
        err = fold_alike(out, map, like, is_coarse);
    free(like);
    return err;
}

void viewer__folded_fini(viewer__folded *folded)
{
    paths_map_destroy(folded->map);
    free(folded->nodes);
    free(folded->edges);
    *folded = (viewer__folded){0};
}
