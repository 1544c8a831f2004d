/* support.h - what the suites of pastset share: spaces, elements of numbers,
 * held requests, and memory that outlives a killed process. */
#ifndef TESTS_PASTSET_SUPPORT_H
#define TESTS_PASTSET_SUPPORT_H

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/element_internal.h"
#include "pastset/waiter.h"
#include "tests/support/check.h"

/* A file name of this test alone, in memory; remove it with unlink. */
static inline const char *space_path(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "/dev/shm/es_%s.%d.space", name,
             (int)getpid());
    return path;
}

/* A small space: in memory, or a file. */
static inline pastset_space *space_make(const char *path)
{
    pastset_space_options options = {
        .path = path, .max_bytes = 1ull << 30, .max_elements = 20000};
    pastset_space *space;
    check_status(pastset_space_create(&space, &options), 0);
    return space;
}

static inline pastset_type type_make(const char *text)
{
    pastset_type type;
    check_status(pastset_type_parse(&type, text), 0);
    return type;
}

static inline pastset_element *
element_make(pastset_space *space, const char *name, const char *text,
             pastset_policy policy, uint64_t capacity, bool single_writer)
{
    pastset_type type = type_make(text);
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = capacity,
                                       .single_writer = single_writer};
    pastset_element *element;
    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

/* An element of u64 in a space of its own; `close_of` closes that. */
static inline pastset_element *numbers(pastset_policy policy, uint64_t capacity,
                                       bool single_writer)
{
    return element_make(space_make(NULL), "numbers", "u64", policy, capacity,
                        single_writer);
}

static inline int put(pastset_element *element, uint64_t value)
{
    return pastset_write(element, &value, sizeof(value), PASTSET_NOWAIT, NULL);
}

static inline void put_range(pastset_element *element, uint64_t from,
                             uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        check_status(put(element, i), 0);
}

/* What a read gives: a status below 0, or the number. */
static inline int64_t get(pastset_element *element, uint64_t index)
{
    uint64_t value;
    size_t bytes = sizeof(value);
    int err = pastset_read(element, index, &value, &bytes, PASTSET_NOWAIT);
    return err ? err : (int64_t)value;
}

static inline int64_t observe(pastset_element *element)
{
    uint64_t value;
    size_t bytes = sizeof(value);
    int err = pastset_observe(element, &value, &bytes, PASTSET_NOWAIT, NULL);
    return err ? err : (int64_t)value;
}

static inline int64_t take(pastset_element *element, uint64_t wanted)
{
    pastset_pattern pattern = {.fields = 1, .values = &wanted, .bytes = 8};
    uint64_t value;
    size_t bytes = sizeof(value);
    int err =
        pastset_take(element, &pattern, &value, &bytes, PASTSET_NOWAIT, NULL);
    return err ? err : (int64_t)value;
}

static inline pastset_ledger ledger_of(pastset_element *element)
{
    pastset_ledger l;
    pastset_element_ledger(element, &l);
    cr_assert_eq(l.written, l.present + l.consumed + l.truncated + l.dropped);
    return l;
}

/* A request with its number, and the order in which it was completed. */
typedef struct held {
    pastset_request request;
    uint64_t value;
    int order; /* 0: not yet; 1: the first */
} held;

static _Atomic int held_completed;

static inline void held_done(pastset_request *request)
{
    ((held *)(void *)request)->order = ++held_completed;
}

static inline int held_submit(pastset_element *element, held *h,
                              pastset_verb verb, uint64_t index_or_value)
{
    memset(h, 0, sizeof(*h));
    h->value = index_or_value;
    h->request.verb = verb;
    h->request.index = index_or_value;
    h->request.tuple = &h->value;
    h->request.bytes = sizeof(h->value);
    h->request.done = held_done;
    return pastset_submit(element, &h->request);
}

/* Waits until that many requests are held by the element, of other threads
 * above all. */
static inline void until_held(pastset_element *element, uint32_t count)
{
    while (element->held < count)
        sched_yield();
}

/* Memory shared with children, which stays when they are killed. */
static inline void *shared_make(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    return memory;
}

#endif
