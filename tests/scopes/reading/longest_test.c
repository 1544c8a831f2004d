/* longest_test.c - collectors say how long the longest tuple of a stream took,
 * which is where readers of a window stop. */
#include <criterion/criterion.h>

#include "eventspace/run/run.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"
#define TUPLES 4096

TestSuite(longest, .timeout = 120, .init = scratch_make,
          .fini = scratch_remove);

static void run_make(void)
{
    char *application =
        command_run(0, 60, GSUM, "mapping", "--threads=4", NULL);
    const char *file = scratch_write("application.dot", application);

    free(application);
    free(command_run(0, 60, EVENTSPACE, "map", "generate", "--application",
                     file, "--processes", "2", "-o", scratch_file("bare.dot"),
                     NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument",
                     scratch_file("bare.dot"), "-o", scratch_file("map.dot"),
                     NULL));
    free(command_run(0, 100, EVENTSPACE, "run", scratch_file("map.dot"),
                     "--output", scratch_file("run"), "--", GSUM, "--rounds",
                     "50", NULL));
}

static int check_stream(const eventspace_stream *given, void *context)
{
    static eventspace_trace events[TUPLES];
    eventspace_stream stream = *given;
    uint64_t index = 0, longest = 0;
    size_t count, *streams = context;

    while (eventspace_stream_read(&stream, &index, events, TUPLES, &count) ==
           0) {
        for (size_t i = 0; i < count; i++) {
            uint64_t ticks = events[i].end - events[i].start;
            longest = ticks > longest ? ticks : longest;
        }
        index += count;
    }
    if (index > 0) {
        cr_assert_eq(eventspace_stream_longest(given), longest, "%s",
                     given->name);
        ++*streams;
    } else {
        cr_assert_eq(eventspace_stream_longest(given), UINT64_MAX);
    }
    return 0;
}

Test(longest, is_what_the_tuples_of_each_stream_say)
{
    eventspace_run *run;
    size_t streams = 0;

    run_make();
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < 2; i++)
        check_status(
            eventspace_run_streams_each(run, i, check_stream, &streams), 0);
    cr_assert_geq(streams, 4);
    eventspace_run_close(run);
}
