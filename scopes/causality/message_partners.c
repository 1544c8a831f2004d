/* message_partners.c - see message_partners_internal.h. */
#include "scopes/causality/message_partners_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/messages.h"

/* An end of a message. */
typedef struct end {
    scopes_message_key key;
    bool is_received;
    uint64_t operation;
} end;

typedef struct partner {
    uint64_t receive, send;
} partner;

struct scopes__partners {
    partner *items; /* by the receive */
    size_t count;
};

static int no_room(void)
{
    return scopes__no_room("for the messages of a run");
}

/* --- reading --- */

typedef struct ends {
    end *items;
    size_t count;
} ends;

static int read_thread(ends *all, scopes_messages *messages, uint32_t thread)
{
    scopes_message_end given;

    while (scopes_messages_next(messages, thread, &given)) {
        end *more;
        if (given.counted_by == PATHS_NONE)
            return 0; /* so are all others of its process */
        if (given.key.ordinal == EVENTSPACE_MESSAGE_UNKNOWN)
            continue;
        more = scopes__array_grow(all->items, all->count, sizeof(*more));
        if (!more)
            return no_room();
        all->items = more;
        more[all->count++] = (end){given.key, given.is_received,
                                   (uint64_t)thread << 32 | given.call};
    }
    return 0;
}

static int read_all(ends *all, const eventspace_run *run,
                    const scopes_topology *topology)
{
    scopes_messages *messages;
    int err = scopes_messages_open(&messages, run, topology);

    if (err)
        return err;
    for (uint32_t i = 0; i < topology->thread_count && !err; i++)
        err = read_thread(all, messages, i);
    scopes_messages_close(messages);
    return err;
}

/* --- pairing --- */

static int by_key(const void *left, const void *right)
{
    const end *a = left, *b = right;
    int order = scopes_message_compare(&a->key, &b->key);

    return order ? order : a->is_received - b->is_received;
}

static int by_receive(const void *left, const void *right)
{
    const partner *a = left, *b = right;

    return a->receive < b->receive ? -1 : a->receive > b->receive;
}

static bool are_one(const end *sent, const end *received)
{
    return !sent->is_received && received->is_received &&
           scopes_message_compare(&sent->key, &received->key) == 0;
}

static int pair(scopes__partners *out, ends *all)
{
    qsort(all->items, all->count, sizeof(*all->items), by_key);
    out->items = scopes__allocate((all->count / 2 + 1) * sizeof(*out->items));
    if (!out->items)
        return no_room();
    for (size_t i = 0; i + 1 < all->count; i++)
        if (are_one(&all->items[i], &all->items[i + 1]))
            out->items[out->count++] =
                (partner){all->items[i + 1].operation, all->items[i].operation};
    qsort(out->items, out->count, sizeof(*out->items), by_receive);
    return 0;
}

int scopes__partners_make(scopes__partners **out, const eventspace_run *run,
                          const scopes_topology *topology)
{
    scopes__partners *partners = calloc(1, sizeof(*partners));
    ends all = {0};
    int err = partners ? read_all(&all, run, topology) : no_room();

    *out = NULL;
    if (!err && all.count)
        err = pair(partners, &all);
    scopes__free(all.items);
    if (err || !all.count)
        scopes__partners_destroy(partners);
    else
        *out = partners;
    return err;
}

void scopes__partners_destroy(scopes__partners *partners)
{
    if (!partners)
        return;
    scopes__free(partners->items);
    free(partners);
}

uint64_t scopes__partner_of(const scopes__partners *partners, uint64_t receive)
{
    const partner wanted = {.receive = receive}, *found = NULL;

    if (partners->count)
        found = bsearch(&wanted, partners->items, partners->count,
                        sizeof(wanted), by_receive);
    return found ? found->send : SCOPES__NO_PARTNER;
}
