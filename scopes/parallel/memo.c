/* memo.c - see memo_internal.h. The things are few, one for each collective or
 * path, so they are looked for one after the other. */
#include "scopes/parallel/memo_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define TEXT_BYTES 512

typedef enum state { MAKING, MADE, FAILED } state;

typedef struct thing {
    scopes__memo_kind kind;
    uint32_t number;
    state state;
    void *made;
    void (*destroy)(void *made);
    int err;
    char text[TEXT_BYTES]; /* of the error */
} thing;

struct scopes__memo {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    thing **things; /* guarded by lock, as all below */
    size_t count;
    bool keeps;
};

scopes__memo *scopes__memo_create(void)
{
    scopes__memo *memo = calloc(1, sizeof(*memo));

    if (memo) {
        pthread_mutex_init(&memo->lock, NULL);
        pthread_cond_init(&memo->changed, NULL);
    }
    return memo;
}

void scopes__memo_destroy(scopes__memo *memo)
{
    if (!memo)
        return;
    scopes__memo_end(memo);
    pthread_cond_destroy(&memo->changed);
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}

void scopes__memo_begin(scopes__memo *memo)
{
    pthread_mutex_lock(&memo->lock);
    memo->keeps = true;
    pthread_mutex_unlock(&memo->lock);
}

void scopes__memo_end(scopes__memo *memo)
{
    for (size_t i = 0; i < memo->count; i++) {
        if (memo->things[i]->state == MADE)
            memo->things[i]->destroy(memo->things[i]->made);
        free(memo->things[i]);
    }
    free(memo->things);
    memo->things = NULL;
    memo->count = 0;
    memo->keeps = false;
}

bool scopes__memo_keeps(scopes__memo *memo)
{
    bool keeps;

    pthread_mutex_lock(&memo->lock);
    keeps = memo->keeps;
    pthread_mutex_unlock(&memo->lock);
    return keeps;
}

static thing *find(const scopes__memo *memo, scopes__memo_kind kind,
                   uint32_t number)
{
    for (size_t i = 0; i < memo->count; i++) {
        if (memo->things[i]->kind == kind && memo->things[i]->number == number)
            return memo->things[i];
    }
    return NULL;
}

bool scopes__memo_has(scopes__memo *memo, scopes__memo_kind kind,
                      uint32_t number)
{
    const thing *t;
    bool has;

    pthread_mutex_lock(&memo->lock);
    t = memo->keeps ? find(memo, kind, number) : NULL;
    has = t && t->state != FAILED;
    pthread_mutex_unlock(&memo->lock);
    return has;
}

static thing *add(scopes__memo *memo, scopes__memo_kind kind, uint32_t number)
{
    thing *added = calloc(1, sizeof(*added));
    thing **more =
        added ? pastset_array_grow(memo->things, memo->count, sizeof(*more))
              : NULL;

    if (!more) {
        free(added);
        return NULL;
    }
    added->kind = kind;
    added->number = number;
    memo->things = more;
    memo->things[memo->count++] = added;
    return added;
}

static void make(scopes__memo *memo, thing *t, const scopes__made *how,
                 const void *context)
{
    void *made = NULL;
    int err = how->make(&made, context, true);

    pthread_mutex_lock(&memo->lock);
    t->made = made;
    t->destroy = how->destroy;
    t->err = err;
    t->state = err ? FAILED : MADE;
    if (err)
        snprintf(t->text, sizeof(t->text), "%s", pastset_error());
    pthread_cond_broadcast(&memo->changed);
    pthread_mutex_unlock(&memo->lock);
}

int scopes__memo_get(scopes__memo *memo, scopes__memo_kind kind,
                     uint32_t number, const scopes__made *how,
                     const void *context, void **out)
{
    thing *t;
    bool is_new, keeps;

    *out = NULL;
    pthread_mutex_lock(&memo->lock);
    keeps = memo->keeps;
    t = keeps ? find(memo, kind, number) : NULL;
    is_new = keeps && !t;
    if (is_new)
        t = add(memo, kind, number);
    while (t && !is_new && t->state == MAKING)
        pthread_cond_wait(&memo->changed, &memo->lock);
    pthread_mutex_unlock(&memo->lock);
    if (!keeps)
        return how->make(out, context, false);
    if (!t)
        return pastset_no_memory("for what views share");
    if (is_new)
        make(memo, t, how, context);
    *out = t->made;
    return t->err ? pastset_fail(t->err, "%s", t->text) : 0;
}
