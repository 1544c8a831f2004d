/* networks.c - see networks_internal.h. */
#include "paths/map/networks_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/networks.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define BLANKS " \t\n,"
#define NAME_BYTES 250

/* One word: a process in a network. */
typedef struct membership {
    const char *name; /* in the map, and not ended by 0 */
    const char *address;
    uint32_t name_bytes, address_bytes; /* 0: that of the process */
    uint32_t process;
    uint32_t network;
} membership;

struct paths__networks {
    uint32_t processes;
    membership *by_process; /* in the order of the map */
    uint32_t *firsts;       /* of each process, and one more */
    membership **members;   /* by network */
    uint32_t *begins;       /* of each network, and one more */
    uint32_t count, networks;
    /* The ways to `to`: whom each process goes to. */
    uint32_t to, *next, *queue;
    bool *seen; /* networks */
};

/* --- words --- */

/* The next word of a text; false: there is none. */
static bool word_next(const char **at, membership *out)
{
    size_t bytes, name;

    *at += strspn(*at, BLANKS);
    bytes = strcspn(*at, BLANKS);
    if (!bytes)
        return false;
    for (name = 0; name < bytes && (*at)[name] != '=';)
        name++;
    out->name = *at;
    out->name_bytes = (uint32_t)name;
    out->address = name < bytes ? *at + name + 1 : NULL;
    out->address_bytes = name < bytes ? (uint32_t)(bytes - name - 1) : 0;
    *at += bytes;
    return true;
}

static bool is_name(const membership *m)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

    return m->name_bytes > 0 && m->name_bytes <= NAME_BYTES &&
           strspn(m->name, letters) >= m->name_bytes;
}

static int word_check(const membership *m)
{
    char text[PATHS_ADDRESS_TEXT];
    paths_address address;
    int err;

    if (!is_name(m))
        return pastset_fail(PASTSET_EMAP,
                            "networks: \"%.*s\" is no name of a network: use 1 "
                            "to %d letters, digits, _ . and -",
                            (int)m->name_bytes, m->name, NAME_BYTES);
    if (!m->address)
        return 0;
    snprintf(text, sizeof(text), "%.*s", (int)m->address_bytes, m->address);
    err = m->address_bytes < sizeof(text) ? paths_address_parse(&address, text)
                                          : PASTSET_EINVAL;
    if (err)
        return pastset_fail(PASTSET_EMAP,
                            "networks: %.*s=%s: write an address such as "
                            "10.0.0.4 or ::1 behind the =",
                            (int)m->name_bytes, m->name, text);
    if (address.port)
        return pastset_fail(PASTSET_EMAP,
                            "networks: %.*s=%s: the port is that of the "
                            "process's address: leave it out here",
                            (int)m->name_bytes, m->name, text);
    return 0;
}

int paths__networks_check(const char *text)
{
    membership m;
    int err = 0;

    while (!err && word_next(&text, &m))
        err = word_check(&m);
    return err;
}

int paths__networks_check_family(const char *text, const char *address)
{
    paths_address own;
    membership m;

    if (paths_address_parse(&own, address && *address
                                      ? address
                                      : PATHS_ADDRESS_LOOPBACK) != 0 ||
        own.socket.ss_family != AF_INET)
        return 0; /* what listens at all IPv6 addresses has the others, too */
    while (word_next(&text, &m)) {
        if (m.address && memchr(m.address, ':', m.address_bytes))
            return pastset_fail(PASTSET_EMAP,
                                "networks: %.*s=%.*s is IPv6, and its address "
                                "is not: a process listens at one kind; give "
                                "it an IPv6 address, or two of the same kind",
                                (int)m.name_bytes, m.name, (int)m.address_bytes,
                                m.address);
    }
    return 0;
}

/* --- tables --- */

static const char *text_of(const paths_map *map, uint32_t process)
{
    const char *text =
        paths_attributes_get(&map->processes[process].attributes, "networks");

    return text && text[strspn(text, BLANKS)] ? text : NULL;
}

static int words_take(paths__networks *n, const paths_map *map)
{
    for (uint32_t i = 0; i < map->process_count; i++) {
        const char *at = text_of(map, i);
        membership m = {0};
        int err = 0;

        n->firsts[i] = n->count;
        while (at && !err && word_next(&at, &m)) {
            membership *grown = pastset_array_grow(n->by_process, n->count,
                                                   sizeof(*n->by_process));
            if (!grown)
                return pastset_no_memory("for the networks of a map");
            n->by_process = grown;
            m.process = i;
            n->by_process[n->count++] = m;
            err = word_check(&m);
        }
        if (err)
            return pastset_fail_while(err, "process %s",
                                      map->processes[i].name);
    }
    n->firsts[map->process_count] = n->count;
    return 0;
}

static int name_compare(const membership *a, const membership *b)
{
    if (a->name_bytes != b->name_bytes)
        return a->name_bytes < b->name_bytes ? -1 : 1;
    return memcmp(a->name, b->name, a->name_bytes);
}

/* Those of one network in the order of the map. */
static int by_name(const void *left, const void *right)
{
    const membership *a = *(membership *const *)left,
                     *b = *(membership *const *)right;
    int order = name_compare(a, b);

    return order ? order : (a > b) - (a < b);
}

static void networks_number(paths__networks *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        n->members[i] = &n->by_process[i];
    qsort(n->members, n->count, sizeof(*n->members), by_name);
    for (uint32_t i = 0; i < n->count; i++) {
        if (i == 0 || name_compare(n->members[i - 1], n->members[i]) != 0)
            n->begins[n->networks++] = i;
        n->members[i]->network = n->networks - 1;
    }
    n->begins[n->networks] = n->count;
}

static int tables_make(paths__networks *n)
{
    n->members = calloc((size_t)n->count + 1, sizeof(*n->members));
    n->begins = calloc((size_t)n->count + 1, sizeof(*n->begins));
    n->seen = calloc((size_t)n->count + 1, sizeof(*n->seen));
    n->next = calloc((size_t)n->processes + 1, sizeof(*n->next));
    n->queue = calloc((size_t)n->processes + 1, sizeof(*n->queue));
    if (!n->members || !n->begins || !n->seen || !n->next || !n->queue)
        return pastset_no_memory("for the networks of a map");
    networks_number(n);
    return 0;
}

int paths__networks_create(paths__networks **out, const paths_map *map)
{
    paths__networks *n;
    bool any = false;
    int err;

    *out = NULL;
    for (uint32_t i = 0; i < map->process_count && !any; i++)
        any = text_of(map, i) != NULL;
    if (!any)
        return 0;
    n = calloc(1, sizeof(*n));
    if (!n)
        return pastset_no_memory("for the networks of a map");
    n->processes = map->process_count;
    n->to = PATHS_NONE;
    n->firsts = calloc((size_t)n->processes + 1, sizeof(*n->firsts));
    err = n->firsts ? words_take(n, map)
                    : pastset_no_memory("for the networks of a map");
    if (!err)
        err = tables_make(n);
    if (err)
        paths__networks_destroy(n);
    else
        *out = n;
    return err;
}

void paths__networks_destroy(paths__networks *n)
{
    if (!n)
        return;
    free(n->by_process);
    free(n->firsts);
    free(n->members);
    free(n->begins);
    free(n->seen);
    free(n->next);
    free(n->queue);
    free(n);
}

/* --- ways --- */

static bool is_everywhere(const paths__networks *n, uint32_t process)
{
    return n->firsts[process] == n->firsts[process + 1];
}

/* As a member of which network `to` is reached; NULL: of none. */
static const membership *met_in(const paths__networks *n, uint32_t from,
                                uint32_t to)
{
    for (uint32_t i = n->firsts[to]; i < n->firsts[to + 1]; i++) {
        for (uint32_t k = n->firsts[from]; k < n->firsts[from + 1]; k++) {
            if (n->by_process[i].network == n->by_process[k].network)
                return &n->by_process[i];
        }
    }
    return NULL;
}

bool paths__networks_reach(const paths__networks *n, uint32_t from, uint32_t to)
{
    return !n || from == to || is_everywhere(n, from) || is_everywhere(n, to) ||
           met_in(n, from, to);
}

/* A process that has not been come to yet, by this one. */
static void come_to(paths__networks *n, uint32_t process, uint32_t by,
                    uint32_t *end)
{
    if (n->next[process] != PATHS_NONE)
        return;
    n->next[process] = by;
    n->queue[(*end)++] = process;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* From `to` on, over all networks of a process whoever is in them; those that
 * are equally far away in the order of the map. */
static void ways_find(paths__networks *n, uint32_t to)
{
    uint32_t end = 0, level = 0;

    memset(n->seen, 0, sizeof(*n->seen) * n->networks);
    for (uint32_t i = 0; i < n->processes; i++)
        n->next[i] = PATHS_NONE;
    come_to(n, to, to, &end);
    for (uint32_t at = 0; at < end; at++) {
        uint32_t by;
        if (at == level) {
            qsort(n->queue + at, end - at, sizeof(*n->queue), by_number);
            level = end;
        }
        by = n->queue[at];
        for (uint32_t i = 0; i < n->processes && at == 0; i++) {
            if (is_everywhere(n, i))
                come_to(n, i, by, &end);
        }
        for (uint32_t i = 0; i < n->processes && is_everywhere(n, by); i++)
            come_to(n, i, by, &end);
        for (uint32_t i = n->firsts[by]; i < n->firsts[by + 1]; i++) {
            uint32_t network = n->by_process[i].network;
            if (n->seen[network])
                continue;
            n->seen[network] = true;
            for (uint32_t k = n->begins[network]; k < n->begins[network + 1];
                 k++)
                come_to(n, n->members[k]->process, by, &end);
        }
    }
    n->to = to;
}

uint32_t paths__networks_next(paths__networks *n, uint32_t from, uint32_t to)
{
    if (!n)
        return to;
    if (n->to != to)
        ways_find(n, to);
    return n->next[from];
}

int paths__networks_address(const paths__networks *n, const paths_map *map,
                            uint32_t from, uint32_t to,
                            char out[PATHS_ADDRESS_TEXT])
{
    const char *text =
        paths_attributes_get(&map->processes[to].attributes, "address");
    const membership *as = n ? met_in(n, from, to) : NULL;
    paths_address address;
    bool is_v6;
    int err = paths_address_parse(&address, text ? text : "");

    if (err)
        return err;
    if (address.port == 0)
        return pastset_fail(PASTSET_EMAP, "its address \"%s\" has no port",
                            text);
    if (!as || !as->address) {
        snprintf(out, PATHS_ADDRESS_TEXT, "%s", text);
        return 0;
    }
    is_v6 =
        memchr(as->address, ':', as->address_bytes) && as->address[0] != '[';
    snprintf(out, PATHS_ADDRESS_TEXT, "%s%.*s%s:%u", is_v6 ? "[" : "",
             (int)as->address_bytes, as->address, is_v6 ? "]" : "",
             address.port);
    return 0;
}

bool paths_networks_several(const paths_attributes *process)
{
    const char *text = paths_attributes_get(process, "networks");

    return text && strchr(text, '=');
}
