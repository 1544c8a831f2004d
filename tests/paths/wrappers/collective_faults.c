/* collective_faults.c - one thread makes a mistake in a round. Either all get
 * an error for that round, which names the thread (or the process that it comes
 * from, with the numbers of the threads there), or none does. The next round
 * goes well. Then all compare what they got. */
#include "tests/paths/wrappers/collective_faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MS 200 /* others have come by then */
#define LATE_MAX 3

typedef enum mistake {
    WRONG_SIZE,
    WRONG_VERB,
    TWO_SOURCES, /* bring a tuple, where one is to */
    TWICE,       /* started again before the round was complete */
    NO_ROOM,     /* for the result: that is nobody else's error */
    RACE,        /* short deadlines, of some */
    LATE,        /* comes after the deadlines of all others */
    MISTAKES,
} mistake;

static const char *const mistake_names[MISTAKES] = {
    "wrong sizes", "wrong verbs", "two sources",   "two contributions",
    "no room",     "races",       "late arrivals",
};

/* All of it is the same for all threads. */
typedef struct fault {
    mistake mistake;
    uint32_t kind;
    uint32_t culprit;
    uint64_t round;
    uint32_t times;   /* that it comes too late; */
    uint32_t watcher; /* who has a deadline then; THREADS: all */
    uint32_t beside;  /* another kind: goes on at the same time, and well */
} fault;

/* Thread 0 counts. */
static uint64_t made[MISTAKES], failed[MISTAKES];

/* How often somebody has given up on one that was late, and how often that is
 * to be by now, as each thread knows. */
static _Atomic uint64_t given_up;
static uint64_t to_give_up[THREADS];

void faults_print(void)
{
    for (int i = 0; i < MISTAKES; i++)
        printf("%6llu %s, %llu of them an error for all\n",
               (unsigned long long)made[i], mistake_names[i],
               (unsigned long long)failed[i]);
}

/* --- which mistake --- */

static bool is_possible(mistake m, const kind *k)
{
    switch (m) {
    case WRONG_VERB:
        return !k->from_one && k->bytes;
    case TWO_SOURCES:
        return k->from_one;
    case NO_ROOM:
        return k->result_bytes != 0;
    default:
        return true;
    }
}

static fault fault_choose(uint64_t round, uint64_t random)
{
    fault f = {.round = round,
               .mistake = random % 50 == 0 ? LATE : random / 50 % LATE,
               .kind = (uint32_t)(random >> 20) % KINDS,
               .culprit = (uint32_t)(random >> 28) % THREADS,
               .times = 1 + (uint32_t)(random >> 34) % LATE_MAX};

    while (!is_possible(f.mistake, &kinds[f.kind]))
        f.kind = (f.kind + 1) % KINDS;
    f.beside = (f.kind + 1 + (uint32_t)(random >> 40) % (KINDS - 1)) % KINDS;
    f.watcher =
        (f.culprit + 1 + (uint32_t)(random >> 44) % (THREADS - 1)) % THREADS;
    if (random >> 52 & 1)
        f.watcher = THREADS;
    if (!kinds[f.kind].from_one)
        return f;
    if (f.mistake == WRONG_SIZE || f.mistake == NO_ROOM)
        f.culprit = source_of(round);
    if (f.mistake == TWO_SOURCES && f.culprit == source_of(round))
        f.culprit = (f.culprit + 1) % THREADS;
    return f;
}

void fault_describe(uint64_t round, uint64_t random)
{
    fault f = fault_choose(round, random);

    fprintf(stderr,
            "%s by t%u (%u times, while t%u watches), in %s, whose source is "
            "t%u\n",
            mistake_names[f.mistake], f.culprit, f.times, f.watcher,
            kinds[f.kind].name, source_of(round));
}

static size_t wrong_size(const kind *k, uint64_t own)
{
    switch (own & 3) {
    case 0:
        return k->varies || !k->bytes ? k->bytes + 3 : k->bytes - 1;
    case 1:
        return k->bytes + 2;
    case 2:
        return TUPLE_BYTES; /* of another element */
    default:
        return 2 * TUPLE_BYTES; /* of none */
    }
}

static void spoil(part *p, const fault *f, uint64_t own)
{
    paths_arguments *a = &p->arguments;
    const kind *k = &kinds[f->kind];

    switch (f->mistake) {
    case WRONG_SIZE:
        a->bytes = wrong_size(k, own);
        if (a->bytes == k->bytes)
            a->bytes++;
        break;
    case WRONG_VERB:
        a->verb = PASTSET_READ_NEXT;
        a->tuple = p->result;
        a->bytes = TUPLE_BYTES;
        break;
    case TWO_SOURCES:
        k->make(p->tuple, p->worker->number, p->round);
        a->verb = PASTSET_EXCHANGE;
        a->tuple = p->tuple;
        a->bytes = k->bytes;
        break;
    case NO_ROOM:
        a->verb = PASTSET_EXCHANGE;
        a->capacity = (k->varies ? length_of(p->round) : k->result_bytes) - 1;
        break;
    default:
        break;
    }
}

/* --- what it says --- */

/* "(of thread number 5)", "(of threads number 4 to 7)", "(of 3 threads,
 * numbers 1 to 7)" */
static bool names_among(const char *text, uint32_t thread)
{
    const char *at = text;

    while ((at = strstr(at, "number"))) {
        unsigned first, last;
        int read;
        at += strlen("number");
        at += *at == 's';
        read = sscanf(at, " %u to %u", &first, &last);
        if (read == 1)
            last = first;
        if (read > 0 && first <= thread && thread <= last)
            return true;
    }
    return false;
}

static bool names(const char *text, uint32_t thread)
{
    char name[32];

    snprintf(name, sizeof(name), "thread t%u (process h", thread);
    return strstr(text, name) || names_among(text, thread);
}

/* On a busy machine others may be late too, and be named first. */
static bool names_late(const char *text)
{
    bool one = false;

    for (uint32_t i = 0; i < THREADS; i++)
        one = one || names(text, i);
    return one && (strstr(text, "did not arrive in time: ") ||
                   strstr(text, "the deadline passed"));
}

static int text_check(const part *p, const fault *f)
{
    bool good = true;

    if (p->status == 0)
        return 0;
    if (f->mistake == RACE || f->mistake == LATE)
        good = names_late(p->text);
    else if (p->worker->number != f->culprit)
        good = names(p->text, f->culprit);
    if (f->mistake == TWO_SOURCES)
        good = good && names(p->text, source_of(f->round));
    return good ? 0
                : pastset_fail(PASTSET_EAPP, "t%u is not told of t%u, but: %s",
                               p->worker->number, f->culprit, p->text);
}

/* --- making it --- */

/* It went well, or it is known why not. */
static int first_end(part *p, const fault *f)
{
    worker *w = p->worker;

    if (p->status == 0)
        return part_check(p);
    if (f->mistake == NO_ROOM && w->number == f->culprit) {
        w->written[f->kind]++; /* it was a good round */
        w->rounds++;
    }
    return text_check(p, f);
}

static int again(worker *w, const fault *f, uint64_t own)
{
    part *p = &w->parts[1];
    int err;

    part_make(p, w, f->kind, f->round + LATE_MAX, own);
    err = part_run(p, own >> 8);
    return err ? err : part_check(p);
}

static int once(worker *w, const fault *f, uint64_t own)
{
    part *p = &w->parts[0];
    bool is_culprit = w->number == f->culprit;
    int err;

    part_make(p, w, f->kind, f->round, own);
    if (is_culprit)
        spoil(p, f, own >> 30);
    if (f->mistake == RACE && own >> 30 & 1)
        p->arguments.timeout_ms = 1 + (own >> 31 & 1);
    if (f->mistake == RACE && is_culprit)
        keep_busy(own >> 32 & 0x3fffff);
    err = part_run(p, own >> 8);
    if (!err)
        err = first_end(p, f);
    return err ? err : again(w, f, own >> 16);
}

/* The culprit of a second contribution. That may have come so late that it
 * belongs to the next round. */
static int twice(worker *w, const fault *f, uint64_t own)
{
    part *p = &w->parts[0], *next = &w->parts[1];
    int err;

    part_make(p, w, f->kind, f->round, own);
    part_make(next, w, f->kind, f->round + LATE_MAX, own >> 8);
    part_start(p);
    if (own >> 30 & 1)
        keep_busy(own >> 32 & 0x3fff);
    part_start(next);
    err = part_wait(p, own >> 31);
    if (!err)
        err = part_wait(next, own >> 32);
    if (!err)
        err = first_end(p, f);
    if (err)
        return err;
    if (next->status == 0)
        return part_check(next);
    expect(next->status == PASTSET_EINVAL);
    err = text_check(next, f);
    return err ? err : again(w, f, own >> 16);
}

static int late_fail(const part *p, const fault *f, uint32_t time)
{
    return pastset_fail(
        PASTSET_EAPP, "t%u, %s: %s (%s), not the error of round %u of %u",
        p->worker->number, kinds[f->kind].name, pastset_status_name(p->status),
        p->text, time + 1, f->times);
}

/* The culprit comes when others have given up, several times perhaps. */
static int late(worker *w, const fault *f, uint64_t own)
{
    part *p = &w->parts[0];
    bool is_culprit = w->number == f->culprit;
    bool watches =
        f->watcher == w->number || (f->watcher == THREADS && !is_culprit);
    int err = 0;

    to_give_up[w->number] +=
        (uint64_t)f->times * (f->watcher == THREADS ? THREADS - 1 : 1);
    while (is_culprit && !atomic_load(&somebody_failed) &&
           atomic_load_explicit(&given_up, memory_order_relaxed) <
               to_give_up[w->number])
        keep_busy(1000);
    for (uint32_t i = 0; i < f->times && !err; i++) {
        part_make(p, w, f->kind, f->round + i, own >> i);
        if (watches)
            p->arguments.timeout_ms = LATE_MS * (int)slowness();
        err = part_run(p, own >> 8);
        if (!err && p->status != PASTSET_ETIMEDOUT)
            err = late_fail(p, f, i);
        if (!err)
            err = first_end(p, f);
        if (watches)
            atomic_fetch_add_explicit(&given_up, 1, memory_order_relaxed);
    }
    return err ? err : again(w, f, own >> 16);
}

/* --- comparing --- */

static int status_wanted(const fault *f, uint32_t thread, int first)
{
    switch (f->mistake) {
    case WRONG_SIZE:
        return PASTSET_ETYPE;
    case WRONG_VERB:
    case TWO_SOURCES:
        return PASTSET_EINVAL;
    case TWICE:
        return first ? PASTSET_EINVAL : 0;
    case RACE:
        return first ? PASTSET_ETIMEDOUT : 0;
    case NO_ROOM:
        return thread == f->culprit ? PASTSET_EROOM : 0;
    default:
        return PASTSET_ETIMEDOUT;
    }
}

static int verdict(worker *w, const fault *f, int status)
{
    int32_t own = status, all[THREADS];

    atomic_store_explicit(&w->doing, "verdict", memory_order_relaxed);
    expect(paths_exchange(w->paths[KINDS], &own, sizeof(own), all,
                          sizeof(all)) == 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        int wanted = status_wanted(f, i, all[0]);
        if (all[i] != wanted)
            return pastset_fail(
                PASTSET_EAPP, "%s of t%u with %s: t%u got %s, not %s",
                mistake_names[f->mistake], f->culprit, kinds[f->kind].name, i,
                pastset_status_name(all[i]), pastset_status_name(wanted));
    }
    if (w->number == 0) {
        made[f->mistake]++;
        failed[f->mistake] += status != 0 && f->mistake != NO_ROOM;
    }
    return 0;
}

static int mistake_make(worker *w, const fault *f, uint64_t own)
{
    if (f->mistake == LATE)
        return late(w, f, own);
    if (f->mistake == TWICE && w->number == f->culprit)
        return twice(w, f, own);
    return once(w, f, own);
}

int fault_step(worker *w, uint64_t round, uint64_t random, uint64_t own)
{
    fault f = fault_choose(round, random);
    part *beside = &w->parts[2];
    bool early = own >> 60 & 1;
    int err;

    part_make(beside, w, f.beside, round + LATE_MAX + 1, own >> 48);
    if (early)
        part_start(beside);
    err = mistake_make(w, &f, own);
    if (!err)
        err =
            early ? part_wait(beside, own >> 61) : part_run(beside, own >> 61);
    if (!err)
        err = part_check(beside);
    return err ? err : verdict(w, &f, w->parts[0].status);
}
