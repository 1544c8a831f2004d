/* traces_collectives.c - by what messages between its processes a collective is
 * modelled. Which ones a library sends the events do not show, and libraries
 * differ in it; these are the usual ones:
 *
 *   all need all    in round k, each sends to the one 2^k further on, and
 *                   receives from the one 2^k before; after log2 n rounds, all
 *                   know of all (dissemination)
 *   each for each   a message from each to each other one; also where it was
 *                   only started, as its messages travel while its processes do
 *                   something else. Between two of which the library lets one
 *                   wait for the other (traces_pairs.c): the second to come
 * asks the first one, whose message comes before its own leaves from the root
 * a tree in which member v has what v with its lowest bit cleared has sent
 * (binomial) to the root     the same tree, the other way
 *
 * A message is as long as what its sender brought, or its receiver got. Where
 * it grows on its way (gather, scatter, allgather) it is as long as what comes
 * together. What the recorded times do not allow has not been a tree: if a
 * member had ended before another one came that is above it, all have
 * communicated with the root directly.
 *
 * Each message takes the same time, the longest with which no member ends later
 * than it did; the rest comes at the end of the call. */
#include "measure/traces/traces_ranks_internal.h"

static ranks_operation *member(const ranks *r, const ranks_meeting *m,
                               uint32_t v)
{
    return &r->operations[r->members[m->first + v]];
}

static traces_message *message(const ranks *r, const ranks_meeting *m,
                               size_t which)
{
    return &r->t->messages[m->message + which];
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void at_most(int64_t *ns, int64_t most_ns)
{
    if (*ns > most_ns)
        *ns = later(most_ns, 0);
}

static void send(const ranks *r, const ranks_meeting *m, size_t which,
                 uint64_t bytes, uint32_t from, uint32_t to)
{
    measure__traces_send(r->t, m->message + which, message(r, m, which)->at_ns,
                         bytes, member(r, m, from)->process,
                         member(r, m, to)->process);
}

static ranks_due due(const ranks *r, const ranks_meeting *m, size_t which)
{
    return (ranks_due){message(r, m, which)->at_ns,
                       m->message + (uint32_t)which};
}

/* --- all need all --- */

static uint32_t rounds_of(uint32_t count)
{
    uint32_t rounds = 0;

    while (rounds < 31 && (UINT32_C(1) << rounds) < count)
        rounds++;
    return rounds;
}

static uint32_t before(const ranks_meeting *m, uint32_t v, uint32_t round)
{
    return (v + m->count - (UINT32_C(1) << round)) % m->count;
}

static uint32_t behind(const ranks_meeting *m, uint32_t v, uint32_t round)
{
    return (v + (UINT32_C(1) << round)) % m->count;
}

/* When the last of them came. */
static int64_t last_start(const ranks *r, const ranks_meeting *m)
{
    int64_t ns = INT64_MIN;

    for (uint32_t v = 0; v < m->count; v++)
        ns = later(ns, member(r, m, v)->start_ns);
    return ns;
}

static int model_all(ranks *r, ranks_meeting *m)
{
    uint32_t rounds = rounds_of(m->count);
    int64_t last_ns = last_start(r, m);
    int err =
        measure__ranks_messages(r->t, &m->message, (size_t)rounds * m->count);

    if (err)
        return err;
    m->hop_ns = INT64_MAX;
    for (uint32_t v = 0; v < m->count; v++) {
        at_most(&m->hop_ns, (member(r, m, v)->end_ns - last_ns) / rounds);
        message(r, m, v)->at_ns = member(r, m, v)->start_ns;
    }
    m->all_ns = last_ns + rounds * m->hop_ns;
    for (uint32_t k = 1; k < rounds; k++) {
        for (uint32_t v = 0; v < m->count; v++) {
            size_t own = (size_t)(k - 1) * m->count;
            message(r, m, own + m->count + v)->at_ns =
                later(message(r, m, own + v)->at_ns,
                      message(r, m, own + before(m, v, k - 1))->at_ns) +
                m->hop_ns;
        }
    }
    return 0;
}

static int64_t meet_all(ranks *r, const ranks_meeting *m, uint32_t v)
{
    uint64_t bytes = measure__ranks_bytes(r, member(r, m, v));
    uint32_t rounds = rounds_of(m->count);

    for (uint32_t k = 0; k < rounds; k++) {
        size_t first = (size_t)k * m->count;
        uint64_t times = 1;
        ranks_due one = due(r, m, first + before(m, v, k));
        if (m->is_growing && (times << k) < m->count)
            times = (times << k) < m->count - (times << k)
                        ? times << k
                        : m->count - (times << k);
        send(r, m, first + v, bytes * times, v, behind(m, v, k));
        measure__ranks_receive(r->t, &one, 1, message(r, m, first + v)->at_ns);
        measure__traces_sleep(r->t, m->hop_ns);
    }
    return m->all_ns;
}

/* --- each for each --- */

static size_t from_to(const ranks_meeting *m, uint32_t from, uint32_t to)
{
    return (size_t)from * m->count + to;
}

static uint64_t part_of(const ranks *r, const ranks_meeting *m, uint32_t v)
{
    uint64_t bytes = measure__ranks_bytes(r, member(r, m, v));

    return m->is_whole ? bytes : bytes / m->count;
}

/* Of two: who came first. */
static uint32_t first_to_come(const ranks *r, const ranks_meeting *m)
{
    return member(r, m, 0)->start_ns > member(r, m, 1)->start_ns;
}

/* By the message that nobody sends himself. */
#define ASKS 0

static void model_turns(ranks *r, ranks_meeting *m)
{
    uint32_t first = first_to_come(r, m), second = 1 - first;
    int64_t start_ns = member(r, m, second)->start_ns;

    m->is_in_turns = true;
    m->hop_ns = INT64_MAX;
    for (uint32_t v = 0; v < 2; v++)
        at_most(&m->hop_ns, (member(r, m, v)->end_ns - start_ns) / 3);
    message(r, m, ASKS)->at_ns = start_ns;
    message(r, m, from_to(m, first, second))->at_ns = start_ns + m->hop_ns;
    message(r, m, from_to(m, second, first))->at_ns = start_ns + 2 * m->hop_ns;
}

static uint64_t least_part_of_two(const ranks *r, const ranks_meeting *m)
{
    uint64_t a = part_of(r, m, 0), b = part_of(r, m, 1);

    return a < b ? a : b;
}

static int model_each(ranks *r, ranks_meeting *m)
{
    int err =
        measure__ranks_messages(r->t, &m->message, (size_t)m->count * m->count);

    if (!err && m->model == RANKS_EACH && m->count == 2 &&
        measure__ranks_are_in_turns(r, member(r, m, 0)->process,
                                    member(r, m, 1)->process,
                                    least_part_of_two(r, m))) {
        model_turns(r, m);
        return 0;
    }

    for (uint32_t v = 0; v < m->count && !err; v++)
        for (uint32_t to = 0; to < m->count; to++)
            message(r, m, from_to(m, v, to))->at_ns = member(r, m, v)->start_ns;
    return err;
}

static size_t due_of_each(const ranks *r, const ranks_meeting *m, uint32_t v,
                          ranks_due *out)
{
    size_t count = 0;

    for (uint32_t i = 1; i < m->count; i++)
        out[count++] = due(r, m, from_to(m, (v + i) % m->count, v));
    return count;
}

static int64_t meet_in_turns(ranks *r, const ranks_meeting *m, uint32_t v)
{
    bool is_first = first_to_come(r, m) == v;
    uint32_t other = 1 - v;
    ranks_due asked = due(r, m, ASKS), data = due(r, m, from_to(m, other, v));
    int64_t ns = member(r, m, v)->start_ns;

    if (!is_first)
        send(r, m, ASKS, 0, v, other);
    ns = measure__ranks_receive(r->t, is_first ? &asked : &data, 1, ns) +
         m->hop_ns;
    measure__traces_sleep(r->t, m->hop_ns);
    send(r, m, from_to(m, v, other), part_of(r, m, v), v, other);
    return is_first ? measure__ranks_receive(r->t, &data, 1, ns) : ns;
}

static int64_t meet_each(ranks *r, const ranks_meeting *m, uint32_t v)
{
    const ranks_operation *o = member(r, m, v);

    if (m->is_in_turns)
        return meet_in_turns(r, m, v);
    for (uint32_t i = 1; i < m->count; i++) {
        uint32_t to = (v + i) % m->count;
        send(r, m, from_to(m, v, to), part_of(r, m, v), v, to);
    }
    if (m->model == RANKS_STARTED)
        return o->start_ns;
    return measure__ranks_receive(r->t, r->due, due_of_each(r, m, v, r->due),
                                  o->start_ns);
}

size_t measure__ranks_complete(const ranks *r, uint32_t operation,
                               ranks_due *out)
{
    size_t low = 0, high = r->completion_count, count = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->completions[middle].operation < operation)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->completion_count &&
           r->completions[low].operation == operation;
         low++) {
        const ranks_completion *c = &r->completions[low];
        count +=
            due_of_each(r, &r->meetings[c->meeting], c->member, &out[count]);
    }
    return count;
}

/* --- a root --- */

static uint32_t parent_of(const ranks_meeting *m, uint32_t v)
{
    return m->is_flat ? 0 : v & (v - 1);
}

/* The children of v are v + reach/2, v + reach/4 ... v + 1. */
static uint32_t reach_of(const ranks_meeting *m, uint32_t v)
{
    if (v == 0)
        return UINT32_C(1) << rounds_of(m->count);
    return m->is_flat ? 1 : v & (0 - v);
}

/* The next child of v after `child` (v: the first), those with most below them
 * first; 0: there are no more. */
static uint32_t next_child(const ranks_meeting *m, uint32_t v, uint32_t child)
{
    uint32_t step;

    if (m->is_flat)
        return v == 0 && child + 1 < m->count ? child + 1 : 0;
    step = (child == v ? reach_of(m, v) : child - v) / 2;
    while (step && v + step >= m->count)
        step /= 2;
    return step ? v + step : 0;
}

static uint64_t root_bytes(const ranks *r, const ranks_meeting *m, uint32_t v)
{
    uint32_t below = 1;

    if (m->is_growing && !m->is_flat)
        below = reach_of(m, v) < m->count - v ? reach_of(m, v) : m->count - v;
    return measure__ranks_bytes(r, member(r, m, v)) * below;
}

/* The message of a member other than the root has its number. While a model is
 * made, its time is that at which the last one it needs has come. */
static bool needs_from(ranks *r, const ranks_meeting *m)
{
    bool fits = true;

    message(r, m, 0)->at_ns = member(r, m, 0)->start_ns;
    for (uint32_t v = 1; v < m->count; v++) {
        const ranks_operation *o = member(r, m, v);
        int64_t ns = later(o->start_ns, message(r, m, parent_of(m, v))->at_ns);
        message(r, m, v)->at_ns = ns;
        fits &= o->end_ns >= ns;
    }
    return fits;
}

static bool needs_to(ranks *r, const ranks_meeting *m)
{
    bool fits = true;

    for (uint32_t v = m->count; v-- > 0;) {
        const ranks_operation *o = member(r, m, v);
        int64_t ns = o->start_ns;
        for (uint32_t c = next_child(m, v, v); c; c = next_child(m, v, c))
            ns = later(ns, message(r, m, c)->at_ns);
        message(r, m, v)->at_ns = ns;
        fits &= o->end_ns >= ns;
    }
    return fits;
}

static uint32_t depth_of(const ranks_meeting *m, uint32_t v)
{
    return m->is_flat ? v != 0 : (uint32_t)__builtin_popcount(v);
}

static uint32_t height_of(const ranks_meeting *m, uint32_t v)
{
    uint32_t height = 0;

    if (m->is_flat)
        return v == 0;
    while (next_child(m, v, v) >= v + (UINT32_C(1) << height))
        height++;
    return height;
}

static void find_hop(ranks *r, ranks_meeting *m)
{
    bool from = m->model == RANKS_FROM_ROOT;

    m->hop_ns = INT64_MAX;
    for (uint32_t v = 0; v < m->count; v++) {
        uint32_t hops = from ? depth_of(m, v) : height_of(m, v);
        if (hops)
            at_most(&m->hop_ns,
                    (member(r, m, v)->end_ns - message(r, m, v)->at_ns) / hops);
    }
}

/* From when a member needs it to when it sends: of all that it takes. */
static void send_times(ranks *r, const ranks_meeting *m)
{
    bool from = m->model == RANKS_FROM_ROOT;

    /* The message from a parent is of the child, and so has the parent's time:
     * children come after their parents, and are done first. */
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t v = from ? i : m->count - 1 - i;
        const ranks_operation *o = member(r, m, v);
        int64_t ns = o->start_ns;
        if (from && v) {
            ns = later(ns, message(r, m, parent_of(m, v))->at_ns) + m->hop_ns;
        } else if (!from && next_child(m, v, v)) {
            for (uint32_t c = next_child(m, v, v); c; c = next_child(m, v, c))
                ns = later(ns, message(r, m, c)->at_ns);
            ns += m->hop_ns;
        }
        message(r, m, v)->at_ns = ns;
    }
    for (uint32_t v = m->count; from && v-- > 1;)
        message(r, m, v)->at_ns = message(r, m, parent_of(m, v))->at_ns;
}

static int model_root(ranks *r, ranks_meeting *m)
{
    bool (*needs)(ranks *, const ranks_meeting *) =
        m->model == RANKS_FROM_ROOT ? needs_from : needs_to;
    int err = measure__ranks_messages(r->t, &m->message, m->count);

    if (err)
        return err;
    if (!needs(r, m)) {
        m->is_flat = true;
        needs(r, m);
    }
    find_hop(r, m);
    send_times(r, m);
    return 0;
}

static int64_t meet_from_root(ranks *r, const ranks_meeting *m, uint32_t v)
{
    int64_t ns = member(r, m, v)->start_ns;

    if (v) {
        ranks_due one = due(r, m, v);
        ns = measure__ranks_receive(r->t, &one, 1, ns) + m->hop_ns;
        measure__traces_sleep(r->t, m->hop_ns);
    }
    for (uint32_t c = next_child(m, v, v); c; c = next_child(m, v, c))
        send(r, m, c, root_bytes(r, m, c), v, c);
    return ns;
}

static int64_t meet_to_root(ranks *r, const ranks_meeting *m, uint32_t v)
{
    int64_t ns = member(r, m, v)->start_ns;
    size_t count = 0;

    for (uint32_t c = next_child(m, v, v); c; c = next_child(m, v, c))
        r->due[count++] = due(r, m, c);
    if (count) {
        ns = measure__ranks_receive(r->t, r->due, count, ns) + m->hop_ns;
        measure__traces_sleep(r->t, m->hop_ns);
    }
    if (v)
        send(r, m, v, root_bytes(r, m, v), v, parent_of(m, v));
    return ns;
}

/* --- any --- */

int measure__ranks_model(ranks *r, ranks_meeting *m)
{
    switch (m->model) {
    case RANKS_ALL:
        return model_all(r, m);
    case RANKS_EACH:
    case RANKS_STARTED:
        return model_each(r, m);
    default:
        return model_root(r, m);
    }
}

int64_t measure__ranks_meet(ranks *r, const ranks_operation *o)
{
    const ranks_meeting *m = &r->meetings[o->meeting];

    switch (m->model) {
    case RANKS_ALL:
        return meet_all(r, m, o->member);
    case RANKS_EACH:
    case RANKS_STARTED:
        return meet_each(r, m, o->member);
    case RANKS_FROM_ROOT:
        return meet_from_root(r, m, o->member);
    default:
        return meet_to_root(r, m, o->member);
    }
}
