/* exchange.c - see exchange.h. */
#include "apps/is/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define WRITES 4 /* under way at most */

typedef struct writer {
    key_exchange *exchange;
    paths_arguments arguments;
    key_chunk *chunk;
} writer;

struct key_exchange {
    paths_thread *self;
    uint32_t number, count;
    paths_path **to; /* of each thread; NULL: this one */
    paths_path *from;
    uint32_t chunk_keys; /* at most in one tuple */
    uint32_t under_way;
    int err; /* the first; then nothing more is started */

    writer writers[WRITES];
    const uint32_t *keys; /* sorted by the thread that gets them */
    const uint32_t *send;
    uint32_t target, sent; /* who gets keys now, and how many it was sent */
    uint64_t offset;       /* of the target's first key */

    paths_arguments arguments; /* of the observe */
    key_chunk *chunk;
    uint32_t *into;
    uint64_t left;       /* keys that are still to come */
    uint32_t *left_from; /* each thread */
};

/* --- opening --- */

static int paths_open_all(key_exchange *x)
{
    char name[32];
    int err = x->count > 1 ? paths_open(&x->from, x->self, "keys") : 0;

    for (uint32_t i = 0; i < x->count && !err; i++) {
        if (i == x->number)
            continue;
        snprintf(name, sizeof(name), "to_%" PRIu32, i);
        err = paths_open(&x->to[i], x->self, name);
        if (!err &&
            paths_type(x->to[i])->max_bytes != paths_type(x->from)->max_bytes)
            err =
                pastset_fail(PASTSET_ETYPE,
                             "%s: all elements of keys must have the same type",
                             paths_describe(x->to[i]));
    }
    if (err || x->count == 1)
        return err;
    x->arguments.bytes = paths_type(x->from)->max_bytes;
    if (x->arguments.bytes < KEY_CHUNK_BYTES(1))
        return pastset_fail(PASTSET_ETYPE, "%s: its tuples hold no keys",
                            paths_describe(x->from));
    x->chunk_keys =
        (uint32_t)((x->arguments.bytes - sizeof(key_chunk)) / sizeof(uint32_t));
    return 0;
}

static int chunks_make(key_exchange *x)
{
    size_t bytes = KEY_CHUNK_BYTES(x->chunk_keys);

    x->chunk = malloc(bytes);
    for (int i = 0; i < WRITES; i++) {
        x->writers[i].exchange = x;
        x->writers[i].chunk = malloc(bytes);
        if (!x->writers[i].chunk || !x->chunk)
            return pastset_no_memory("for tuples of keys");
    }
    return 0;
}

int key_exchange_open(key_exchange **out, paths_thread *self)
{
    key_exchange *x = calloc(1, sizeof(*x));
    int err;

    *out = x;
    if (!x)
        return pastset_no_memory("to exchange keys");
    x->self = self;
    x->number = paths_thread_number(self);
    x->count = paths_thread_count(self);
    x->to = calloc(x->count, sizeof(*x->to));
    x->left_from = calloc(x->count, sizeof(*x->left_from));
    if (!x->to || !x->left_from)
        return pastset_no_memory("to exchange keys");
    err = paths_open_all(x);
    return err ? err : chunks_make(x);
}

void key_exchange_close(key_exchange *x)
{
    if (!x || x->under_way)
        return;
    for (int i = 0; i < WRITES; i++)
        free(x->writers[i].chunk);
    free(x->chunk);
    free(x->left_from);
    free(x->to);
    free(x);
}

/* --- sending --- */

/* Threads are sent to in a circle that begins with the next one, so that not
 * all begin with thread 0. False when all have got theirs. */
static bool target_find(key_exchange *x)
{
    while (x->target != x->number && x->sent == x->send[x->target]) {
        x->offset += x->sent;
        x->sent = 0;
        x->target++;
        if (x->target == x->count) {
            x->target = 0;
            x->offset = 0;
        }
    }
    return x->target != x->number;
}

static paths_done written;

static void write_next(key_exchange *x, writer *w)
{
    uint32_t count;

    if (x->err || !target_find(x))
        return;
    count = x->send[x->target] - x->sent;
    if (count > x->chunk_keys)
        count = x->chunk_keys;
    w->chunk->sender = x->number;
    w->chunk->count = count;
    memcpy(w->chunk->keys, x->keys + x->offset + x->sent,
           count * sizeof(*x->keys));
    w->arguments = (paths_arguments){
        .verb = PASTSET_WRITE,
        .tuple = w->chunk,
        .bytes = KEY_CHUNK_BYTES(count),
        .timeout_ms = PASTSET_FOREVER,
    };
    x->err = paths_start(x->to[x->target], &w->arguments, written, w);
    x->sent += count;
    x->under_way += !x->err;
}

static void written(paths_arguments *arguments, int status, void *context)
{
    writer *w = context;

    (void)arguments;
    w->exchange->under_way--;
    if (status && !w->exchange->err)
        w->exchange->err = status;
    write_next(w->exchange, w);
}

/* --- receiving --- */

static int chunk_take(key_exchange *x)
{
    const key_chunk *chunk = x->chunk;
    size_t bytes = x->arguments.bytes;

    if (bytes < sizeof(*chunk) || bytes != KEY_CHUNK_BYTES(chunk->count) ||
        chunk->sender >= x->count || chunk->count > x->left_from[chunk->sender])
        return pastset_fail(
            PASTSET_EAPP,
            "%s: received a tuple of %zu bytes, which no thread has announced",
            paths_describe(x->from), bytes);
    memcpy(x->into, chunk->keys, chunk->count * sizeof(*x->into));
    x->into += chunk->count;
    x->left -= chunk->count;
    x->left_from[chunk->sender] -= chunk->count;
    return 0;
}

static paths_done received;

static void receive_next(key_exchange *x)
{
    if (x->err || x->left == 0)
        return;
    x->arguments = (paths_arguments){
        .verb = PASTSET_OBSERVE,
        .tuple = x->chunk,
        .bytes = KEY_CHUNK_BYTES(x->chunk_keys),
        .timeout_ms = PASTSET_FOREVER,
    };
    x->err = paths_start(x->from, &x->arguments, received, x);
    x->under_way += !x->err;
}

static void received(paths_arguments *arguments, int status, void *context)
{
    key_exchange *x = context;

    (void)arguments;
    x->under_way--;
    if (!x->err)
        x->err = status ? status : chunk_take(x);
    receive_next(x);
}

/* --- both --- */

static void begin(key_exchange *x, const uint32_t *keys, const uint32_t *send,
                  const uint32_t *receive, uint32_t *into)
{
    uint64_t before = 0; /* keys of the threads before this one */

    x->left = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        x->left_from[i] = i == x->number ? 0 : receive[i];
        x->left += x->left_from[i];
        before += i < x->number ? send[i] : 0;
    }
    memcpy(into, keys + before, send[x->number] * sizeof(*into));
    x->into = into + send[x->number];
    x->keys = keys;
    x->send = send;
    x->sent = 0;
    x->target = (x->number + 1) % x->count;
    x->offset = x->target == 0 ? 0 : before + send[x->number];
}

int key_exchange_run(key_exchange *x, const uint32_t *keys,
                     const uint32_t *send, const uint32_t *receive,
                     uint32_t *into)
{
    begin(x, keys, send, receive, into);
    receive_next(x);
    for (int i = 0; i < WRITES; i++)
        write_next(x, &x->writers[i]);
    while (x->under_way && !x->err) {
        int ended = paths_poll(x->self, PASTSET_FOREVER);
        if (ended < 0)
            x->err = ended;
    }
    return x->err;
}
