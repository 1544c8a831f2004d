/* causes_says.c - a cause of the view "causes" in words. */
#include "scopes/views/causes_internal.h"

#include "scopes/tables/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES 3 /* threads that are named */

typedef struct wording {
    const scopes__losses *losses;
    const scopes__loss *loss;
    char *buffer;
    size_t used;
} wording;

__attribute__((format(printf, 2, 3))) static void say(wording *to,
                                                      const char *format, ...)
{
    size_t room = SCOPES__SAYS_BYTES - to->used;
    va_list list;
    int bytes;

    va_start(list, format);
    bytes = vsnprintf(to->buffer + to->used, room, format, list);
    va_end(list);
    if (bytes > 0)
        to->used += (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* --- names --- */

static const char *name_of(const scopes__losses *l, uint32_t thread)
{
    return scopes_topology_thread_name(l->w->in.topology, thread);
}

/* Of a call of MPI that several threads have, without to whom it was. */
static const char *call_name(char *buffer, const scopes__losses *l,
                             const scopes__loss *loss, uint32_t operation)
{
    const char *name = scopes__waiting_top(l->w, operation)->name;
    const char *place = NULL;

    for (const char *at = name; (at = strstr(at, " at ")); at++)
        place = at;
    if (loss->thread != PATHS_NONE || !place ||
        l->w->lines[scopes__waiting_top_number(l->w, operation)] ==
            SCOPES_MISSING)
        snprintf(buffer, SCOPES__SAYS_BYTES, "%s", name);
    else
        snprintf(buffer, SCOPES__SAYS_BYTES, "%.*s%s", (int)strcspn(name, " "),
                 name, place);
    return buffer;
}

/* Is it between two calls? */
static bool computes(const scopes__loss *loss)
{
    return loss->operation != SCOPES_MISSING && loss->kind != SCOPES__TRANSFER;
}

const char *scopes__cause_before(char *buffer, const scopes__losses *l,
                                 const scopes__loss *loss)
{
    if (!computes(loss))
        return "";
    return call_name(buffer, l, loss, loss->operation);
}

/* A cell's first gap may be before the thread's first call. */
const char *scopes__cause_after(char *buffer, const scopes__losses *l,
                                const scopes__loss *loss)
{
    uint32_t thread;

    if (!computes(loss))
        return "";
    thread = scopes__waiting_operation(l->w, loss->operation)->thread;
    if (loss->operation == l->w->times->threads[thread].operation)
        return "";
    return call_name(buffer, l, loss, loss->operation - 1);
}

static int64_t runnable_ns(const scopes__losses *l, uint32_t thread)
{
    const scopes_thread *its = &l->w->times->threads[thread];
    int64_t sum_ns = 0;

    for (size_t i = its->operation; i < its->operation + its->operations; i++)
        sum_ns += l->gaps.runnable_ns[i] + l->ways.runnable_ns[i];
    return sum_ns;
}

/* Those who were runnable longest. */
static void say_threads(wording *to)
{
    const scopes__losses *l = to->losses;
    int64_t before_ns = INT64_MAX;
    uint32_t before = 0;

    for (int n = 0; n < NAMES; n++) {
        int64_t most_ns = 0;
        uint32_t most = PATHS_NONE;
        for (uint32_t t = 0; t < l->w->times->thread_count; t++) {
            int64_t ns = runnable_ns(l, t);
            bool is_later = ns < before_ns || (ns == before_ns && t > before);
            if (is_later && ns > most_ns) {
                most_ns = ns;
                most = t;
            }
        }
        if (most == PATHS_NONE)
            return;
        say(to, "%s%s", n ? ", " : "", name_of(l, most));
        before_ns = most_ns;
        before = most;
    }
}

static void say_link(wording *to)
{
    const scopes_topology *topology = to->losses->w->in.topology;
    const scopes__link *link = &to->losses->links.items[to->loss->link];

    if (link->process == link->other)
        say(to, "%s", topology->hops[link->hop].name);
    else
        say(to, "%s-%s", scopes_topology_process_name(topology, link->process),
            scopes_topology_process_name(topology, link->other));
}

const char *scopes__cause_where(char *buffer, const scopes__losses *l,
                                const scopes__loss *loss)
{
    wording to = {l, loss, buffer, 0};

    buffer[0] = '\0';
    switch (loss->kind) {
    case SCOPES__SLOW_THREAD:
    case SCOPES__LATE_ARRIVER:
        say(&to, "%s", name_of(l, loss->thread));
        break;
    case SCOPES__IMBALANCE:
        return scopes__cause_before(buffer, l, loss);
    case SCOPES__SHARED_PROCESSOR:
        say_threads(&to);
        break;
    case SCOPES__SMALL_ELEMENT:
        say(&to, "%s",
            scopes_topology_node_name(l->w->in.topology, loss->element));
        break;
    case SCOPES__DELAYED_HOP:
        say_link(&to);
        break;
    case SCOPES__TRANSFER:
        return loss->operation == SCOPES_MISSING
                   ? ""
                   : call_name(buffer, l, loss, loss->operation);
    default:
        break;
    }
    return buffer;
}

/* --- sentences --- */

static void say_between(wording *to)
{
    char after[SCOPES__SAYS_BYTES], before[SCOPES__SAYS_BYTES];
    const char *first = scopes__cause_after(after, to->losses, to->loss);

    scopes__cause_before(before, to->losses, to->loss);
    if (*first)
        say(to, " between `%s` and `%s`", first, before);
    else
        say(to, " before `%s`", before);
}

static void say_slow(wording *to)
{
    const scopes__gaps *g = &to->losses->gaps;
    const scopes__gap_cell *cell = &g->cells[to->loss->operation_cell];
    double peers_ns = 0;
    char text[SCOPES_SAY_BYTES];

    for (uint32_t i = cell->first; i != SCOPES_MISSING; i = g->next[i])
        peers_ns += (double)g->peer_ns[i];
    say(to, "%s computes ", name_of(to->losses, cell->thread));
    if (peers_ns > cell->work_ns / 100)
        say(to, "%.*f times as long as the others",
            cell->work_ns < 9.95 * peers_ns ? 1 : 0, cell->work_ns / peers_ns);
    else
        say(to, "%s longer than the others",
            scopes_say_time((double)to->loss->each_ns, text));
    say_between(to);
}

/* All times at which it could have come late. */
static uint64_t chances(const wording *to)
{
    const scopes__gap_cell *cells = to->losses->gaps.cells;
    uint64_t count = 0;

    for (uint32_t i = to->loss->cell; i != SCOPES_MISSING; i = cells[i].also)
        count += cells[i].count;
    return count;
}

static void say_late(wording *to)
{
    const scopes__gap_cell *cell =
        &to->losses->gaps.cells[to->loss->operation_cell];
    char text[SCOPES_SAY_BYTES];

    say(to, "%s comes %s late in %" PRIu64 " of %" PRIu64 " times%s",
        name_of(to->losses, cell->thread),
        scopes_say_time((double)to->loss->each_ns, text), to->loss->count,
        chances(to),
        cell->sleep_ns > cell->excess_ns / 2 ? ", having slept," : "");
    say_between(to);
}

static void say_uneven(wording *to)
{
    const scopes__gap_group *group =
        &to->losses->gaps
             .groups[to->losses->gaps.cells[to->loss->operation_cell].group];
    uint32_t top =
        scopes__waiting_operation(to->losses->w, to->loss->operation)->thread;
    char text[SCOPES_SAY_BYTES];

    say(to, "Work is uneven over %" PRIu32 " threads", group->count);
    say_between(to);
    say(to, ": %s has %s more than the others", name_of(to->losses, top),
        scopes_say_time((double)to->loss->each_ns, text));
}

static void say_shared(wording *to)
{
    const scopes__losses *l = to->losses;
    double sum_ns = 0;
    char text[SCOPES_SAY_BYTES];

    for (uint32_t i = 0; i < l->w->times->thread_count; i++)
        sum_ns += (double)runnable_ns(l, i);
    say(to, "Threads had no processor for %s while others ran, most of all ",
        scopes_say_time(sum_ns, text));
    say_threads(to);
}

static void say_small(wording *to)
{
    const paths_map_node *node =
        &to->losses->w->in.topology->map->nodes[to->loss->element];
    const char *capacity = paths_attributes_get(&node->attributes, "capacity");
    char text[SCOPES_SAY_BYTES];

    say(to, "Writers wait for room in `%s`", node->name);
    if (capacity)
        say(to, ", which has room for %s", capacity);
    say(to, ": %" PRIu64 " times, for %s each", to->loss->count,
        scopes_say_time((double)to->loss->each_ns, text));
}

static void say_delayed(wording *to)
{
    const scopes__link *link = &to->losses->links.items[to->loss->link];
    char own[SCOPES_SAY_BYTES], peers[SCOPES_SAY_BYTES];

    say(to,
        link->process == link->other ? "On the way through `" : "Between `");
    say_link(to);
    say(to, "` operations take %s there and back, on others like it %s",
        scopes_say_time(link->ns, own), scopes_say_time(link->peer_ns, peers));
}

static void say_transfer(wording *to)
{
    char call[SCOPES__SAYS_BYTES], share[SCOPES_SAY_BYTES];
    const scopes__loss *loss = to->loss;

    say(to, "Communication itself takes time, apart from waiting for others");
    if (loss->operation != SCOPES_MISSING && loss->waiting_ns > 0)
        say(to, ", %s of it in `%s`",
            scopes_say_share(fmin(loss->most_ns / loss->waiting_ns, 1), share),
            call_name(call, to->losses, loss, loss->operation));
}

static void say_begin(wording *to)
{
    const scopes__losses *l = to->losses;
    int64_t last_ns = l->w->times->start_ns;
    char text[SCOPES_SAY_BYTES];

    for (uint32_t i = 0; i < l->w->times->thread_count; i++)
        if (l->w->times->threads[i].operations &&
            l->w->times->threads[i].start_ns > last_ns)
            last_ns = l->w->times->threads[i].start_ns;
    say(to, "Threads begin at different times, the last %s after the first",
        scopes_say_time((double)(last_ns - l->w->times->start_ns), text));
}

static void say_cause(wording *to)
{
    switch (to->loss->kind) {
    case SCOPES__SLOW_THREAD:
        say_slow(to);
        return;
    case SCOPES__LATE_ARRIVER:
        say_late(to);
        return;
    case SCOPES__IMBALANCE:
        say_uneven(to);
        return;
    case SCOPES__SHARED_PROCESSOR:
        say_shared(to);
        return;
    case SCOPES__SMALL_ELEMENT:
        say_small(to);
        return;
    case SCOPES__DELAYED_HOP:
        say_delayed(to);
        return;
    case SCOPES__TRANSFER:
        say_transfer(to);
        return;
    case SCOPES__LATE_BEGIN:
        say_begin(to);
        return;
    case SCOPES__DEPENDENCY:
        say(to, "Threads wait for each other, and for no cause that is larger "
                "than others");
        return;
    }
}

const char *scopes__cause_says(char *buffer, const scopes__losses *l,
                               const scopes__loss *loss)
{
    wording to = {l, loss, buffer, 0};
    char waiting[SCOPES_SAY_BYTES], gain[SCOPES_SAY_BYTES],
        share[SCOPES_SAY_BYTES];

    say_cause(&to);
    if (l->waiting_ns > 0)
        say(&to, "; %s of all waiting is due to that",
            scopes_say_share(loss->waiting_ns / l->waiting_ns, waiting));
    if (loss->is_replayed && loss->gain_ns <= 0)
        say(&to, "; without it the run would be no shorter");
    else if (loss->is_replayed && l->run_ns > 0)
        say(&to, "; without it the run would be %s (%s) shorter",
            scopes_say_time((double)loss->gain_ns, gain),
            scopes_say_share((double)loss->gain_ns / (double)l->run_ns, share));
    return buffer;
}
