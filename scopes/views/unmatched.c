/* unmatched.c - the view "unmatched": messages of which both ends do not agree
 * (scopes/reading/message_pairs.h). They are always those of the whole run.
 *
 * A row is what is wrong, with messages of one tag from one thread to another
 * in a communicator: how many these are, and their bytes, as those who sent and
 * who received them say. With `each`, a row is a message, in the order in which
 * they were sent or, if nobody has sent them, received. With `of`, those of the
 * communicator of that name. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/reading/message_pairs.h"

static const scopes_column columns[] = {
    {"what", "what", SCOPES_TEXT},
    {"communicator", "communicator", SCOPES_TEXT},
    {"from_thread", "from", SCOPES_TEXT},
    {"to_thread", "to", SCOPES_TEXT},
    {"tag", "tag", SCOPES_NUMBER},
    {"count", "count", SCOPES_COUNT},
    {"bytes", "sent bytes", SCOPES_COUNT},
    {"bytes_received", "received bytes", SCOPES_COUNT},
};

static const scopes_column each_columns[] = {
    {"what", "what", SCOPES_TEXT},
    {"communicator", "communicator", SCOPES_TEXT},
    {"from_thread", "from", SCOPES_TEXT},
    {"to_thread", "to", SCOPES_TEXT},
    {"tag", "tag", SCOPES_NUMBER},
    {"ordinal", "no.", SCOPES_NUMBER},
    {"bytes", "sent bytes", SCOPES_COUNT},
    {"bytes_received", "received bytes", SCOPES_COUNT},
    {"send_ns", "sent ms", SCOPES_TIME_NS},
    {"receive_ns", "received ms", SCOPES_TIME_NS},
    {"send_call", "sent by", SCOPES_TEXT},
    {"receive_call", "received by", SCOPES_TEXT},
};

typedef struct unmatched {
    const scopes_view_input *view_input;
    const scopes_message_pairs *pairs;
    const scopes_message_pair **faults;
    size_t count;
} unmatched;

/* --- which --- */

static bool is_asked_for(const unmatched *u, const scopes_message_pair *pair)
{
    const scopes_message_key *key = scopes_message_pair_key(pair);
    const char *of = u->view_input->of;

    return (scopes__has_thread(u->view_input, key->from) ||
            scopes__has_thread(u->view_input, key->to)) &&
           (!of ||
            strcmp(scopes_message_pair_communicator(u->pairs, pair), of) == 0);
}

static int faults_find(unmatched *u)
{
    u->faults = scopes__allocate((u->pairs->count + 1) * sizeof(const void *));
    if (!u->faults)
        return scopes__no_room("for the messages of a run");
    for (size_t i = 0; i < u->pairs->count; i++) {
        const scopes_message_pair *pair = &u->pairs->items[i];
        if (scopes_message_pair_fault(pair) && is_asked_for(u, pair))
            u->faults[u->count++] = pair;
    }
    return 0;
}

/* Which of them are one row: what is wrong with them first. */
static int compare(const scopes_message_pair *a, const scopes_message_pair *b)
{
    scopes_message_key left = *scopes_message_pair_key(a);
    scopes_message_key right = *scopes_message_pair_key(b);
    int order =
        strcmp(scopes_message_pair_fault(a), scopes_message_pair_fault(b));

    left.ordinal = right.ordinal = 0;
    return order ? order : scopes_message_compare(&left, &right);
}

static int by_row(const void *left, const void *right)
{
    return compare(*(const scopes_message_pair *const *)left,
                   *(const scopes_message_pair *const *)right);
}

/* --- rows --- */

static void add_what(scopes_table *out, const unmatched *u,
                     const scopes_message_pair *pair)
{
    const scopes_topology *topology = u->view_input->topology;
    const scopes_message_key *key = scopes_message_pair_key(pair);

    scopes_table_text(out, scopes_message_pair_fault(pair));
    scopes_table_text(out, scopes_message_pair_communicator(u->pairs, pair));
    scopes_table_text(out, scopes_topology_thread_name(topology, key->from));
    scopes_table_text(out, scopes_topology_thread_name(topology, key->to));
    scopes_table_integer(out, key->tag);
}

static void add_bytes(scopes_table *out, const scopes_message_end *end,
                      uint64_t bytes)
{
    scopes_table_integer(out, end ? (int64_t)bytes : SCOPES_BLANK);
}

static void add_sums(scopes_table *out, unmatched *u)
{
    uint64_t sent, received;

    if (u->count)
        qsort(u->faults, u->count, sizeof(*u->faults), by_row);
    for (size_t i = 0, next; i < u->count; i = next) {
        const scopes_message_pair *first = u->faults[i];
        const scopes_message_end *s = NULL, *r = NULL;
        sent = received = 0;
        for (next = i; next < u->count && compare(first, u->faults[next]) == 0;
             next++) {
            const scopes_message_pair *pair = u->faults[next];
            s = pair->sent ? pair->sent : s;
            r = pair->received ? pair->received : r;
            sent += pair->sent ? pair->sent->bytes : 0;
            received += pair->received ? pair->received->bytes : 0;
        }
        add_what(out, u, first);
        scopes_table_integer(out, (int64_t)(next - i));
        add_bytes(out, s, sent);
        add_bytes(out, r, received);
    }
}

static void add_time(scopes_table *out, const scopes_message_end *end,
                     int64_t ns)
{
    scopes_table_integer(out, end ? ns : SCOPES_BLANK);
}

static void add_call(scopes_table *out, const scopes_message_end *end)
{
    scopes_table_text(out, end ? end->operation : "");
}

static void add_each(scopes_table *out, const unmatched *u)
{
    for (size_t i = 0; i < u->count; i++) {
        const scopes_message_pair *pair = u->faults[i];
        const scopes_message_end *s = pair->sent, *r = pair->received;
        uint32_t ordinal = scopes_message_pair_key(pair)->ordinal;
        add_what(out, u, pair);
        scopes_table_integer(out, ordinal == EVENTSPACE_MESSAGE_UNKNOWN
                                      ? SCOPES_BLANK
                                      : ordinal);
        add_bytes(out, s, s ? s->bytes : 0);
        add_bytes(out, r, r ? r->bytes : 0);
        add_time(out, s, pair->sent_ns);
        add_time(out, r, pair->received_ns);
        add_call(out, s);
        add_call(out, r);
    }
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    unmatched u = {.view_input = view_input};
    scopes_message_pairs *pairs;
    int err;

    if (!view_input->run)
        return 0;
    err = scopes_message_pairs_make(&pairs, view_input->run,
                                    view_input->topology, view_input->clocks);
    if (err)
        return err;
    u.pairs = pairs;
    err = faults_find(&u);
    if (!err && view_input->each)
        add_each(out, &u);
    else if (!err)
        add_sums(out, &u);
    scopes__free(u.faults);
    scopes_message_pairs_destroy(pairs);
    return err;
}

const scopes_view scopes__view_unmatched = {
    "unmatched",
    "messages that were sent and not received, or not as they were sent",
    "a message",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .eventless = true,
    .when_empty = "there are no messages, or both ends of each of them agree"};
