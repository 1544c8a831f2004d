/* report_fronts.c - steps as fronts: when each thread was in them (the view
 * steps, in detail).
 *
 *   fronts {every, count, start, length}: of the steps `every`, 2 `every` and
 * so on, `count` of them, and of each thread: 0 if it was not in the step, else
 * 1 and the start (zigzag, since the thread's start of the step before that is
 * told; at first since startNs), by thread and step; and from there to its end
 *
 * Steps are left out where there are too many. */
#include "viewer/report/report_fronts_internal.h"

#include "viewer/timeline/pack_numbers_internal.h"

#define FRONTS_MAX 100000 /* starts of all threads */

/* Of a thread: its steps are in order. */
static void add_thread(viewer__numbers *start, viewer__numbers *length,
                       const scopes_communication *view,
                       const scopes_thread *thread, uint32_t every,
                       int64_t before_ns)
{
    const scopes_step *step = &view->steps[thread->step];
    const scopes_step *end = step + thread->steps;

    for (uint32_t k = every; k <= view->last_step; k += every) {
        while (step < end && step->step < k)
            step++;
        if (step == end || step->step != k) {
            viewer__numbers_add(start, 0);
            viewer__numbers_add(length, 0);
            continue;
        }
        viewer__numbers_add(start,
                            1 + viewer__zigzag(step->start_ns - before_ns));
        viewer__numbers_add(length, (uint64_t)(step->end_ns - step->start_ns));
        before_ns = step->start_ns;
    }
}

json_t *viewer__report_fronts(const scopes_communication *view,
                              int64_t start_ns)
{
    viewer__numbers start = {0}, length = {0};
    uint64_t cells = (uint64_t)view->last_step * view->thread_count;
    uint32_t every = (uint32_t)(cells / FRONTS_MAX) + 1;

    for (uint32_t i = 0; i < view->thread_count; i++)
        add_thread(&start, &length, view, &view->threads[i], every, start_ns);
    return json_pack("{s:I, s:I, s:o, s:o}", "every", (json_int_t)every,
                     "count", (json_int_t)(view->last_step / every), "start",
                     viewer__numbers_take(&start), "length",
                     viewer__numbers_take(&length));
}
