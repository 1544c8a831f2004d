/* change.c - what changes an element: appending, consuming, truncating, and
 * the ledger that counts it. All of it under the element's lock, except that
 * the one writer appends without (append.h).
 *
 * A tuple that is taken from the middle leaves a hole: its slot is marked, and
 * First passes it later without counting it again. */
#include "pastset/element_internal.h"
#include "pastset/schedule.h"

/* Publishes First and the counts; the former copy stays as it was until the
 * next change. The model is ledger.pml. */
static void ledger_store(element_header *header, const ledger_values *values)
{
    uint64_t version =
        atomic_load_explicit(&header->version, memory_order_relaxed) + 1;
    element_ledger *to = &header->ledgers[version % 2];

    /* Release: pairs with the acquire fence in pastset__ledger_load(); a
     * reader of this copy that sees it change sees the version that left it. */
    pastset__fence(memory_order_release);
    atomic_store_explicit(&to->first, values->first, memory_order_relaxed);
    atomic_store_explicit(&header->holes[version % 2], values->hole,
                          memory_order_relaxed);
    for (int i = 0; i < GONE_REASONS; i++)
        atomic_store_explicit(&to->gone[i], values->gone[i],
                              memory_order_relaxed);
    PASTSET_POINT("change.ledger");
    /* Release: pairs with the acquire in first_of(). Whoever sees a slot
     * filled anew sees this first. */
    atomic_store_explicit(&header->version, version, memory_order_release);
}

static bool is_taken(const pastset_element *element, uint64_t index)
{
    slot_header *header = (slot_header *)(void *)slot_at(element, index);
    return !element->single_writer &&
           atomic_load_explicit(&header->taken, memory_order_relaxed);
}

/* Moves First to `first`, counting tuples that were still there as gone for
 * that reason, and then over those that were taken before. */
static void first_move(pastset_element *element, uint64_t first, int reason)
{
    ledger_values values;
    uint64_t last, at, implied;

    pastset__ledger_load(element->header, &values, &last);
    at = values.first;
    implied = first_given_last(element, last);
    if (implied > at) { /* discarded by a writer that takes no lock */
        values.gone[GONE_DROPPED] += implied - at;
        at = implied;
    }
    if (!element->single_writer) {
        for (; at < first; at++)
            values.gone[reason] += !is_taken(element, at);
        while (at < last && is_taken(element, at))
            at++;
    } else if (at < first) {
        values.gone[reason] += first - at;
        at = first;
    }
    values.first = at;
    ledger_store(element->header, &values);
}

void pastset__truncate(pastset_element *element, uint64_t index)
{
    uint64_t last =
        atomic_load_explicit(&element->header->last, memory_order_acquire);

    first_move(element, index < last ? index : last, GONE_TRUNCATED);
}

/* --- appending --- */

static int refuse(pastset_element *element, int err)
{
    pastset_element_refuse(element, 1, err);
    return err;
}

static int memory_take(pastset_element *element)
{
    while (element->committed < element->slots &&
           element->appender.next >= element->committed) {
        int err = pastset__element_grow(element);
        if (err)
            return refuse(element, err);
    }
    while (element->touched < element->committed &&
           element->appender.next >= element->touched)
        pastset__element_touch(element);
    return 0;
}

static int limit_check(pastset_element *element, uint64_t present)
{
    if (present < element->capacity)
        return 0;
    return refuse(element,
                  pastset_fail(PASTSET_EFULL,
                               "element \"%s\" has grown to its limit of %llu "
                               "tuples",
                               element->header->name,
                               (unsigned long long)element->capacity));
}

/* Makes room for one more tuple. */
static int make_room(pastset_element *element)
{
    uint64_t next = element->appender.next;
    uint64_t present = next - first_of(element->header);
    int err = 0;

    switch (element->policy) {
    case PASTSET_BLOCK:
        err = present < element->delta ? 0 : PASTSET_EAGAIN;
        break;
    case PASTSET_DISCARD:
        /* Of one writer the count that append() raises does it. */
        if (!element->single_writer && present >= element->capacity)
            first_move(element, next - element->capacity + 1, GONE_DROPPED);
        break;
    default:
        err = limit_check(element, present);
    }
    return err ? err : memory_take(element);
}

int pastset__append(pastset_element *element, pastset_request *request)
{
    pastset_appender *appender = &element->appender;
    unsigned char *slot = appender->at;
    int err = make_room(element);

    if (err)
        return err;
    /* Release: pairs with the acquire fence in still_there(). */
    pastset__fence(memory_order_release);
    slot_fill(element, slot, request);
    request->index = appender->next;
    slot += appender->stride_bytes;
    appender->at = slot == appender->end ? appender->begin : slot;
    appender->next++;
    PASTSET_POINT("change.publish");
    /* Release: pairs with the acquire in last_of(). */
    atomic_store_explicit(appender->last, appender->next, memory_order_release);
    return 0;
}

/* --- consuming --- */

/* Counts one consumed tuple that is not the oldest, and then marks it: after a
 * kill in between, `hole` stands for the mark. */
static void take_hole(pastset_element *element, uint64_t index)
{
    slot_header *slot = (slot_header *)(void *)slot_at(element, index);
    ledger_values values;
    uint64_t last;

    pastset__ledger_load(element->header, &values, &last);
    values.gone[GONE_CONSUMED]++;
    values.hole = index + 1;
    ledger_store(element->header, &values);
    PASTSET_POINT("change.hole");
    atomic_store_explicit(&slot->taken, 1, memory_order_relaxed);
}

/* Where slots cannot be marked only the oldest is ever consumed. Those between
 * it and First were discarded by the writer; what that discards from here on
 * follows from its count again. */
static void consume_oldest(pastset_element *element, uint64_t index)
{
    ledger_values values;
    uint64_t last;

    pastset__ledger_load(element->header, &values, &last);
    values.gone[GONE_DROPPED] += index - values.first;
    values.gone[GONE_CONSUMED]++;
    values.first = index + 1;
    ledger_store(element->header, &values);
}

int pastset__consume(pastset_element *element, pastset_request *request,
                     uint64_t *from)
{
    const pastset_pattern *pattern =
        request->verb == PASTSET_TAKE ? request->pattern : NULL;
    int err;

    do {
        err = pastset__find(element, pattern, from);
        if (!err)
            err = pastset__copy_out(element, *from, request);
        /* Expired: discarded meanwhile, by a writer without lock. */
    } while (err == PASTSET_EEXPIRED);
    if (err)
        return err;
    if (element->single_writer)
        consume_oldest(element, *from);
    else if (*from == first_of(element->header))
        first_move(element, *from + 1, GONE_CONSUMED);
    else
        take_hole(element, *from);
    return 0;
}
