/* import_uses.c - see import_uses_internal.h. Places and uses are numbered as
 * they turn up, and found again by hash tables over what they are. */
#include "viewer/import/import_uses_internal.h"

#include <otf2/otf2.h>
#include <stdlib.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/import/import_channels_internal.h"

typedef struct use_key {
    uint32_t place, thread, role;
} use_key;

typedef struct known_place {
    import_place shown;
    uint32_t number;
    bool *failed;
    UT_hash_handle hh;
} known_place;

typedef struct known_use {
    use_key key;
    import_use shown;
    uint32_t number;
    bool *failed;
    UT_hash_handle hh;
} known_use;

/* Of the last thread that asked for a communicator. */
typedef struct known_rank {
    uint32_t thread, rank;
} known_rank;

struct import_uses {
    const otf2_trace *trace;
    known_place *places, **place_list;
    uint32_t place_count;
    known_use *uses, **use_list;
    uint32_t use_count;
    known_rank *ranks; /* by communicator */
    import_channels *channels;
    uint32_t *lanes; /* their places */
    bool joined_groups;
    bool settled;
};

import_uses *viewer__import_uses_make(const otf2_trace *trace)
{
    import_uses *uses = calloc(1, sizeof(*uses));

    if (!uses)
        return NULL;
    uses->trace = trace;
    uses->ranks = calloc(trace->comm_count + 1u, sizeof(*uses->ranks));
    uses->channels = viewer__import_channels_make();
    if (!uses->ranks || !uses->channels) {
        viewer__import_uses_destroy(uses);
        return NULL;
    }
    for (uint32_t i = 0; i < trace->comm_count; i++)
        uses->ranks[i].thread = OTF2_NONE;
    return uses;
}

void viewer__import_uses_destroy(import_uses *uses)
{
    if (!uses)
        return;
    HASH_CLEAR(hh, uses->places);
    HASH_CLEAR(hh, uses->uses);
    for (uint32_t i = 0; i < uses->place_count; i++)
        free(uses->place_list[i]);
    for (uint32_t i = 0; i < uses->use_count; i++)
        free(uses->use_list[i]);
    viewer__import_channels_destroy(uses->channels);
    free(uses->place_list);
    free(uses->use_list);
    free(uses->ranks);
    free(uses->lanes);
    free(uses);
}

uint32_t viewer__import_uses_count(const import_uses *uses)
{
    return uses->use_count;
}

const import_use *viewer__import_uses_at(const import_uses *uses, uint32_t use)
{
    return &uses->use_list[use]->shown;
}

uint32_t viewer__import_uses_places(const import_uses *uses)
{
    return uses->place_count;
}

const import_place *viewer__import_uses_place(const import_uses *uses,
                                              uint32_t place)
{
    return &uses->place_list[place]->shown;
}

bool viewer__import_place_is_matched(const import_place *place)
{
    return place->matched;
}

bool viewer__import_place_tag(const import_uses *uses, uint32_t place,
                              int32_t *tag)
{
    const place_key *key = &uses->place_list[place]->shown.key;
    const import_lane *lane = &uses->channels->lanes[key->lane];

    *tag = (int32_t)lane->tag;
    return lane->has_tag;
}

static int no_memory(void)
{
    return pastset_no_memory("for what threads communicate by");
}

/* Of a call that was not there when all were counted. */
static int changed(void)
{
    return pastset_fail(PASTSET_EFORMAT, "the trace changes while it is read");
}

static int place_find(import_uses *u, const place_key *key, uint32_t *out)
{
    known_place *p, **list;
    bool failed = false;

    HASH_FIND(hh, u->places, key, sizeof(*key), p);
    if (p) {
        *out = p->number;
        return 0;
    }
    if (u->settled)
        return changed();
    list = pastset_array_grow(u->place_list, u->place_count, sizeof(*list));
    p = calloc(1, sizeof(*p));
    if (list)
        u->place_list = list;
    if (!list || !p) {
        free(p);
        return no_memory();
    }
    p->shown.key = *key;
    p->number = u->place_count;
    p->failed = &failed;
    HASH_ADD(hh, u->places, shown.key, sizeof(*key), p);
    if (failed) {
        free(p);
        return no_memory();
    }
    *out = u->place_count;
    u->place_list[u->place_count++] = p;
    return 0;
}

static int use_find(import_uses *u, const use_key *key, known_use **out)
{
    known_use *use, **list;
    import_place *place;
    bool failed = false;

    HASH_FIND(hh, u->uses, key, sizeof(*key), use);
    *out = use;
    if (use)
        return 0;
    if (u->settled)
        return changed();
    list = pastset_array_grow(u->use_list, u->use_count, sizeof(*list));
    use = calloc(1, sizeof(*use));
    if (list)
        u->use_list = list;
    if (!list || !use) {
        free(use);
        return no_memory();
    }
    use->key = *key;
    use->shown = (import_use){
        .place = key->place, .thread = key->thread, .role = key->role};
    use->number = u->use_count;
    use->failed = &failed;
    HASH_ADD(hh, u->uses, key, sizeof(*key), use);
    if (failed) {
        free(use);
        return no_memory();
    }
    u->use_list[u->use_count++] = use;
    place = &u->place_list[key->place]->shown;
    place->writers += key->role == USE_WRITES;
    place->takers += key->role == USE_TAKES;
    place->joiners += key->role == USE_JOINS;
    *out = use;
    return 0;
}

/* --- what belongs together --- */

static int by_place_and_rank(const void *a, const void *b)
{
    const import_use *x = *(const import_use *const *)a;
    const import_use *y = *(const import_use *const *)b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Collectives that a rank has joined with two threads, or less often than
 * others, are not whole. */
static int joins_check(import_uses *u)
{
    const import_use **joins = calloc(u->use_count + 1u, sizeof(const void *));
    uint32_t count = 0;

    if (!joins)
        return no_memory();
    for (uint32_t i = 0; i < u->use_count; i++) {
        const import_use *use = &u->use_list[i]->shown;
        if (use->role == USE_JOINS)
            joins[count++] = use;
    }
    qsort(joins, count, sizeof(const void *), by_place_and_rank);
    for (uint32_t i = 0; i < count; i++) {
        import_place *place = &u->place_list[joins[i]->place]->shown;
        if (joins[i]->count * place->joiners != place->joined ||
            (i > 0 && by_place_and_rank(&joins[i - 1], &joins[i]) == 0))
            place->matched = false;
    }
    free(joins);
    return 0;
}

/* Where ranks may be others than the trace says, nothing is known. */
static bool has_ranks(const import_uses *u, uint32_t comm)
{
    return !(u->trace->comms[comm].derived && u->joined_groups);
}

static bool is_matched(const import_uses *u, const import_place *place)
{
    switch (place->key.kind) {
    case PLACE_COLLECTIVE:
        return has_ranks(u, place->key.comm) &&
               place->joiners == u->trace->comms[place->key.comm].member_count;
    case PLACE_ROOTED:
        return has_ranks(u, place->key.comm) &&
               place->written == place->taken && place->writers == 1 &&
               place->takers == 1;
    default:
        return false;
    }
}

static bool is_known(const channel_key *key, const void *context)
{
    return has_ranks(context, key->comm);
}

/* A place for each lane. */
static int lanes_place(import_uses *u)
{
    const import_channels *c = u->channels;
    int err = 0;

    u->lanes = calloc(c->lane_count + 1u, sizeof(*u->lanes));
    if (!u->lanes)
        return no_memory();
    for (uint32_t i = 0; i < c->lane_count && !err; i++) {
        const channel_key *channel = &c->items[c->lanes[i].channel]->key;
        place_key key = {.kind = PLACE_CHANNEL,
                         .comm = channel->comm,
                         .from = channel->from,
                         .to = channel->to,
                         .lane = i};
        err = place_find(u, &key, &u->lanes[i]);
        if (!err)
            u->place_list[u->lanes[i]]->shown.matched = c->lanes[i].is_matched;
    }
    return err;
}

static int end_find(import_uses *u, const channel_end *end, known_use **out)
{
    use_key key = {u->lanes[end->lane], end->thread,
                   end->is_received ? USE_TAKES : USE_WRITES};

    return use_find(u, &key, out);
}

static int channel_settle(import_uses *u, const import_channel *channel)
{
    known_use *use;
    int err = 0;

    for (uint32_t i = 0; i < channel->count && !err; i++) {
        err = end_find(u, &channel->ends[i], &use);
        if (!err)
            use->shown.count++;
    }
    return err;
}

int viewer__import_uses_settle(import_uses *u, bool joined_groups,
                               bool all_ended)
{
    int err;

    u->joined_groups = joined_groups;
    for (uint32_t i = 0; i < u->place_count; i++) {
        import_place *place = &u->place_list[i]->shown;
        place->matched = is_matched(u, place);
    }
    err = joins_check(u);
    if (!err)
        err =
            viewer__import_channels_match(u->channels, all_ended, is_known, u);
    if (!err)
        err = lanes_place(u);
    for (uint32_t i = 0; i < u->channels->count && !err; i++)
        err = channel_settle(u, u->channels->items[i]);
    u->settled = true;
    return err;
}

/* --- what a call is --- */

typedef struct giving {
    import_uses *uses;
    import_use_each *each;
    void *context;
    uint32_t thread;
    uint32_t rank; /* in a collective */
} giving;

static int give(const giving *g, const place_key *key, use_role role)
{
    import_place *place;
    known_use *use;
    uint32_t number = 0;
    int err = place_find(g->uses, key, &number);

    if (!err)
        err = use_find(g->uses, &(use_key){number, g->thread, role}, &use);
    if (err)
        return err;
    place = &g->uses->place_list[number]->shown;
    if (!g->uses->settled) {
        place->written += role == USE_WRITES;
        place->taken += role == USE_TAKES;
        place->joined += role == USE_JOINS;
        use->shown.rank = g->rank;
        use->shown.count++;
    }
    return g->each(&(import_given){g->thread, false, use->number, OTF2_NONE},
                   g->context);
}

/* One end of a message. */
static int give_end(const giving *g, const channel_key *key,
                    const channel_end *end)
{
    import_given given = {g->thread, true, OTF2_NONE, OTF2_NONE};
    known_use *use;
    int err;

    if (!g->uses->settled) {
        err = viewer__import_channels_note(g->uses->channels, key, end);
        return err ? err : g->each(&given, g->context);
    }
    end = viewer__import_channels_next(g->uses->channels, key, end);
    if (!end)
        return changed();
    err = end_find(g->uses, end, &use);
    if (err)
        return err;
    given.use = use->number;
    given.ordinal = end->ordinal;
    return g->each(&given, g->context);
}

static int give_alone(const giving *g, uint32_t region)
{
    place_key key = {.kind = PLACE_CALLS,
                     .from = g->uses->trace->threads[g->thread].process,
                     .region = region};

    return give(g, &key, USE_CALLS);
}

static const otf2_comm *comm_of(const giving *g, const otf2_event *event)
{
    return event->comm == OTF2_NONE ? NULL
                                    : &g->uses->trace->comms[event->comm];
}

/* The thread of a rank; OTF2_NONE. */
static uint32_t member(const giving *g, const otf2_comm *comm, uint32_t rank)
{
    if (comm->is_self)
        return g->thread;
    return rank < comm->member_count ? comm->members[rank] : OTF2_NONE;
}

/* The thread itself, or the only member that is of its process. */
static uint32_t rank_find(const giving *g, const otf2_comm *comm)
{
    const otf2_thread *threads = g->uses->trace->threads;
    uint32_t found = OTF2_NONE;
    bool several = false;

    for (uint32_t i = 0; i < comm->member_count; i++) {
        uint32_t m = comm->members[i];
        if (m == g->thread)
            return i;
        if (m == OTF2_NONE || threads[m].process != threads[g->thread].process)
            continue;
        several = found != OTF2_NONE;
        found = i;
    }
    return several ? OTF2_NONE : found;
}

static uint32_t rank_of(const giving *g, uint32_t comm)
{
    known_rank *known = &g->uses->ranks[comm];

    if (known->thread != g->thread)
        *known =
            (known_rank){g->thread, rank_find(g, &g->uses->trace->comms[comm])};
    return known->rank;
}

/* The thread that is the rank; OTF2_NONE: it is none in it. */
static uint32_t own(const giving *g, const otf2_event *event)
{
    const otf2_comm *comm = comm_of(g, event);

    return comm ? member(g, comm, rank_of(g, event->comm)) : OTF2_NONE;
}

static int give_message(const giving *g, const mpi_call *call)
{
    const otf2_event *event = call->event;
    const otf2_comm *comm = comm_of(g, event);
    bool sends = call->what == CALL_SENDS;
    uint32_t me = own(g, event);
    uint32_t peer = comm ? member(g, comm, event->rank) : OTF2_NONE;
    channel_key key = {event->comm, sends ? me : peer, sends ? peer : me};
    channel_end end = {.thread = g->thread,
                       .tag = event->tag,
                       .is_received = !sends,
                       .bytes = (uint32_t)event->bytes,
                       .posted = event->posted};

    if (peer == OTF2_NONE || me == OTF2_NONE)
        return give_alone(g, call->region);
    return give_end(g, &key, &end);
}

/* --- collectives --- */

/* Who waits for whom. */
typedef enum shape {
    EVERYBODY,  /* for everybody */
    FROM_ROOT,  /* all for the root */
    TO_ROOT,    /* the root for all */
    FROM_LOWER, /* each for the rank below */
    NOBODY
} shape;

static shape shape_of(uint32_t operation)
{
    switch (operation) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return FROM_ROOT;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE:
        return TO_ROOT;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
        return FROM_LOWER;
    case OTF2_COLLECTIVE_OP_BARRIER:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return EVERYBODY;
    default: /* handles, windows: it is not known who waits */
        return NOBODY;
    }
}

static int give_rooted(const giving *g, const otf2_event *event, uint32_t from,
                       uint32_t to)
{
    place_key key = {.kind = PLACE_ROOTED,
                     .comm = event->comm,
                     .from = from,
                     .to = to,
                     .operation = event->operation};

    return give(g, &key, from == own(g, event) ? USE_WRITES : USE_TAKES);
}

/* The root with each of the others, or one of these with the root. */
static int give_root(const giving *g, const otf2_event *event,
                     const otf2_comm *comm, uint32_t root, bool from_root)
{
    uint32_t me = own(g, event);
    int err = 0;

    if (root != me)
        return give_rooted(g, event, from_root ? root : me,
                           from_root ? me : root);
    for (uint32_t i = 0; i < comm->member_count && !err; i++) {
        uint32_t other = comm->members[i];
        if (other != OTF2_NONE && other != root)
            err = give_rooted(g, event, from_root ? root : other,
                              from_root ? other : root);
    }
    return err;
}

static int give_scan(const giving *g, const otf2_event *event,
                     const otf2_comm *comm, uint32_t rank)
{
    uint32_t below = rank > 0 ? member(g, comm, rank - 1) : OTF2_NONE;
    uint32_t above = member(g, comm, rank + 1);
    uint32_t me = own(g, event);
    int err = 0;

    if (below != OTF2_NONE)
        err = give_rooted(g, event, below, me);
    if (!err && above != OTF2_NONE)
        err = give_rooted(g, event, me, above);
    return err;
}

static int give_collective(giving *g, const mpi_call *call)
{
    const otf2_event *event = call->event;
    const otf2_comm *comm = comm_of(g, event);
    uint32_t rank =
        comm && !comm->is_self ? rank_of(g, event->comm) : OTF2_NONE;
    shape s = shape_of(event->operation);
    uint32_t root = rank != OTF2_NONE && (s == FROM_ROOT || s == TO_ROOT)
                        ? member(g, comm, event->rank)
                        : OTF2_NONE;
    place_key key = {.kind = PLACE_COLLECTIVE,
                     .comm = event->comm,
                     .operation = event->operation};

    if (rank == OTF2_NONE || comm->member_count < 2 || s == NOBODY ||
        ((s == FROM_ROOT || s == TO_ROOT) && root == OTF2_NONE))
        return give_alone(g, call->region);
    g->rank = rank;
    if (s == EVERYBODY)
        return give(g, &key, USE_JOINS);
    if (s == FROM_LOWER)
        return give_scan(g, event, comm, rank);
    return give_root(g, event, comm, root, s == FROM_ROOT);
}

int viewer__import_uses_of(import_uses *uses, uint32_t thread,
                           const mpi_call *call, import_use_each *each,
                           void *context)
{
    giving g = {uses, each, context, thread, 0};

    switch (call->what) {
    case CALL_SENDS:
    case CALL_RECEIVES:
        return give_message(&g, call);
    case CALL_JOINS:
        return give_collective(&g, call);
    case CALL_ALONE:
        return give_alone(&g, call->region);
    default:
        return 0;
    }
}
