/* sql_messages.c - the table `message`: both ends of each, in the order in
 * which they were sent. */
#include "viewer/sql/sql_internal.h"

#include "pastset/status.h"
#include "scopes/reading/message_pairs.h"

const scopes_column viewer__message_columns[VIEWER__MESSAGE_COLUMNS] = {
    {"communicator", "communicator", SCOPES_TEXT},
    {"from_thread", "from", SCOPES_NUMBER},
    {"to_thread", "to", SCOPES_NUMBER},
    {"tag", "tag", SCOPES_NUMBER},
    {"ordinal", "no.", SCOPES_NUMBER},
    {"bytes", "bytes", SCOPES_COUNT},
    {"bytes_received", "received bytes", SCOPES_COUNT},
    {"send_ns", "sent ms", SCOPES_TIME_NS},
    {"receive_ns", "received ms", SCOPES_TIME_NS},
    {"send_sequence", "send", SCOPES_NUMBER},
    {"receive_sequence", "receive", SCOPES_NUMBER},
    {"send_call", "sent by", SCOPES_TEXT},
    {"receive_call", "received by", SCOPES_TEXT},
    {"send_thread", "sender", SCOPES_NUMBER},
    {"receive_thread", "receiver", SCOPES_NUMBER},
    {"status", "status", SCOPES_TEXT},
};

static void add_number(scopes_table *out, bool is_known, int64_t number)
{
    scopes_table_integer(out, is_known ? number : SCOPES_BLANK);
}

static void add_call(scopes_table *out, const scopes_message_end *end)
{
    scopes_table_text(out, end && *end->operation ? end->operation : NULL);
}

/* Lengths are told by two columns. */
static const char *status_of(const scopes_message_pair *p)
{
    const scopes_message_end *failed = p->received && p->received->status
                                           ? p->received
                                       : p->sent && p->sent->status ? p->sent
                                                                    : NULL;
    const char *fault = scopes_message_pair_fault(p);

    if (failed)
        return pastset_status_name(-failed->status);
    return fault && !(p->sent && p->received) ? fault : "";
}

static void add_message(scopes_table *out, const scopes_message_pairs *pairs,
                        const scopes_message_pair *p)
{
    const scopes_message_end *s = p->sent, *r = p->received;
    const scopes_message_key *key = scopes_message_pair_key(p);

    scopes_table_text(out, scopes_message_pair_communicator(pairs, p));
    scopes_table_integer(out, key->from);
    scopes_table_integer(out, key->to);
    scopes_table_integer(out, key->tag);
    add_number(out, key->ordinal != EVENTSPACE_MESSAGE_UNKNOWN, key->ordinal);
    scopes_table_integer(out, (int64_t)(s ? s->bytes : r->bytes));
    add_number(out, r, r ? (int64_t)r->bytes : 0);
    add_number(out, s, p->sent_ns);
    add_number(out, r, p->received_ns);
    add_number(out, s, s ? s->call : 0);
    add_number(out, r, r ? r->call : 0);
    add_call(out, s);
    add_call(out, r);
    add_number(out, s, s ? s->thread : 0);
    add_number(out, r, r ? r->thread : 0);
    scopes_table_text(out, status_of(p));
}

int viewer__sql_make_messages(scopes_table *out, viewer__sql_run *sql)
{
    scopes_message_pairs *pairs;
    const scopes_clocks *clocks;
    int err = viewer__sql_clocks(sql, &clocks);

    if (!err)
        err = scopes_message_pairs_make(&pairs, viewer__sql_run_opened(sql),
                                        viewer__sql_topology(sql), clocks);
    if (err)
        return err;
    for (size_t i = 0; i < pairs->count; i++)
        add_message(out, pairs, &pairs->items[i]);
    viewer__sql_note_messages(sql, pairs->damaged);
    scopes_message_pairs_destroy(pairs);
    return 0;
}
