/* causes.c - the view "causes": what a run has lost time by, in the order of
 * what it would gain without each (scopes/losses/losses_internal.h says how).
 *
 *   cause          slow thread, late arriver, imbalance, shared processor,
 *                  small element, delayed hop, transfer, late begin; or
 *                  dependency, which is what is left
 *   thread         of one that is slow or late
 *   where          the thread, the hop ("A-B" between processes), the element
 *   after, before  between which two of its calls it computes, by the names of
 *                  their paths; in MPI programs with the place in the program
 *   count          how often
 *   behind_ns      and by how much each time, in the mean: computed longer than
 *                  others, was on the way longer than its peers, waited for
 * room waiting_ns     of the time that threads were in operations, what it is
 * due to; the shares of all rows are 1 gain_ns        how much shorter the run
 * would have been without it, by a replay; its share is that of the run. Blank:
 * not known low_ns, high_ns   within which that is nearly certain without_ns
 * how long the run would have taken says           all that, as one sentence
 *
 * Causes of which one holds others up are not independent: without two of them
 * a run need not gain both. `threads` chooses among threads that are slow or
 * late, `of` among elements and paths; the shares are those of all. */
#include "scopes/views/causes_internal.h"

#include <math.h>

#include "scopes/views/view_waiting_internal.h"

static const scopes_column columns[] = {
    {"cause", "cause", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"where", "where", SCOPES_TEXT},
    {"after", "after call", SCOPES_TEXT},
    {"before", "before call", SCOPES_TEXT},
    {"count", "count", SCOPES_COUNT},
    {"behind_ns", "behind ms", SCOPES_TIME_NS},
    {"waiting_ns", "waiting ms", SCOPES_TIME_NS},
    {"waiting_share", "share of all waiting", SCOPES_SHARE},
    {"gain_ns", "gain ms", SCOPES_TIME_NS},
    {"gain_share", "share of the run", SCOPES_SHARE},
    {"low_ns", "at least ms", SCOPES_TIME_NS},
    {"high_ns", "at most ms", SCOPES_TIME_NS},
    {"without_ns", "run without ms", SCOPES_TIME_NS},
    {"says", "says", SCOPES_TEXT},
};

typedef struct telling {
    scopes_table *out;
    const scopes_view_input *view_input;
    const scopes__losses *losses;
} telling;

static bool is_asked_for(const telling *t, const scopes__loss *loss)
{
    const scopes_topology *topology = t->view_input->topology;

    if (t->view_input->threads &&
        (loss->thread == PATHS_NONE ||
         !scopes__has_thread(t->view_input, loss->thread)))
        return false;
    if (!t->view_input->of)
        return true;
    if (loss->element != PATHS_NONE)
        return scopes__is_of(t->view_input, loss->element);
    return loss->operation != SCOPES_MISSING &&
           scopes__way_is_of(t->view_input,
                             topology
                                 ->tops[scopes__waiting_top_number(
                                     t->losses->w, loss->operation)]
                                 .edge);
}

static void add_gain(const telling *t, const scopes__loss *loss)
{
    int64_t run_ns = t->losses->run_ns;

    if (!loss->is_replayed) {
        scopes_table_integer(t->out, SCOPES_BLANK);
        scopes_table_real(t->out, (double)NAN);
        scopes_table_integer(t->out, SCOPES_BLANK);
        scopes_table_integer(t->out, SCOPES_BLANK);
        scopes_table_integer(t->out, SCOPES_BLANK);
        return;
    }
    scopes_table_integer(t->out, loss->gain_ns);
    scopes_table_real(t->out, run_ns > 0
                                  ? (double)loss->gain_ns / (double)run_ns
                                  : (double)NAN);
    scopes_table_integer(t->out, loss->low_ns);
    scopes_table_integer(t->out, loss->high_ns);
    scopes_table_integer(t->out, run_ns - loss->gain_ns);
}

static void add_row(const telling *t, const scopes__loss *loss)
{
    const scopes__losses *l = t->losses;
    char text[SCOPES__SAYS_BYTES];

    scopes_table_text(t->out, scopes__loss_kind_name(loss->kind));
    scopes_table_text(t->out, loss->thread == PATHS_NONE
                                  ? ""
                                  : scopes_topology_thread_name(
                                        t->view_input->topology, loss->thread));
    scopes_table_copy(t->out, scopes__cause_where(text, l, loss));
    scopes_table_copy(t->out, scopes__cause_after(text, l, loss));
    scopes_table_copy(t->out, scopes__cause_before(text, l, loss));
    scopes_table_integer(t->out,
                         loss->count ? (int64_t)loss->count : SCOPES_BLANK);
    scopes_table_integer(t->out, loss->count ? loss->each_ns : SCOPES_BLANK);
    scopes_table_integer(t->out, llround(loss->waiting_ns));
    scopes_table_real(t->out, l->waiting_ns > 0
                                  ? loss->waiting_ns / l->waiting_ns
                                  : (double)NAN);
    add_gain(t, loss);
    scopes_table_copy(t->out, scopes__cause_says(text, l, loss));
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    telling t = {.out = out, .view_input = view_input};
    scopes__losses *losses = NULL;
    scopes__waiting *waiting;
    int err = scopes__view_waiting(&waiting, view_input);

    if (err)
        return err;
    err = scopes__losses_create(&losses, waiting);
    t.losses = losses;
    for (uint32_t i = 0; !err && i < losses->count; i++)
        if (is_asked_for(&t, &losses->items[i]))
            add_row(&t, &losses->items[i]);
    scopes__losses_destroy(losses);
    scopes__waiting_destroy(waiting);
    return err;
}

const scopes_view scopes__view_causes = {
    "causes",
    "what the run has lost time by, and how long it would take without it",
    NULL,
    SCOPES__COLUMNS(columns),
    NULL,
    0,
    .turn = -1,
    .make = make,
    .when_empty = "no thread was in an operation"};
