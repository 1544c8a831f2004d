/* critical_links.c - the view "critical-links": the critical path, link by
 * link.
 *
 * Rows: the links of the chain that critical_path.c tells of, from the begin of
 * the run to its end; each begins where the one before it ended. Of each it is
 * said how long its thread was runnable in it, or, where it computes, sleeping;
 * what is on the way or at an element waits for that, and does not sleep. */
#include "scopes/views/critical_path_internal.h"
#include "scopes/views/view_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"kind", "kind", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"time_ns", "time ms", SCOPES_TIME_NS},
    {"runnable_ns", "runnable ms", SCOPES_TIME_NS},
    {"sleeping_ns", "sleeping ms", SCOPES_TIME_NS},
};

static const char *const kind_names[] = {"computing", "hop", "element"};

typedef struct link {
    uint32_t place;
    int64_t from_ns, to_ns;
} link;

typedef struct links {
    link *all; /* the last one first */
    size_t count;
} links;

static int take_link(uint32_t place, int64_t from_ns, int64_t to_ns,
                     void *context)
{
    links *l = context;
    link *more = pastset_array_grow(l->all, l->count, sizeof(*more));

    if (!more)
        return pastset_no_memory("for the view critical-links");
    l->all = more;
    l->all[l->count++] = (link){place, from_ns, to_ns};
    return 0;
}

static void add_row(scopes_table *out, const scopes_view_input *view_input,
                    const scopes__link_place *place, const link *l)
{
    scopes_off_time off = {0};

    if (view_input->scheduling)
        off = scopes_off_within(&view_input->scheduling->threads[place->thread],
                                l->from_ns, l->to_ns);
    scopes_table_integer(out, place->thread);
    scopes_table_text(
        out, scopes_topology_thread_name(view_input->topology, place->thread));
    scopes_table_text(out, kind_names[place->kind]);
    scopes_table_text(out, scopes__link_what(view_input->topology, place));
    scopes_table_integer(out, l->from_ns);
    scopes_table_integer(out, l->to_ns);
    scopes_table_integer(out, l->to_ns - l->from_ns);
    scopes_table_integer(out, off.runnable_ns);
    scopes_table_integer(out, place->kind == SCOPES__COMPUTING ? off.sleeping_ns
                                                               : 0);
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    links l = {0};
    scopes__chain *chain;
    int err = scopes__chain_create(&chain, view_input->topology,
                                   view_input->event_table, view_input->clocks,
                                   view_input->scheduling);

    if (err)
        return err;
    err = scopes__chain_walk(chain, take_link, &l);
    for (size_t i = l.count; !err && i-- > 0;) {
        const scopes__link_place *place =
            scopes__chain_place(chain, l.all[i].place);
        if (scopes__link_is_wanted(view_input, place))
            add_row(out, view_input, place, &l.all[i]);
    }
    free(l.all);
    scopes__chain_destroy(chain);
    return err;
}

const scopes_view scopes__view_critical_links = {
    "critical-links", "the critical path, link by link", NULL,
    SCOPES__COLUMNS(columns), .make = make};
