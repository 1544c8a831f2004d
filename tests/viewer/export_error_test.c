/* export_error_test.c - errors in the middle of an export: of the format that
 * takes its events, of memory, of files of libotf2, and being stopped. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <jansson.h>

#include "eventspace/run/run.h"
#include "paths/map/map.h"
#include "pastset/status.h"
#include "pastset/verb.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "viewer/export/export_internal.h"

#define EVENTS 5

static const char map_text[] =
    "digraph one { trace_capacity=64; trace_policy=discard;\n"
    " subgraph cluster_h0 {\n"
    "  t [kind=thread, number=0];\n"
    "  c [kind=collector, id=0, trace=x];\n"
    "  log [kind=element, type=i64, policy=discard, capacity=4]; }\n"
    " t -> c [as=log, use=write]; c -> log; }\n";

static const viewer_export_options everything = {.from_ns = INT64_MIN,
                                                 .to_ns = INT64_MAX};
static eventspace_run *run;
static viewer__export exported;

/* Each lies around the next; so they are in the file the other way round. */
static void setup(void)
{
    paths_map *map;
    fake_run *fake;

    scratch_make();
    check_status(paths_map_parse(&map, map_text, strlen(map_text), "test"), 0);
    fake = fake_run_begin(scratch_file("."), map);
    cr_assert(fake, "%s", pastset_error());
    for (uint32_t i = EVENTS; i-- > 0;) {
        eventspace_trace event = {.start = FAKE_START + i * 10,
                                  .end = FAKE_START + 1000 - i * 10,
                                  .sequence = i + 1,
                                  .operation = PASTSET_WRITE};
        check_status(fake_run_event(fake, &event), 0);
    }
    check_status(fake_run_end(fake), 0);
    paths_map_destroy(map);
    check_status(eventspace_run_open(&run, scratch_file(".")), 0);
    check_status(viewer__export_open(&exported, run, &everything), 0);
}

static void teardown(void)
{
    viewer__export_close(&exported);
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(export_error, .timeout = 120, .init = setup, .fini = teardown);

/* Fails at the event `until`. */
typedef struct taker {
    uint32_t taken, until;
} taker;

static int take(const viewer__event *event, void *context)
{
    taker *t = context;

    cr_assert_eq(event->sequence, ++t->taken);
    return t->taken == t->until ? pastset_fail(PASTSET_ENOSPC, "it is full")
                                : 0;
}

Test(export_error, come_in_the_order_of_their_begin)
{
    int64_t first_ns, last_ns;
    taker t = {0};

    check_status(
        viewer__export_sorted(&exported, &first_ns, &last_ns, take, &t), 0);
    cr_assert_eq(t.taken, EVENTS);
    cr_assert_eq(first_ns, 0);
    cr_assert_eq(last_ns, 1000);
}

Test(export_error, end_with_the_first_error_of_who_gets_them)
{
    int64_t first_ns, last_ns;

    for (uint32_t i = 1; i <= EVENTS; i++) {
        taker t = {.until = i};
        check_status(
            viewer__export_sorted(&exported, &first_ns, &last_ns, take, &t),
            PASTSET_ENOSPC);
        check_error("it is full");
        cr_assert_eq(t.taken, i);
    }
}

Test(export_error, end_when_the_export_is_stopped)
{
    int64_t first_ns, last_ns;
    taker t = {0};

    viewer_export_stop = SIGINT;
    check_status(
        viewer__export_sorted(&exported, &first_ns, &last_ns, take, &t),
        PASTSET_ECANCELED);
    check_error("interrupted");
    cr_assert_eq(t.taken, 0);
    viewer_export_stop = 0;
}

/* --- memory of jansson --- */

static int allocations_left;

static void *allocate(size_t bytes)
{
    return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

/* Facts are whole or there are none. */
Test(export_error, facts_are_whole_or_there_are_none)
{
    char *whole, *text;
    json_t *facts = viewer__export_facts(&exported);
    int most = 0;

    whole = json_dumps(facts, JSON_COMPACT);
    json_decref(facts);
    json_set_alloc_funcs(allocate, free);
    do {
        allocations_left = most;
        facts = viewer__export_facts(&exported);
        if (!facts)
            continue;
        allocations_left = 1000;
        text = json_dumps(facts, JSON_COMPACT);
        cr_assert_str_eq(text, whole);
        free(text);
        json_decref(facts);
    } while (!facts && ++most < 1000);
    json_set_alloc_funcs(malloc, free);
    cr_assert_gt(most, 10);
    cr_assert_lt(most, 1000);
    free(whole);
}

/* --- files of libotf2 --- */

static int opens_left = -1; /* < 0: none fails */

/* What libotf2 cannot close it keeps; AddressSanitizer asks for this. */
__attribute__((visibility("default"))) const char *
__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2";
}

/* In place of the C library's, also for libotf2. */
__attribute__((visibility("default"))) FILE *fopen(const char *name,
                                                   const char *mode)
{
    FILE *(*real)(const char *, const char *);

    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (!strstr(name, "/traces") || opens_left < 0 || opens_left-- > 0)
        return real(name, mode);
    errno = EMFILE;
    return NULL;
}

Test(export_error, of_a_file_of_otf2_that_cannot_be_opened)
{
    scopes_ledger ledger;
    int files = 0, err;

    do {
        const char *directory = scratch_file("otf2.%d", files);
        cr_assert_eq(mkdir(directory, 0777), 0);
        opens_left = files;
        err = viewer_export_otf2(run, &everything, directory, &ledger);
        if (opens_left < 0)
            check_status(err, PASTSET_EIO);
    } while (opens_left < 0 && ++files < 100);
    check_status(err, 0);
    cr_assert_geq(files, 4); /* events, definitions, all of these, anchor */
    opens_left = -1;
}
