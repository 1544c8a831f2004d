/* element_stress.c - many threads and one element, under every policy.
 *
 *     pastset_element_stress [SCALE]       1: a few seconds; in `soak` 2
 *
 * With a seed in EVENTSPACE_STRESS_SEED all of it is a short round, whose
 * capacities, deadlines and order of threads are chosen by the seed.
 *
 * A tuple is one number, repeated: a reader that gets two numbers in one tuple
 * has seen it torn. Every number is written once, so whoever consumes one can
 * say whether another had it before. In the end nothing is missing: what was
 * written was consumed, truncated or dropped, as the ledger says. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/element_internal.h"
#include "pastset/waiter.h"

#define REPEATS 8
#define KINDS 4

typedef struct __attribute__((packed)) tuple {
    uint8_t kind; /* of number % KINDS: what a take asks for */
    uint64_t numbers[REPEATS];
} tuple;

typedef struct stage {
    const char *name;
    const char *type;
    pastset_policy policy;
    uint64_t capacity, writes;
    bool single_writer;
    int writers;
    pastset_space *space;
    pastset_element *element;
    _Atomic uint64_t next_number, consumed, read, timeouts, expired;
    _Atomic uint8_t *given; /* how often each number was consumed */
    _Atomic bool over;
} stage;

static int scale_divisor = 2, scale_factor = 1;
static uint64_t seed; /* 0: none */

static void must_at(int line, bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "element_stress.c:%d: does not hold: %s (%s)\n", line, what,
            pastset_error());
    abort();
}

#define must(condition) must_at(__LINE__, (condition), #condition)

static uint64_t scaled(uint64_t n)
{
    n = n * (uint64_t)scale_factor / (uint64_t)scale_divisor;
    return n ? n : 1;
}

/* splitmix64: what a seed says of the number `of`. */
static uint64_t mix(uint64_t of)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + of;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Now without waiting, now with a deadline, now for ever. */
static int timeout_of(uint64_t try)
{
    static const int timeouts[] = {PASTSET_NOWAIT, 1, PASTSET_FOREVER};

    return timeouts[(seed ? mix(try) : try) % 3];
}

static size_t fill(const stage *s, tuple *t, uint64_t number)
{
    t->kind = (uint8_t)(number % KINDS);
    for (int i = 0; i < REPEATS; i++)
        t->numbers[i] = number;
    if (s->element->type.variable)
        return 1 + (1 + number % REPEATS) * sizeof(uint64_t);
    return sizeof(*t);
}

/* Whole, and as long as it was written; gives its number. */
static uint64_t check_tuple(const stage *s, const tuple *t, size_t bytes)
{
    uint64_t number = t->numbers[0];

    must(t->kind == number % KINDS);
    for (size_t i = 0; i < (bytes - 1) / sizeof(uint64_t); i++)
        must(t->numbers[i] == number);
    must(number < s->writes);
    if (s->element->type.variable)
        must(bytes == 1 + (1 + number % REPEATS) * sizeof(uint64_t));
    return number;
}

/* A thread on a processor of its own, as far as there are some: left alone,
 * they may well all run on one, and never meet. */
static void thread_start(pthread_t *thread, unsigned number,
                         void *(*how)(void *), void *argument)
{
    cpu_set_t all, mine;
    unsigned cpu = 0;

    must(pthread_create(thread, NULL, how, argument) == 0);
    if (sched_getaffinity(getpid(), sizeof(all), &all) != 0)
        return;
    number %= (unsigned)CPU_COUNT(&all);
    while (!CPU_ISSET(cpu, &all) || number-- > 0)
        cpu++;
    CPU_ZERO(&mine);
    CPU_SET(cpu, &mine);
    (void)pthread_setaffinity_np(*thread, sizeof(mine), &mine);
}

/* --- the threads --- */

static void *write_some(void *argument)
{
    stage *s = argument;

    for (;;) {
        uint64_t number = s->next_number++;
        uint64_t index;
        tuple t;
        int err;
        uint64_t tries = 0;
        if (number >= s->writes)
            return NULL;
        if (number % 16 == 0) /* let the others see it, on few processors */
            sched_yield();
        do {
            err = pastset_write(s->element, &t, fill(s, &t, number),
                                timeout_of(number + tries++), &index);
            if (err)
                sched_yield();
        } while (err == PASTSET_EAGAIN || err == PASTSET_ETIMEDOUT ||
                 err == PASTSET_EFULL);
        must(err == 0);
    }
}

static void *follow(void *argument)
{
    stage *s = argument;
    pastset_cursor cursor = {0};

    for (uint64_t i = 0;; i++) {
        tuple t;
        size_t bytes = sizeof(t);
        uint64_t before = cursor.next;
        int err =
            pastset_read_next(s->element, &cursor, &t, &bytes, timeout_of(i));
        must(cursor.read + cursor.lost == cursor.next);
        if (err == PASTSET_EDELETED)
            return NULL;
        if (err) {
            must(err == PASTSET_EAGAIN || err == PASTSET_ETIMEDOUT);
            sched_yield();
            continue;
        }
        must(cursor.next > before);
        (void)check_tuple(s, &t, bytes);
        s->read++;
    }
}

/* Many at once: without a gap, each whole, and nothing lost that is not
 * counted. */
static void *sweep(void *argument)
{
    enum { MAX = 300 };
    stage *s = argument;
    pastset_cursor cursor = {0};
    tuple *tuples = malloc(MAX * sizeof(*tuples));
    uint64_t sum = 0;

    must(tuples != NULL);
    for (size_t max = 1; !s->over; max = max % MAX + 1) {
        size_t count;
        uint64_t before = cursor.next;
        int err = pastset_read_many(s->element, &cursor, tuples, max, &count);
        must(cursor.read + cursor.lost == cursor.next && count <= max);
        if (err == PASTSET_EDELETED || err == PASTSET_ENOTSUP)
            break;
        if (err) {
            must(err == PASTSET_EAGAIN && count == 0 && cursor.next == before);
            sched_yield();
            continue;
        }
        must(count > 0 && cursor.next >= before + count);
        for (size_t i = 0; i < count; i++) {
            uint64_t number = check_tuple(s, &tuples[i], sizeof(tuple));
            /* In an order only where they are written in one. */
            if (s->single_writer && s->writers <= 1)
                must(number == cursor.next - count + i);
        }
        sum += count;
    }
    must(sum == cursor.read);
    s->read += sum;
    free(tuples);
    return NULL;
}

/* Reads at an index that comes soon, one that is there and one that may be
 * gone; and the first and the last. */
static void *look_around(void *argument)
{
    stage *s = argument;

    for (uint64_t i = 0;; i++) {
        pastset_ledger l;
        tuple t;
        size_t bytes = sizeof(t);
        int err;
        pastset_element_ledger(s->element, &l);
        must(l.written == l.present + l.consumed + l.truncated + l.dropped);
        must(l.present <= s->capacity && l.first <= l.written);
        if (i % 5 == 0)
            err = pastset_read_first(s->element, &t, &bytes, 0, NULL);
        else if (i % 5 == 1)
            err = pastset_read_last(s->element, &t, &bytes, 1, NULL);
        else
            err = pastset_read(s->element,
                               i % 5 == 2   ? l.written + i % 3
                               : i % 5 == 3 ? l.first
                                            : l.first + l.present / 2,
                               &t, &bytes, 1);
        if (err == PASTSET_EDELETED)
            return NULL;
        if (!err) {
            (void)check_tuple(s, &t, bytes);
            s->read++;
        } else {
            must(err == PASTSET_EAGAIN || err == PASTSET_ETIMEDOUT ||
                 err == PASTSET_EEXPIRED);
            s->timeouts += err == PASTSET_ETIMEDOUT;
            s->expired += err == PASTSET_EEXPIRED;
        }
        if (i % 8 == 0)
            sched_yield();
    }
}

static bool consumed_one(stage *s, int err, const tuple *t, size_t bytes)
{
    if (err == PASTSET_EDELETED)
        return false;
    if (!err) {
        must(s->given[check_tuple(s, t, bytes)]++ == 0);
        s->consumed++;
        return true;
    }
    must(err == PASTSET_EAGAIN || err == PASTSET_ETIMEDOUT);
    s->timeouts += err == PASTSET_ETIMEDOUT;
    sched_yield();
    return true;
}

static void *observe(void *argument)
{
    stage *s = argument;
    tuple t;
    size_t bytes;
    uint64_t i = 2;
    int err;

    do {
        bytes = sizeof(t);
        err = pastset_observe(s->element, &t, &bytes, timeout_of(i++), NULL);
    } while (consumed_one(s, err, &t, bytes));
    return NULL;
}

static void *take(void *argument)
{
    stage *s = argument;
    static _Atomic unsigned next_kind;
    tuple wanted = {.kind = (uint8_t)(next_kind++ % KINDS)}, t;
    pastset_pattern pattern = {.fields = 1, .values = &wanted};
    bool any = s->single_writer || s->element->type.variable;
    size_t bytes;
    uint64_t i = 0;
    int err;

    do {
        bytes = sizeof(t);
        err = pastset_take(s->element, any ? NULL : &pattern, &t, &bytes,
                           timeout_of(i++), NULL);
        if (!err && !any)
            must(t.kind == wanted.kind);
    } while (consumed_one(s, err, &t, bytes));
    return NULL;
}

static void *disturb(void *argument)
{
    stage *s = argument;

    for (uint64_t i = 0; !s->over; i++) {
        pastset_ledger l;
        pastset_element_ledger(s->element, &l);
        if (i % 64 == 0)
            must(pastset_element_truncate(s->element, l.first + 1) == 0);
        if (s->policy == PASTSET_BLOCK)
            must(pastset_element_set_delta(s->element, i % s->capacity + 1) ==
                 0);
        sched_yield();
    }
    return NULL;
}

/* --- all together --- */

static void stage_open(stage *s)
{
    pastset_space_options options = {.max_bytes = 1ull << 30,
                                     .max_elements = 512};
    pastset_type type;
    pastset_element_options element = {.name = s->name,
                                       .type = &type,
                                       .policy = s->policy,
                                       .capacity = s->capacity,
                                       .single_writer = s->single_writer};

    must(pastset_type_parse(&type, s->type) == 0);
    must(pastset_space_create(&s->space, &options) == 0);
    must(pastset_element_create(&s->element, s->space, &element) == 0);
    s->given = calloc(s->writes, sizeof(*s->given));
    must(s->given != NULL);
}

static void stage_check(stage *s)
{
    pastset_ledger l;
    uint64_t given = 0;

    pastset_element_ledger(s->element, &l);
    for (uint64_t i = 0; i < s->writes; i++)
        given += s->given[i];
    must(l.written == s->writes);
    must(l.consumed == s->consumed && l.consumed == given);
    must(l.read == s->read);
    must(l.present == 0 && l.first == l.written);
    must(s->policy == PASTSET_DISCARD || l.dropped == 0);
    must(s->element->held == 0);
    printf("%-28s %8llu written %8llu consumed %7llu truncated %8llu dropped "
           "%8llu read %6llu timeouts %7llu expired\n",
           s->name, (unsigned long long)l.written,
           (unsigned long long)l.consumed, (unsigned long long)l.truncated,
           (unsigned long long)l.dropped, (unsigned long long)l.read,
           (unsigned long long)s->timeouts, (unsigned long long)s->expired);
    fflush(stdout);
}

static void run(stage *s)
{
    enum { OTHERS = 14 };
    static void *(*const others[OTHERS])(void *) = {
        follow,  follow, follow, sweep, look_around, look_around, observe,
        observe, take,   take,   take,  take,        take,        disturb};
    pthread_t writers[8], threads[OTHERS];
    pastset_ledger l;

    stage_open(s);
    for (int i = 0; i < OTHERS; i++)
        thread_start(&threads[i], (unsigned)(mix((uint64_t)i) + (unsigned)i),
                     others[i], s);
    for (int i = 0; i < s->writers; i++)
        thread_start(&writers[i], (unsigned)i, write_some, s);
    for (int i = 0; i < s->writers; i++)
        pthread_join(writers[i], NULL);
    do {
        sched_yield();
        pastset_element_ledger(s->element, &l);
    } while (l.present);
    s->over = true;
    pthread_join(threads[OTHERS - 1], NULL);
    must(pastset_element_delete(s->element) == 0);
    for (int i = 0; i < OTHERS - 1; i++)
        pthread_join(threads[i], NULL);
    stage_check(s);
    pastset_space_close(s->space);
    free((void *)(uintptr_t)s->given);
}

/* --- one writer at full speed, and readers without a lock --- */

static void *chase(void *argument)
{
    stage *s = argument;
    uint64_t read = 0, gone = 0;

    while (!s->over) {
        pastset_ledger l;
        tuple t;
        size_t bytes = sizeof(t);
        int err;
        pastset_element_ledger(s->element, &l);
        /* The oldest, which is overwritten next. */
        err = pastset_read(s->element, l.first, &t, &bytes, PASTSET_NOWAIT);
        if (!err)
            must(check_tuple(s, &t, bytes) == l.first);
        read += !err;
        gone += err == PASTSET_EEXPIRED;
        must(!err || err == PASTSET_EEXPIRED || err == PASTSET_EAGAIN);
    }
    s->read += read;
    s->expired += gone;
    return NULL;
}

/* Writes for a while. */
static void *append_for_a_while(void *argument)
{
    stage *s = argument;
    pastset_appender *appender = pastset_element_appender(s->element);
    int64_t until =
        pastset_now_ns() + 300000000ll * scale_factor / scale_divisor;
    uint64_t number = 0;

    while (pastset_now_ns() < until || number < s->capacity) {
        for (uint64_t end = number + 1000; number < end; number++) {
            unsigned char *slot = pastset_append_begin(appender);
            tuple t;
            fill(s, &t, number);
            must(slot != NULL);
            pastset_append_store(slot, &t, sizeof(t));
            pastset_append_end(appender);
        }
    }
    s->next_number = number;
    s->over = true;
    return NULL;
}

static void full_speed(uint64_t capacity)
{
    stage s = {.name = "full speed",
               .type = "u8 u64[8]",
               .policy = PASTSET_DISCARD,
               .capacity = capacity,
               .writes = 1,
               .single_writer = true};
    static void *(*const how[])(void *) = {append_for_a_while, chase, sweep,
                                           chase, sweep};
    enum { THREADS = sizeof(how) / sizeof(*how) };
    pthread_t threads[THREADS];
    pastset_ledger l;

    stage_open(&s);
    s.writes = UINT64_MAX; /* as many as there is time for */
    for (unsigned i = 0; i < THREADS; i++)
        thread_start(&threads[i], i, how[i], &s);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pastset_element_ledger(s.element, &l);
    must(l.written == s.next_number && l.present == capacity);
    must(l.dropped == l.written - capacity);
    printf("%-28s %8llu written %8llu read %8llu overwritten while read\n",
           s.name, (unsigned long long)l.written, (unsigned long long)s.read,
           (unsigned long long)s.expired);
    fflush(stdout);
    pastset_space_close(s.space);
    free((void *)(uintptr_t)s.given);
}

/* --- a reader that begins to wait just when the one writer writes --- */

static void *write_when_seen(void *argument)
{
    stage *s = argument;
    pastset_appender *appender = pastset_element_appender(s->element);

    for (uint64_t number = 0; number < s->writes; number++) {
        unsigned char *slot;
        tuple t;
        for (uint64_t spins = 0; s->consumed < number; spins++)
            if (spins % 4096 == 4095)
                sched_yield();
        for (volatile uint64_t delay = number % 128; delay; delay--)
            ;
        slot = pastset_append_begin(appender);
        fill(s, &t, number);
        if (slot) {
            pastset_append_store(slot, &t, sizeof(t));
            pastset_append_end(appender);
        } else {
            must(pastset_write(s->element, &t, sizeof(t), 0, NULL) == 0);
        }
    }
    return NULL;
}

static void *see_each(void *argument)
{
    stage *s = argument;

    for (uint64_t number = 0; number < s->writes; number++) {
        tuple t;
        size_t bytes = sizeof(t);
        /* A wake that is lost shows as a deadline that passes. */
        must(pastset_read(s->element, number, &t, &bytes, 20000) == 0);
        must(check_tuple(s, &t, bytes) == number);
        s->consumed = number + 1;
    }
    return NULL;
}

static void meet(void)
{
    stage s = {.name = "meet",
               .type = "u8 u64[8]",
               .policy = PASTSET_DISCARD,
               .capacity = 4,
               .writes = scaled(40000),
               .single_writer = true};
    pthread_t threads[2];

    stage_open(&s);
    thread_start(&threads[0], 0, write_when_seen, &s);
    thread_start(&threads[1], 1, see_each, &s);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%-28s %8llu times\n", s.name, (unsigned long long)s.writes);
    fflush(stdout);
    pastset_space_close(s.space);
    free((void *)(uintptr_t)s.given);
}

/* --- deleting and closing under threads that wait --- */

static _Atomic int ended_count;

static int wait_once(pastset_element *element, unsigned way, uint64_t i)
{
    /* Those with a deadline race with the end. */
    int timeout_ms = way % 3 ? PASTSET_FOREVER : 1;
    uint64_t value;
    size_t bytes = sizeof(value);

    if (way % 2)
        return pastset_read(element, 1000000 + i, &value, &bytes, timeout_ms);
    return pastset_observe(element, &value, &bytes, timeout_ms, NULL);
}

static void *wait_to_be_ended(void *argument)
{
    static _Atomic unsigned next;
    unsigned way = next++;
    uint64_t i = 0;
    int err;

    do {
        err = wait_once(argument, way, i++);
    } while (err == 0);
    must(err == PASTSET_EDELETED || (err == PASTSET_ETIMEDOUT && way % 3 == 0));
    ended_count++;
    return NULL;
}

static void end_once(stage *s, bool by_closing)
{
    enum { THREADS = 9 };
    pthread_t threads[THREADS];
    uint64_t value = 1;
    int ended;

    stage_open(s);
    ended_count = 0;
    for (int i = 0; i < THREADS; i++)
        thread_start(&threads[i], (unsigned)i, wait_to_be_ended, s->element);
    must(pastset_write(s->element, &value, sizeof(value), 0, NULL) == 0);
    if (by_closing) {
        /* Nobody may come in any more. In this order nobody counts twice. */
        do {
            sched_yield();
            ended = ended_count;
        } while (ended + (int)s->element->held < THREADS);
        pastset_space_close(s->space);
    } else {
        must(pastset_element_delete(s->element) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (!by_closing)
        pastset_space_close(s->space);
    free((void *)(uintptr_t)s->given);
}

static void end_them(bool single_writer, bool by_closing)
{
    uint64_t rounds = scaled(150);

    for (uint64_t round = 0; round < rounds; round++) {
        stage s = {.name = "ended",
                   .type = "u64",
                   .capacity = 8,
                   .writes = 1,
                   .single_writer = single_writer};
        end_once(&s, by_closing);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *type;
        pastset_policy policy;
        uint64_t capacity, writes;
        int writers; /* 1: made for one writer */
    } stages[] = {
        {"block", "u8 u64[8]", PASTSET_BLOCK, 16, 40000, 4},
        {"block, one writer", "u8 u64[8]", PASTSET_BLOCK, 16, 40000, 1},
        {"block, one tuple", "u8 u64[8]", PASTSET_BLOCK, 1, 10000, 4},
        {"block, bytes", "bytes[65]", PASTSET_BLOCK, 16, 40000, 4},
        {"discard", "u8 u64[8]", PASTSET_DISCARD, 16, 200000, 4},
        {"discard, one writer", "u8 u64[8]", PASTSET_DISCARD, 16, 400000, 1},
        {"discard, one tuple", "u8 u64[8]", PASTSET_DISCARD, 1, 100000, 1},
        {"discard, bytes", "bytes[65]", PASTSET_DISCARD, 16, 200000, 4},
        {"grow", "u8 u64[8]", PASTSET_GROW, 5000, 100000, 4},
        {"grow, one writer", "u8 u64[8]", PASTSET_GROW, 5000, 100000, 1},
    };

    if (argc > 1)
        scale_factor = atoi(argv[1]);
#ifdef PASTSET_WATCHED
    scale_divisor = 10;
#endif
    if (getenv("EVENTSPACE_STRESS_SEED")) {
        seed = strtoull(getenv("EVENTSPACE_STRESS_SEED"), NULL, 10) + 1;
#ifdef PASTSET_WATCHED
        scale_divisor = 2000;
#else
        scale_divisor = 200;
#endif
    }
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        stage s = {.name = stages[i].name,
                   .type = stages[i].type,
                   .policy = stages[i].policy,
                   .capacity = seed ? 1 + mix(100 + i) % stages[i].capacity
                                    : stages[i].capacity,
                   .writes = scaled(stages[i].writes),
                   .writers = stages[i].writers,
                   .single_writer = stages[i].writers == 1};
        run(&s);
    }
    full_speed(1);
    full_speed(7);
    full_speed(4096);
    meet();
    for (int i = 0; i < 4; i++)
        end_them(i % 2, i / 2);
    printf("ended under waiting threads\n");
    return 0;
}
