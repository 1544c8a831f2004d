/* alone.c - see alone.h. */
#include "viewer/tables/alone.h"

#include <stdbool.h>
#include <stdio.h>

#include "scopes/tables/say.h"

#define WORTH_TELLING 0.05 /* of the run */

static bool is_whole(const scopes_snapshot_options *o)
{
    return o->from_ns == INT64_MIN && o->to_ns == INT64_MAX && o->last_ns == 0;
}

static const char *name_of(const scopes_snapshot *snapshot, uint32_t thread)
{
    const scopes_topology *topology = snapshot->topology;

    return topology->map->nodes[topology->threads[thread]].name;
}

static bool is_known(const scopes_snapshot *snapshot, uint32_t thread)
{
    const scopes_thread_life *life = &snapshot->scheduling->threads[thread];

    return snapshot->topology->threads[thread] != PATHS_NONE &&
           life->is_known && life->has_begun && life->has_ended;
}

static bool all_known(const scopes_snapshot *snapshot)
{
    uint32_t count = snapshot->scheduling->thread_count;

    for (uint32_t i = 0; i < count; i++)
        if (!is_known(snapshot, i))
            return false;
    return count >= 2;
}

/* The least of the times, and the one behind it. */
typedef struct ends {
    int64_t first_ns, second_ns;
    uint32_t thread; /* whose is the first */
} ends;

static void take(ends *e, int64_t ns, uint32_t thread)
{
    if (ns >= e->second_ns)
        return;
    if (ns >= e->first_ns) {
        e->second_ns = ns;
        return;
    }
    *e = (ends){.first_ns = ns, .second_ns = e->first_ns, .thread = thread};
}

viewer_alone viewer_alone_of(const scopes_snapshot *snapshot)
{
    ends begins = {INT64_MAX, INT64_MAX, 0}, lasts = begins;
    viewer_alone alone = {.first = NULL};

    if (!is_whole(&snapshot->options) || !all_known(snapshot))
        return alone;
    for (uint32_t i = 0; i < snapshot->scheduling->thread_count; i++) {
        take(&begins, snapshot->scheduling->threads[i].begin_ns, i);
        take(&lasts, -snapshot->scheduling->threads[i].end_ns, i);
    }
    alone.run_ns = -lasts.first_ns - begins.first_ns;
    alone.begin_ns = begins.second_ns - begins.first_ns;
    alone.end_ns = lasts.second_ns - lasts.first_ns;
    if ((double)alone.begin_ns > WORTH_TELLING * (double)alone.run_ns)
        alone.first = name_of(snapshot, begins.thread);
    if ((double)alone.end_ns > WORTH_TELLING * (double)alone.run_ns)
        alone.last = name_of(snapshot, lasts.thread);
    return alone;
}

/* --- in words --- */

static size_t say(char *text, size_t bytes, const viewer_alone *alone,
                  const char *thread, int64_t ns, const char *when,
                  const char *how)
{
    char time[SCOPES_SAY_BYTES], share[SCOPES_SAY_BYTES];
    int length = snprintf(
        text, bytes, "%s for the %s %s (%s), %s", thread, when,
        scopes_say_time((double)ns, time),
        scopes_say_share((double)ns / (double)alone->run_ns, share), how);

    return length < 0 ? 0 : (size_t)length < bytes ? (size_t)length : bytes - 1;
}

const char *viewer_alone_says(const viewer_alone *alone, char *text,
                              size_t bytes)
{
    size_t used = 0;

    *text = '\0';
    if (alone->first)
        used = say(text, bytes, alone, alone->first, alone->begin_ns, "first",
                   "before any other thread had begun");
    if (alone->first && alone->last)
        used += (size_t)snprintf(text + used, bytes - used, "; ");
    if (alone->last && used < bytes)
        say(text + used, bytes - used, alone, alone->last, alone->end_ns,
            "last", "when all others had ended");
    return text;
}
