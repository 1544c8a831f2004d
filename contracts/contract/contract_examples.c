/* contract_examples.c - runs to learn from: their intervals, one run after the
 * other, and which of their processes are the same one. */
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "pastset/status.h"

static int places_make(contracts__examples *e)
{
    size_t count = 0;

    for (size_t i = 0; i < e->run_count; i++)
        count += e->runs[i].course->intervals;
    e->places = malloc((count + 1) * sizeof(*e->places));
    if (!e->places)
        return pastset_no_memory("for a contract");
    for (size_t i = 0; i < e->run_count; i++)
        for (size_t k = 0; k < e->runs[i].course->intervals; k++)
            e->places[e->place_count++] = (contracts__place){&e->runs[i], i, k};
    return 0;
}

/* A process of a run, and where it is among those of all. */
typedef struct named {
    const char *name;
    size_t at;
} named;

static int by_name(const void *left, const void *right)
{
    const named *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Names in the order in which runs have them. */
static void names_number(contracts__examples *e, named *all, size_t count)
{
    size_t at = 0, same = 0;

    for (size_t i = 0; i < e->run_count; i++)
        for (uint32_t p = 0; p < e->runs[i].course->processes; p++, at++)
            all[at] = (named){e->runs[i].names[p], at};
    qsort(all, count, sizeof(*all), by_name);
    for (size_t i = 0; i < count; i++) { /* first: which is the same, earlier */
        same = i > 0 && strcmp(all[i].name, all[i - 1].name) == 0 ? same : i;
        e->called[all[i].at] = (uint32_t)all[same].at;
    }
    at = 0;
    for (size_t i = 0; i < e->run_count; i++) {
        for (uint32_t p = 0; p < e->runs[i].course->processes; p++, at++) {
            bool is_new = e->called[at] == at;
            e->called[at] = is_new ? e->name_count : e->called[e->called[at]];
            if (is_new)
                e->names[e->name_count++] = e->runs[i].names[p];
        }
    }
}

static int names_find(contracts__examples *e)
{
    size_t count = 0;
    named *all;

    e->first = calloc(e->run_count + 1, sizeof(*e->first));
    if (!e->first)
        return pastset_no_memory("for a contract");
    for (size_t i = 0; i < e->run_count; i++) {
        e->first[i] = count;
        count += e->runs[i].course->processes;
    }
    all = malloc((count + 1) * sizeof(*all));
    e->called = malloc((count + 1) * sizeof(*e->called));
    e->names = malloc((count + 1) * sizeof(*e->names));
    if (!all || !e->called || !e->names) {
        free(all);
        return pastset_no_memory("for a contract");
    }
    names_number(e, all, count);
    free(all);
    e->numbers =
        malloc((e->run_count * e->name_count + 1) * sizeof(*e->numbers));
    if (!e->numbers)
        return pastset_no_memory("for a contract");
    for (size_t i = 0; i < e->run_count * e->name_count; i++)
        e->numbers[i] = CONTRACTS__ABSENT;
    for (size_t i = 0; i < e->run_count; i++)
        for (uint32_t p = 0; p < e->runs[i].course->processes; p++)
            e->numbers[i * e->name_count + e->called[e->first[i] + p]] = p;
    return 0;
}

int contracts__examples_create(contracts__examples *e,
                               const contracts_example *runs, size_t count)
{
    int err;

    *e = (contracts__examples){.runs = runs, .run_count = count};
    err = places_make(e);
    return err ? err : names_find(e);
}

void contracts__examples_fini(contracts__examples *e)
{
    free(e->places);
    free(e->names);
    free(e->called);
    free(e->first);
    free(e->numbers);
}

uint32_t contracts__examples_number(const contracts__examples *e, size_t run,
                                    uint32_t name)
{
    return e->numbers[run * e->name_count + name];
}
