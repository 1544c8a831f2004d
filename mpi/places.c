/* places.c - the collectors of a thread, by where its calls stand and with whom
 * they communicate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/interpose.h"
#include "mpi/source.h"

#define FIRST 256 /* entries of a table at first; a power of two */

/* What is lost for want of memory, or at the limit of definitions. */
static mpi_place lost = {.is_lost = true,
                         .collector = MPI__NONE,
                         .joining = MPI__NONE,
                         .channel = MPI__NONE,
                         .operation = MPI__NONE,
                         .peer = MPI__NONE,
                         .verb = PASTSET_WRITE};

static uint64_t hash(const mpi_place_key *key)
{
    uint64_t h = (key->from ^ MPI__BITS(key->comm) << 7 ^
                  (uint64_t)(uint32_t)key->peer << 40) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return h >> 32 ^ key->call;
}

/* Not by &&, of which gcc makes a wide load of what it has just stored. */
static bool are_same(const mpi_place_key *a, const mpi_place_key *b)
{
    return a->from == b->from && a->comm == b->comm &&
           (((uint32_t)a->peer ^ (uint32_t)b->peer) | (a->poster ^ b->poster) |
            (uint32_t)(a->call ^ b->call) |
            (uint32_t)(a->target ^ b->target)) == 0;
}

/* --- making --- */

static uint16_t verb_of(const mpi_end *end)
{
    bool is_root = end->root == mpi__rank;

    switch (end->target) {
    case MPI__RECEIVES:
        return PASTSET_TAKE;
    case MPI__JOINS:
        return PASTSET_EXCHANGE;
    case MPI__FROM_ROOT:
        return is_root ? PASTSET_WRITE : PASTSET_READ_NEXT;
    case MPI__TO_ROOT:
        return is_root ? PASTSET_READ_LAST : PASTSET_WRITE;
    default:
        return PASTSET_WRITE;
    }
}

static bool writes(uint16_t verb)
{
    return verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE;
}

/* An edge down from a thread says what it is called there. */
static int path_make(const mpi_self *self, uint32_t collector, const char *name,
                     bool is_write)
{
    return eventspace_recorder_edge(mpi__recorder, self->thread->definition,
                                    collector, "as", name, "use",
                                    is_write ? "write" : "read", NULL);
}

/* The thread's collector at a site, which stands below those of its places. */
static int joining_make(mpi_place *site, const mpi_self *self,
                        const mpi_end *end)
{
    eventspace_recorded_collector collector;
    char name[400], own[32];
    int err;

    mpi__rank_name(own, mpi__rank);
    snprintf(name, sizeof(name), "%s: at %s%s", own,
             mpi__call_names[site->key.call], end->name);
    err = eventspace_recorder_collector(&collector, mpi__recorder, name,
                                        self->thread->trace);
    if (!err)
        err = eventspace_recorder_edge(mpi__recorder, collector.definition,
                                       end->upper, NULL);
    if (err)
        return err;
    site->collector = collector.id;
    site->channel = collector.definition; /* to which places lead */
    return 0;
}

/* What messages say of the call that they are of. */
static void operation_make(mpi_place *place, const mpi_source *source)
{
    char line[16];

    snprintf(line, sizeof(line), "%u", source->line);
    if (eventspace_recorder_define(
            &place->operation, mpi__recorder, EVENTSPACE_DEFINES_OPERATION,
            EVENTSPACE_NO_PARENT, mpi__call_names[place->key.call], "file",
            source->file[0] ? source->file : NULL, "line",
            source->file[0] ? line : NULL, "function",
            source->function[0] ? source->function : NULL, NULL))
        place->operation = MPI__NONE;
}

static int collector_make(mpi_place *place, const mpi_self *self,
                          const mpi_end *end, uint32_t upper)
{
    eventspace_recorded_collector collector;
    char name[900], own[32];
    mpi_source source;
    int err;

    mpi__source_of(&source, place->key.from);
    mpi__rank_name(own, mpi__rank);
    snprintf(name, sizeof(name), "%s: %s%s%s%s", own,
             mpi__call_names[place->key.call], end->name,
             source.text[0] ? " at " : "", source.text);
    err = eventspace_recorder_collector(&collector, mpi__recorder, name,
                                        self->thread->trace);
    if (!err)
        err = path_make(self, collector.definition, name + strlen(own) + 2,
                        writes(place->verb));
    if (!err)
        err = eventspace_recorder_edge(mpi__recorder, collector.definition,
                                       upper, NULL);
    if (err)
        return err;
    place->collector = collector.id;
    if (end->channel != MPI__NONE)
        operation_make(place, &source);
    return 0;
}

static mpi_place *place_find(mpi_self *self, mpi_place_key key);

static int site_of(const mpi_place **out, mpi_self *self,
                   const mpi_place_key *key)
{
    mpi_place_key own = *key;

    own.from = 0;
    *out = place_find(self, own);
    return (*out)->is_lost ? -1 : 0;
}

/* False: its events are lost. */
static bool place_make(mpi_place *place, mpi_self *self)
{
    const mpi_place *site = NULL;
    mpi_end end;
    int err = mpi__end_of(&end, &place->key);

    if (err)
        return false;
    place->verb = verb_of(&end);
    place->channel = end.channel;
    place->communicator = end.communicator;
    place->is_sorted = end.is_sorted;
    place->rounds = end.rounds;
    if (place->key.target == MPI__PEER) {
        place->peer = end.peer;
        return true;
    }
    if (end.target == MPI__SENDS || end.target == MPI__RECEIVES ||
        (end.target == MPI__FROM_ROOT && end.peer != mpi__rank))
        place->peer = end.peer;
    if (place->key.from == 0 && end.target != MPI__JOINS)
        return true;
    if (end.target != MPI__JOINS)
        return collector_make(place, self, &end, end.upper) == 0;
    if (place->key.from == 0)
        return joining_make(place, self, &end) == 0;
    err = site_of(&site, self, &place->key);
    if (!err)
        err = collector_make(place, self, &end, site->channel);
    if (!err)
        place->joining = site->collector;
    return err == 0;
}

static void place_init(mpi_place *place, mpi_self *self,
                       const mpi_place_key *key)
{
    *place = lost;
    place->key = *key;
    place->is_lost = !place_make(place, self);
    if (place->is_lost)
        place->collector = MPI__NONE;
}

/* --- finding --- */

static bool grow(mpi_places *places)
{
    uint32_t mask = places->mask ? 2 * places->mask + 1 : FIRST - 1;
    mpi_place **more = calloc(mask + 1u, sizeof(*more));

    if (!more)
        return false;
    for (uint32_t i = 0; places->slots && i <= places->mask; i++) {
        uint32_t at;
        if (!places->slots[i])
            continue;
        at = (uint32_t)hash(&places->slots[i]->key) & mask;
        while (more[at])
            at = (at + 1) & mask;
        more[at] = places->slots[i];
    }
    free(places->slots);
    places->slots = more;
    places->mask = mask;
    return true;
}

static mpi_place *__attribute__((noinline, cold))
place_add(mpi_self *self, const mpi_place_key *key)
{
    mpi_places *places = &self->places;
    mpi_place *place = aligned_alloc(64, sizeof(*place));
    uint32_t at;

    if (!place || (places->count >= places->mask / 2 && !grow(places))) {
        free(place);
        return &lost;
    }
    place_init(place, self, key);
    at = (uint32_t)hash(key) & places->mask; /* after those that it needs */
    while (places->slots[at])
        at = (at + 1) & places->mask;
    places->slots[at] = place;
    places->count++;
    return place;
}

/* Inline, and the key is not copied as a whole, so that it stays in registers:
 * see eventspace_record. */
static inline mpi_place *place_look(mpi_self *self, mpi_place_key key)
{
    const mpi_places *places = &self->places;
    uint32_t at = (uint32_t)hash(&key) & places->mask;

    while (places->slots && places->slots[at]) {
        if (are_same(&places->slots[at]->key, &key))
            return places->slots[at];
        at = (at + 1) & places->mask;
    }
    return place_add(self, &(mpi_place_key){key.from, key.comm, key.peer,
                                            key.call, key.target, key.poster});
}

static inline mpi_place *place_find(mpi_self *self, mpi_place_key key)
{
    mpi_place *place = self->places.last;

    if (!place || !are_same(&place->key, &key)) {
        place = place_look(self, key);
        self->places.last = place;
    }
    return place;
}

const mpi_place *mpi__place_look(const mpi_call *call, mpi_target target,
                                 mpi_comm *comm, int peer)
{
    mpi_place_key key = {call->from,       comm,     peer, call->number,
                         (uint16_t)target, MPI__NONE};

    return call->self->places.last = place_look(call->self, key);
}

static uint32_t poster_of(const mpi_call *call, uint32_t thread)
{
    return thread == call->self->thread->number ? MPI__NONE : thread;
}

const mpi_place *mpi__place_of(const mpi_call *call, mpi_comm *comm, int peer,
                               uint32_t poster)
{
    mpi_place_key key = {call->from,   comm,          peer,
                         call->number, MPI__RECEIVES, poster_of(call, poster)};

    return place_find(call->self, key);
}

const mpi_place *mpi__place_of_channel(const mpi_call *call, mpi_target target,
                                       mpi_comm *comm, int peer,
                                       uint32_t poster)
{
    mpi_place_key key = {
        0, comm, peer, 0, (uint16_t)target, poster_of(call, poster)};

    return place_find(call->self, key);
}

const mpi_place *mpi__peer(mpi_self *self, mpi_comm *comm, int peer)
{
    mpi_place_key key = {
        .comm = comm, .peer = peer, .target = MPI__PEER, .poster = MPI__NONE};

    return place_find(self, key);
}

void mpi__places_free(mpi_places *places)
{
    for (uint32_t i = 0; places->slots && i <= places->mask; i++)
        free(places->slots[i]);
    free(places->slots);
    *places = (mpi_places){0};
}
