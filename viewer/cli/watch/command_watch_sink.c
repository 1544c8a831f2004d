/* command_watch_sink.c - where the samples of eventspace watch go: into
 * histories, or as lines to standard output. */
#include "viewer/cli/watch/command_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"

int cli_watch_sink_init(watch_sink *sink, const watch_arguments *a)
{
    *sink = (watch_sink){.a = a, .shows = !a->lines && isatty(STDERR_FILENO)};
    return a->lines ? 0 : measure_histories_open(&sink->histories, a->folder);
}

void cli_watch_sink_fini(watch_sink *sink)
{
    if (sink->shows && sink->samples)
        fputc('\n', stderr);
    measure_histories_close(sink->histories);
}

/* Standard output that fails once is of no use any more. */
static int line_put(watch_sink *sink, measure_kind kind, const char *place,
                    int64_t time_ms, double value, bool *changed)
{
    *changed = false;
    if (printf("%lld,%.9g,%s of %s\n", (long long)time_ms, value,
               measure_kind_name(kind), place) > 0 &&
        fflush(stdout) == 0)
        return 0;
    *changed = !sink->ended;
    sink->ended = true;
    return pastset_fail(PASTSET_EIO, "standard output: %s", strerror(errno));
}

void cli_watch_say(watch_sink *sink, const char *place, int err)
{
    const char *over = sink->shows ? "\r\033[K" : "";

    if (err)
        fprintf(stderr, "%seventspace: %s: %s\n", over, place, pastset_error());
    else
        fprintf(stderr, "%seventspace: %s: samples again\n", over, place);
}

void cli_watch_sink_add(watch_sink *sink, measure_kind kind, const char *place,
                        int64_t time_ms, double value)
{
    bool changed;
    int err = sink->histories
                  ? measure_histories_add(sink->histories, kind, place, time_ms,
                                          value, &changed)
                  : line_put(sink, kind, place, time_ms, value, &changed);

    if (changed)
        cli_watch_say(sink, place, err);
    sink->failed = err != 0;
    sink->samples += !err;
    if (sink->shows)
        fprintf(stderr, "\r\033[K%llu samples; %s of %s: %.4g %s",
                (unsigned long long)sink->samples, measure_kind_name(kind),
                place, value, measure_kind_unit(kind));
}
