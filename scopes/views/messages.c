/* messages.c - the view "messages": how much was sent from whom to whom
 * (scopes/reading/message_pairs.h). They are always those of the whole run.
 *
 * A row is a thread and another one, to which it sent, those with the most
 * bytes first:
 *
 *   from_thread, to_thread  the two
 *   count, bytes    of the messages, as those who sent them say; of those that
 *                   nobody is seen to have sent, as those who received them
 *   mean_ns, max_ns from the begin of the send to the end of the receive, of
 *                   those of which both are there; blank if there are none
 *
 * With `of`, those of the communicator of that name; `threads` may be at either
 * end. */
#include "scopes/views/view_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/reading/message_pairs.h"

static const scopes_column columns[] = {
    {"from_thread", "from", SCOPES_TEXT},
    {"to_thread", "to", SCOPES_TEXT},
    {"count", "messages", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"mean_ns", "mean ms", SCOPES_TIME_NS},
    {"max_ns", "max ms", SCOPES_TIME_NS},
};

#define BYTES_COLUMN 3

/* All from one thread to another. */
typedef struct sums {
    int64_t count, bytes, both, total_ns, max_ns;
} sums;

static bool is_asked_for(const scopes_view_input *view_input,
                         const scopes_message_pairs *pairs,
                         const scopes_message_pair *pair)
{
    const scopes_message_key *key = scopes_message_pair_key(pair);
    const char *of = view_input->of;

    return (scopes__has_thread(view_input, key->from) ||
            scopes__has_thread(view_input, key->to)) &&
           (!of ||
            strcmp(scopes_message_pair_communicator(pairs, pair), of) == 0);
}

static int by_ends(const void *left, const void *right)
{
    const scopes_message_key *a =
        scopes_message_pair_key(*(const scopes_message_pair *const *)left);
    const scopes_message_key *b =
        scopes_message_pair_key(*(const scopes_message_pair *const *)right);

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void add(sums *s, const scopes_message_pair *pair)
{
    int64_t ns = pair->received_ns - pair->sent_ns;

    s->count++;
    s->bytes += (int64_t)(pair->sent ? pair->sent : pair->received)->bytes;
    if (!pair->sent || !pair->received)
        return;
    s->max_ns = s->both == 0 || ns > s->max_ns ? ns : s->max_ns;
    s->total_ns = scopes__sum_ns(s->total_ns, ns);
    s->both++;
}

static void add_row(scopes_table *out, const scopes_topology *topology,
                    const scopes_message_key *key, const sums *s)
{
    scopes_table_text(out, scopes_topology_thread_name(topology, key->from));
    scopes_table_text(out, scopes_topology_thread_name(topology, key->to));
    scopes_table_integer(out, s->count);
    scopes_table_integer(out, s->bytes);
    scopes_table_integer(
        out, s->both ? llround((double)s->total_ns / (double)s->both)
                     : SCOPES_BLANK);
    scopes_table_integer(out, s->both ? s->max_ns : SCOPES_BLANK);
}

static int add_rows(scopes_table *out, const scopes_view_input *view_input,
                    const scopes_message_pairs *pairs)
{
    const scopes_message_pair **list =
        scopes__allocate((pairs->count + 1) * sizeof(const void *));
    size_t count = 0;

    if (!list)
        return scopes__no_room("for the messages of a run");
    for (size_t i = 0; i < pairs->count; i++)
        if (is_asked_for(view_input, pairs, &pairs->items[i]))
            list[count++] = &pairs->items[i];
    if (count)
        qsort(list, count, sizeof(const void *), by_ends);
    for (size_t i = 0, next; i < count; i = next) {
        sums s = {0};
        for (next = i; next < count && by_ends(&list[i], &list[next]) == 0;
             next++)
            add(&s, list[next]);
        add_row(out, view_input->topology, scopes_message_pair_key(list[i]),
                &s);
    }
    scopes__free(list);
    scopes_table_sort(out, BYTES_COLUMN);
    return 0;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_message_pairs *pairs;
    int err;

    if (!view_input->run)
        return 0;
    err = scopes_message_pairs_make(&pairs, view_input->run,
                                    view_input->topology, view_input->clocks);
    if (err)
        return err;
    err = add_rows(out, view_input, pairs);
    scopes_message_pairs_destroy(pairs);
    return err;
}

const scopes_view scopes__view_messages = {
    "messages",
    "how much was sent from whom to whom",
    NULL,
    SCOPES__COLUMNS(columns),
    NULL,
    0,
    .make = make,
    .eventless = true,
    .when_empty = "the program has sent no messages: they are those of MPI"};
