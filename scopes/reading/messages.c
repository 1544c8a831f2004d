/* messages.c - see messages.h. What processes have defined is looked up once;
 * ends are read by the block, one thread after the other or as they are asked
 * for. */
#include "scopes/reading/reading_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) ((item)->number = UINT32_MAX)
#include <uthash.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

#define BLOCK 256 /* tuples that are read at once */

/* By its key, which is the same in all processes. */
typedef struct communicator {
    char *key;
    const char *name;
    uint32_t number;
    UT_hash_handle hh;
} communicator;

typedef struct channel {
    uint32_t id, communicator;
    uint32_t from; /* PATHS_NONE: anybody */
    uint32_t to;
    uint32_t posted_by; /* PATHS_NONE: the thread whose tuple it is */
    bool is_apart;      /* the process at an end of it has recorded nothing */
} channel;

/* The channels of a process, by id. */
typedef struct channels {
    channel *items;
    size_t count;
    bool has_gaps; /* it could not write all of its ends, or some are damaged */
} channels;

typedef struct ends {
    pastset_element *element; /* NULL: the thread has none */
    pastset_cursor cursor;
    eventspace_message *block;
    size_t at, count;
    uint64_t until; /* tuple; when it was opened there were no more */
    bool is_bounded;
    uint32_t given; /* how many ends that are right */
    uint32_t
        *numbers; /* by those: the ordinals; NULL: as they say themselves */
} ends;

struct scopes_messages {
    const eventspace_run *run;
    const scopes_topology *topology;
    communicator *by_key;
    communicator **communicators; /* by number */
    uint32_t communicator_count;
    channels *processes;
    ends *threads;
    uint64_t damaged;
};

static int no_memory(void)
{
    return pastset_no_memory("for the messages of a run");
}

/* --- what processes have defined --- */

static int communicator_find(scopes_messages *m,
                             const eventspace_definition *defined,
                             uint32_t *out)
{
    const char *key = eventspace_definition_get(defined, "key");
    communicator *c, **more;

    if (!key)
        key = defined->name;
    HASH_FIND_STR(m->by_key, key, c);
    if (c) {
        *out = c->number;
        return 0;
    }
    more = pastset_array_grow(m->communicators, m->communicator_count,
                              sizeof(*more));
    if (!more)
        return no_memory();
    m->communicators = more;
    c = calloc(1, sizeof(*c));
    if (!c)
        return no_memory();
    *c = (communicator){strdup(key), defined->name, m->communicator_count, {0}};
    if (c->key)
        HASH_ADD_KEYPTR(hh, m->by_key, c->key, strlen(c->key), c);
    if (!c->key || c->number == UINT32_MAX) {
        free(c->key);
        free(c);
        return no_memory();
    }
    *out = c->number;
    m->communicators[m->communicator_count++] = c;
    return 0;
}

/* The number of a thread that the map has. */
static bool thread_parse(const scopes_messages *m,
                         const eventspace_definition *defined, const char *key,
                         uint32_t *out)
{
    const char *text = eventspace_definition_get(defined, key);
    uint64_t number;

    if (!text || paths_parse_number(text, &number) ||
        number >= m->topology->thread_count ||
        m->topology->threads[number] == PATHS_NONE)
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool from_parse(const scopes_messages *m,
                       const eventspace_definition *defined, uint32_t *out)
{
    const char *text = eventspace_definition_get(defined, "from");

    *out = PATHS_NONE;
    return (text && strcmp(text, "any") == 0) ||
           thread_parse(m, defined, "from", out);
}

/* Is it the first thread of a process that has none? */
static bool is_missing(const scopes_messages *m,
                       const eventspace_definition *defined, const char *key)
{
    const char *text = eventspace_definition_get(defined, key);
    uint64_t number;

    return text && !paths_parse_number(text, &number) &&
           number < eventspace_run_process_count(m->run) &&
           (number >= m->topology->thread_count ||
            m->topology->threads[number] == PATHS_NONE);
}

static int channel_take(scopes_messages *m, size_t process,
                        const eventspace_definition *defined)
{
    channels *own = &m->processes[process];
    const eventspace_definition *parent =
        eventspace_run_own_of(m->run, process, defined->parent);
    channel c = {.id = defined->id};
    channel *more;
    int err;

    c.is_apart = is_missing(m, defined, "from") || is_missing(m, defined, "to");
    if (!c.is_apart && (!from_parse(m, defined, &c.from) ||
                        !thread_parse(m, defined, "to", &c.to)))
        return 0; /* its ends are damaged */
    if (!thread_parse(m, defined, "posted_by", &c.posted_by))
        c.posted_by = PATHS_NONE;
    err = communicator_find(m, parent, &c.communicator);
    if (err)
        return err;
    more = pastset_array_grow(own->items, own->count, sizeof(*more));
    if (!more)
        return no_memory();
    own->items = more;
    more[own->count++] = c;
    return 0;
}

static int process_look(scopes_messages *m, size_t process)
{
    size_t count = eventspace_run_own_count(m->run, process);
    int err = 0;

    for (size_t i = 0; i < count && !err; i++) {
        const eventspace_definition *defined =
            eventspace_run_own_at(m->run, process, i);
        if (defined->kind == EVENTSPACE_DEFINES_CHANNEL)
            err = channel_take(m, process, defined);
    }
    return err;
}

static uint32_t process_of(const scopes_messages *m, uint32_t thread)
{
    uint32_t node = m->topology->threads[thread];

    return node == PATHS_NONE ? PATHS_NONE
                              : m->topology->map->nodes[node].process;
}

static int thread_look(scopes_messages *m, uint32_t thread)
{
    uint32_t process = process_of(m, thread);
    ends *e = &m->threads[thread];
    pastset_space *space;
    pastset_ledger ledger;
    char name[64];

    if (process == PATHS_NONE)
        return 0;
    space = eventspace_run_process_at(m->run, process)->side;
    if (!space)
        return 0;
    snprintf(name, sizeof(name), EVENTSPACE_MESSAGES_PREFIX "%u", thread);
    e->element = pastset_space_find(space, name);
    if (!e->element || strcmp(pastset_element_type(e->element)->text,
                              EVENTSPACE_MESSAGE_TYPE) != 0) {
        e->element = NULL;
        return 0;
    }
    pastset_element_ledger(e->element, &ledger);
    m->processes[process].has_gaps |= ledger.refused > 0;
    e->until = ledger.written;
    e->block = calloc(BLOCK, sizeof(*e->block));
    return e->block ? 0 : no_memory();
}

int scopes__messages_make(scopes_messages **out, const eventspace_run *run,
                          const scopes_topology *topology)
{
    size_t processes = eventspace_run_process_count(run);
    scopes_messages *m = calloc(1, sizeof(*m));
    int err = 0;

    *out = NULL;
    if (!m)
        return no_memory();
    m->run = run;
    m->topology = topology;
    m->processes = calloc(processes + 1, sizeof(*m->processes));
    m->threads =
        calloc((size_t)topology->thread_count + 1, sizeof(*m->threads));
    if (!m->processes || !m->threads)
        err = no_memory();
    for (size_t i = 0; i < processes && !err; i++)
        err = process_look(m, i);
    for (uint32_t i = 0; i < topology->thread_count && !err; i++)
        err = thread_look(m, i);
    if (err)
        scopes_messages_close(m);
    else
        *out = m;
    return err;
}

static void thread_close(ends *e)
{
    free(e->block);
    scopes__free(e->numbers);
}

void scopes_messages_close(scopes_messages *m)
{
    if (!m)
        return;
    HASH_CLEAR(hh, m->by_key);
    for (uint32_t i = 0; i < m->communicator_count; i++) {
        free(m->communicators[i]->key);
        free(m->communicators[i]);
    }
    for (size_t i = 0; m->processes && i < eventspace_run_process_count(m->run);
         i++)
        free(m->processes[i].items);
    for (uint32_t i = 0; m->threads && i < m->topology->thread_count; i++)
        thread_close(&m->threads[i]);
    free(m->communicators);
    free(m->processes);
    free(m->threads);
    free(m);
}

/* --- ends --- */

static int compare_channels(const void *left, const void *right)
{
    const channel *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* The next tuple; NULL: there is none. */
static const eventspace_message *tuple_next(scopes_messages *m, uint32_t thread)
{
    ends *e = &m->threads[thread];
    int err = 0;

    if (!e->element)
        return NULL;
    while (e->at == e->count && (err == 0 || err == PASTSET_EFORMAT)) {
        uint64_t lost = e->cursor.lost;
        e->at = e->count = 0;
        err = pastset_read_many(e->element, &e->cursor, e->block, BLOCK,
                                &e->count);
        m->damaged += e->cursor.lost - lost;
        m->processes[process_of(m, thread)].has_gaps |= e->cursor.lost != lost;
    }
    if (e->at == e->count ||
        (e->is_bounded && e->cursor.next - (e->count - e->at) >= e->until))
        return NULL;
    return &e->block[e->at++];
}

static bool has_begun(uint16_t kind)
{
    return kind == EVENTSPACE_MESSAGE_SENDING ||
           kind == EVENTSPACE_MESSAGE_POSTED ||
           kind == EVENTSPACE_MESSAGE_WITHDRAWN;
}

/* NULL: its process has none of them. */
static const channel *channel_of(const scopes_messages *m, uint32_t thread,
                                 const eventspace_message *tuple)
{
    const channels *own = &m->processes[process_of(m, thread)];
    const channel wanted = {.id = tuple->channel};

    return own->count ? bsearch(&wanted, own->items, own->count, sizeof(wanted),
                                compare_channels)
                      : NULL;
}

/* False: it is none that this thread can have. */
static bool end_make(const scopes_messages *m, uint32_t thread,
                     const channel *c, const eventspace_message *tuple,
                     scopes_message_end *out)
{
    uint32_t process = process_of(m, thread);
    const eventspace_definition *operation =
        eventspace_run_own_of(m->run, process, tuple->operation);
    uint16_t kind = tuple->kind & (uint16_t) ~(EVENTSPACE_MESSAGE_COUNTED |
                                               EVENTSPACE_MESSAGE_HIDDEN);
    bool is_received = kind == EVENTSPACE_MESSAGE_RECEIVED ||
                       kind == EVENTSPACE_MESSAGE_POSTED ||
                       kind == EVENTSPACE_MESSAGE_WITHDRAWN;

    if (!c || kind >= EVENTSPACE_MESSAGE_KINDS ||
        (c->from == PATHS_NONE && !has_begun(kind)) ||
        process_of(m, is_received ? c->to : c->from) != process)
        return false;
    *out = (scopes_message_end){
        .key = {c->communicator, c->from, c->to, tuple->tag, tuple->ordinal},
        .kind = kind,
        .is_received = is_received,
        .is_hidden = (tuple->kind & EVENTSPACE_MESSAGE_HIDDEN) != 0,
        .counted_by = PATHS_NONE,
        .thread = thread,
        .call = tuple->call,
        .tick = tuple->tick,
        .bytes = tuple->bytes,
        .operation =
            operation && operation->kind == EVENTSPACE_DEFINES_OPERATION
                ? operation->name
                : "",
        .status = tuple->status};
    if (tuple->kind & EVENTSPACE_MESSAGE_COUNTED)
        out->counted_by = c->posted_by == PATHS_NONE ? thread : c->posted_by;
    return true;
}

static void number_give(ends *e, scopes_message_end *out)
{
    if (has_begun(out->kind))
        return;
    if (e->numbers && out->counted_by != PATHS_NONE)
        out->key.ordinal = e->given < e->numbers[0]
                               ? e->numbers[1 + e->given]
                               : EVENTSPACE_MESSAGE_UNKNOWN;
    e->given++;
}

bool scopes__messages_next(scopes_messages *m, uint32_t thread,
                           scopes_message_end *out)
{
    ends *e = &m->threads[thread];
    const eventspace_message *tuple;

    while ((tuple = tuple_next(m, thread))) {
        const channel *c = channel_of(m, thread, tuple);
        if (c && c->is_apart)
            continue;
        if (end_make(m, thread, c, tuple, out)) {
            number_give(e, out);
            return true;
        }
        m->damaged++;
        m->processes[process_of(m, thread)].has_gaps = true;
    }
    return false;
}

bool scopes_messages_next(scopes_messages *m, uint32_t thread,
                          scopes_message_end *out)
{
    while (scopes__messages_next(m, thread, out))
        if (!has_begun(out->kind) && !out->is_hidden)
            return true;
    return false;
}

bool scopes__messages_has_gaps(const scopes_messages *m, uint32_t thread)
{
    uint32_t process = process_of(m, thread);

    return process != PATHS_NONE && m->processes[process].has_gaps;
}

/* `numbers[0]` says how many follow. */
int scopes__messages_numbers_make(scopes_messages *m)
{
    for (uint32_t i = 0; i < m->topology->thread_count; i++) {
        ends *e = &m->threads[i];
        if (!e->given)
            continue;
        e->numbers =
            scopes__allocate(((size_t)e->given + 1) * sizeof(*e->numbers));
        if (!e->numbers)
            return no_memory();
        e->numbers[0] = e->given;
    }
    return 0;
}

void scopes__messages_number(scopes_messages *m, uint32_t thread,
                             uint32_t index, uint32_t ordinal)
{
    m->threads[thread].numbers[1 + index] = ordinal;
}

void scopes__messages_rewind(scopes_messages *m)
{
    for (uint32_t i = 0; i < m->topology->thread_count; i++) {
        ends *e = &m->threads[i];
        e->cursor = (pastset_cursor){0};
        e->at = e->count = 0;
        e->given = 0;
        e->is_bounded = true;
    }
    m->damaged = 0;
}

uint64_t scopes__messages_damaged(const scopes_messages *m)
{
    return m->damaged;
}

const char *scopes_messages_communicator(const scopes_messages *m,
                                         uint32_t number)
{
    return m->communicators[number]->name;
}

int scopes_message_compare(const scopes_message_key *a,
                           const scopes_message_key *b)
{
    const int64_t left[] = {a->communicator, a->from, a->to, a->tag,
                            a->ordinal};
    const int64_t right[] = {b->communicator, b->from, b->to, b->tag,
                             b->ordinal};

    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}
