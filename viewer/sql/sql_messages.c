/* sql_messages.c - the table `message`: both ends of each, in the order in
 * which they were sent. */
#include "viewer/sql/sql_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/reading/messages.h"

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

typedef struct found {
    scopes_message_end end;
    int64_t at_ns;
} found;

/* A message: one of its ends may be missing. */
typedef struct pair {
    const found *sent, *received;
    int64_t at_ns;
} pair;

typedef struct finding {
    viewer__sql_run *sql;
    scopes_messages *messages;
    const scopes_clocks *clocks;
    found *all;
    size_t count;
} finding;

static int no_memory(void)
{
    return pastset_no_memory("for the messages of a run");
}

static int find_of(finding *f, uint32_t thread)
{
    const scopes_topology *topology = viewer__sql_topology(f->sql);
    uint32_t node = topology->threads[thread];
    scopes_message_end end;

    while (scopes_messages_next(f->messages, thread, &end)) {
        found *more = pastset_array_grow(f->all, f->count, sizeof(*more));
        if (!more)
            return no_memory();
        f->all = more;
        more[f->count++] = (found){
            end, scopes_clocks_ns(f->clocks, topology->map->nodes[node].process,
                                  end.tick)};
    }
    return 0;
}

/* Ends of one message lie beside each other, the sender's first. */
static int by_key(const void *left, const void *right)
{
    const found *a = left, *b = right;
    int order = scopes_message_compare(&a->end.key, &b->end.key);

    return order ? order : a->end.is_received - b->end.is_received;
}

static int by_time(const void *left, const void *right)
{
    const pair *a = left, *b = right;

    return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

static bool are_one(const found *sent, const found *received)
{
    return !sent->end.is_received && received->end.is_received &&
           sent->end.key.ordinal != EVENTSPACE_MESSAGE_UNKNOWN &&
           scopes_message_compare(&sent->end.key, &received->end.key) == 0;
}

static size_t make_pairs(const finding *f, pair *out)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++) {
        const found *at = &f->all[i];
        pair *p = &out[count++];
        *p = (pair){.at_ns = at->at_ns};
        if (at->end.is_received) {
            p->received = at;
            continue;
        }
        p->sent = at;
        if (i + 1 < f->count && are_one(at, at + 1)) {
            p->received = at + 1;
            i++;
        }
    }
    if (count)
        qsort(out, count, sizeof(*out), by_time);
    return count;
}

static void add_number(scopes_table *out, bool is_known, int64_t number)
{
    scopes_table_integer(out, is_known ? number : SCOPES_BLANK);
}

static void add_call(scopes_table *out, const found *end)
{
    scopes_table_text(out,
                      end && *end->end.operation ? end->end.operation : NULL);
}

static const char *status_of(const pair *p)
{
    const found *failed = p->received && p->received->end.status ? p->received
                          : p->sent && p->sent->end.status       ? p->sent
                                                                 : NULL;
    const found *any = p->sent ? p->sent : p->received;

    if (failed)
        return pastset_status_name(-failed->end.status);
    if (any->end.key.ordinal == EVENTSPACE_MESSAGE_UNKNOWN)
        return "ambiguous";
    return !p->received ? "not received" : !p->sent ? "not sent" : "";
}

static void add_message(scopes_table *out, const finding *f, const pair *p)
{
    const found *s = p->sent, *r = p->received;
    const scopes_message_key *key = s ? &s->end.key : &r->end.key;

    scopes_table_text(
        out, scopes_messages_communicator(f->messages, key->communicator));
    scopes_table_integer(out, key->from);
    scopes_table_integer(out, key->to);
    scopes_table_integer(out, key->tag);
    add_number(out, key->ordinal != EVENTSPACE_MESSAGE_UNKNOWN, key->ordinal);
    scopes_table_integer(out, (int64_t)(s ? s->end.bytes : r->end.bytes));
    add_number(out, r, r ? (int64_t)r->end.bytes : 0);
    add_number(out, s, s ? s->at_ns : 0);
    add_number(out, r, r ? r->at_ns : 0);
    add_number(out, s, s ? s->end.call : 0);
    add_number(out, r, r ? r->end.call : 0);
    add_call(out, s);
    add_call(out, r);
    add_number(out, s, s ? s->end.thread : 0);
    add_number(out, r, r ? r->end.thread : 0);
    scopes_table_text(out, status_of(p));
}

static int find_all(finding *f)
{
    const scopes_topology *topology = viewer__sql_topology(f->sql);
    int err = 0;

    for (uint32_t i = 0; i < topology->thread_count && !err; i++)
        err = topology->threads[i] == PATHS_NONE ? 0 : find_of(f, i);
    if (f->count)
        qsort(f->all, f->count, sizeof(*f->all), by_key);
    return err;
}

int viewer__sql_make_messages(scopes_table *out, viewer__sql_run *sql)
{
    finding f = {.sql = sql};
    pair *pairs = NULL;
    int err = viewer__sql_clocks(sql, &f.clocks);

    if (!err)
        err = scopes_messages_open(&f.messages, viewer__sql_run_opened(sql),
                                   viewer__sql_topology(sql));
    if (!err)
        err = find_all(&f);
    if (!err) {
        pairs = calloc(f.count + 1, sizeof(*pairs));
        err = pairs ? 0 : no_memory();
    }
    if (!err) {
        size_t count = make_pairs(&f, pairs);
        for (size_t i = 0; i < count; i++)
            add_message(out, &f, &pairs[i]);
        viewer__sql_note_messages(sql, scopes_messages_damaged(f.messages));
    }
    free(pairs);
    free(f.all);
    scopes_messages_close(f.messages);
    return err;
}
