/* collective_parts.c - see collective_parts.h. */
#include "tests/paths/wrappers/collective_parts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR_AWAY_MS 600000

worker workers[THREADS];
_Atomic bool somebody_failed;

unsigned slowness(void)
{
    const char *slow = getenv("EVENTSPACE_TEST_SLOW");
    int factor = slow ? atoi(slow) : 1;

    return factor > 1 ? (unsigned)factor : 1;
}

void keep_busy(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++)
        ;
}

static const kind *kind_of(const part *p)
{
    return &kinds[p->kind];
}

void part_make(part *p, worker *w, uint32_t which, uint64_t round, uint64_t own)
{
    bool brings, in_place = own >> 3 & 1;

    p->worker = w;
    p->kind = which;
    p->round = round;
    p->status = 0;
    memset(p->result, 0xee, sizeof(p->result));
    brings = !kind_of(p)->from_one || w->number == source_of(round);
    if (brings)
        kind_of(p)->make(p->tuple, w->number, round);
    p->arguments = (paths_arguments){
        .verb = !brings        ? PASTSET_READ_NEXT
                : own % 8 == 0 ? PASTSET_WRITE
                               : PASTSET_EXCHANGE,
        .tuple = brings ? p->tuple : p->result,
        .bytes = brings ? kind_of(p)->bytes : kind_of(p)->result_bytes,
        .result = in_place ? p->tuple : p->result,
        .capacity = kind_of(p)->result_bytes,
        .timeout_ms = (own >> 4) % 16 == 0 ? FAR_AWAY_MS : PASTSET_FOREVER,
    };
    if (brings && kind_of(p)->varies)
        p->arguments.bytes = length_of(round);
}

static void keep(part *p, int status)
{
    p->status = status;
    if (status)
        snprintf(p->text, sizeof(p->text), "%s", pastset_error());
}

static void say_doing(const part *p)
{
    const char *name = p->kind < KINDS ? kind_of(p)->name : "verdict";

    atomic_store_explicit(&p->worker->doing, name, memory_order_relaxed);
}

void part_call(part *p)
{
    say_doing(p);
    keep(p, paths_call(p->worker->paths[p->kind], &p->arguments));
}

static void done(paths_arguments *arguments, int status, void *context)
{
    part *p = context;

    (void)arguments;
    p->under_way = false;
    keep(p, status);
}

void part_start(part *p)
{
    int err;

    say_doing(p);
    p->under_way = true;
    err = paths_start(p->worker->paths[p->kind], &p->arguments, done, p);
    if (err)
        done(&p->arguments, err, p);
}

int part_wait(part *p, uint64_t own)
{
    int timeout_ms = own & 1 ? PASTSET_FOREVER : PASTSET_NOWAIT;

    while (p->under_way) {
        expect(paths_poll(p->worker->self, timeout_ms) >= 0);
        if (timeout_ms == PASTSET_NOWAIT)
            sched_yield();
    }
    return 0;
}

int part_run(part *p, uint64_t own)
{
    if (own & 2) {
        part_call(p);
        return 0;
    }
    part_start(p);
    return part_wait(p, own);
}

static int result_check(const part *p)
{
    const paths_arguments *a = &p->arguments;
    const worker *w = p->worker;
    bool exchange = a->verb == PASTSET_EXCHANGE;
    size_t bytes = exchange ? a->capacity : a->bytes;

    if (a->verb == PASTSET_WRITE)
        return 0;
    if (bytes !=
        (kind_of(p)->varies ? length_of(p->round) : kind_of(p)->result_bytes))
        return pastset_fail(PASTSET_EAPP, "%zu bytes", bytes);
    if (a->index != w->written[p->kind]) /* each good round writes one */
        return pastset_fail(PASTSET_EAPP, "index %llu, not %llu",
                            (unsigned long long)a->index,
                            (unsigned long long)w->written[p->kind]);
    if (!kind_of(p)->is_right(exchange ? a->result : a->tuple, w->number,
                              p->round))
        return pastset_fail(PASTSET_EAPP, "a wrong result");
    return 0;
}

int part_check(part *p)
{
    int err = p->status;

    if (err)
        pastset_fail(err, "%s", p->text);
    else
        err = result_check(p);
    if (!err && p->kind == MEET &&
        !kind_of(p)->is_right(NULL, p->worker->number, p->round))
        err = pastset_fail(PASTSET_EAPP, "it did not wait for all");
    if (err)
        return pastset_fail_while(err, "%s of %s, round %llu, step %llu",
                                  pastset_verb_name(p->arguments.verb),
                                  kind_of(p)->name,
                                  (unsigned long long)p->round,
                                  (unsigned long long)atomic_load_explicit(
                                      &p->worker->step, memory_order_relaxed));
    p->worker->written[p->kind]++;
    p->worker->rounds++;
    return 0;
}
