/* view_internal.h - the views, and what several of them need. */
#ifndef SCOPES_VIEW_INTERNAL_H
#define SCOPES_VIEW_INTERNAL_H

#include "scopes/views/view.h"

extern const scopes_view scopes__view_calls;
extern const scopes_view scopes__view_causes;
extern const scopes_view scopes__view_clocks;
extern const scopes_view scopes__view_communication;
extern const scopes_view scopes__view_critical_links;
extern const scopes_view scopes__view_critical_path;
extern const scopes_view scopes__view_delay_costs;
extern const scopes_view scopes__view_delays;
extern const scopes_view scopes__view_efficiency;
extern const scopes_view scopes__view_element_order;
extern const scopes_view scopes__view_hops;
extern const scopes_view scopes__view_last_arriver;
extern const scopes_view scopes__view_messages;
extern const scopes_view scopes__view_metrics;
extern const scopes_view scopes__view_pending;
extern const scopes_view scopes__view_deadlocks;
extern const scopes_view scopes__view_performance;
extern const scopes_view scopes__view_process;
extern const scopes_view scopes__view_regions;
extern const scopes_view scopes__view_remote_overhead;
extern const scopes_view scopes__view_scheduling;
extern const scopes_view scopes__view_signal_arrival;
extern const scopes_view scopes__view_signal_departure;
extern const scopes_view scopes__view_stages;
extern const scopes_view scopes__view_steps;
extern const scopes_view scopes__view_thread_wait;
extern const scopes_view scopes__view_tuples;
extern const scopes_view scopes__view_unmatched;
extern const scopes_view scopes__view_wait_states;
extern const scopes_view scopes__view_waits_for;

/* columns, column_count */
#define SCOPES__COLUMNS(list) list, sizeof(list) / sizeof(*(list))

/* The number of a round: the first one's and how far behind it; blank when that
 * is SCOPES_NO_NUMBER. */
static inline void scopes__round_cell(scopes_table *table, uint64_t first,
                                      uint64_t behind)
{
    scopes_table_integer(table, first == SCOPES_NO_NUMBER
                                    ? SCOPES_BLANK
                                    : (int64_t)(first + behind));
}

/* How long an event of the series lasted, by the clock of its own process. An
 * end before the start, of a damaged tuple, makes it less than 0. */
static inline int64_t scopes__length_ns(const scopes_view_input *view_input,
                                        const scopes_series *series,
                                        const eventspace_trace *event)
{
    const scopes_clock *clock =
        scopes_clocks_process(view_input->clocks, series->process);

    return clock
               ? scopes__whole_ns((double)(int64_t)(event->end - event->start) *
                                      clock->ns_per_tick +
                                  0.5)
               : 0;
}

/* --- what is asked for (selection.c) --- */

/* Is the node (an element, wrapper ...) what `view_input->of` asks for? */
bool scopes__is_of(const scopes_view_input *view_input, uint32_t node);
/* Does the way that begins with this edge of a thread pass the node that
 * `view_input->of` names, or begin there? */
bool scopes__way_is_of(const scopes_view_input *view_input, uint32_t edge);
/* Is this collector what is asked for, or does that stand on the way from it
 * down to the next one? */
bool scopes__stage_is_of(const scopes_view_input *view_input, uint32_t node);
/* Is this thread asked for? */
static inline bool scopes__has_thread(const scopes_view_input *view_input,
                                      uint32_t thread)
{
    return !view_input->threads ||
           paths_number_list_has(view_input->threads, thread);
}

/* Is the thread asked for, and does one of its ways pass what is? */
bool scopes__thread_is_of(const scopes_view_input *view_input, uint32_t thread);

/* An event of what the program names itself. */
typedef struct scopes__named_event {
    const eventspace_run_definition *what;
    const eventspace_trace *event;
    int64_t start_ns, end_ns;
} scopes__named_event;

/* Calls `each` for those that are asked for: metrics, or regions and marks.
 * Errors: those of `each`. */
int scopes__named_events(const scopes_view_input *view_input, bool metrics,
                         int (*each)(const scopes__named_event *event,
                                     void *context),
                         void *context);

#endif
