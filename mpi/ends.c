/* ends.c - what paths lead to: channels, collective sites, and what only one
 * rank uses. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comms.h"
#include "pastset/status.h"

/* Any message; nothing is stored in these elements. */
#define TUPLE_TYPE "bytes[67108864]"

static mpi_defined *local; /* of no communicator */

/* --- under the lock --- */

static const char *plain_name(uint16_t call, char *out, size_t bytes)
{
    size_t length;

    snprintf(out, bytes, "%s", mpi__call_names[call]);
    length = strlen(out);
    if (length > 2 && strcmp(out + length - 2, "_c") == 0)
        out[length - 2] = 0;
    return out;
}

static mpi_defined *known(mpi_defined *list, uint64_t what, uint32_t poster)
{
    while (list && (list->what != what || list->poster != poster))
        list = list->next;
    return list;
}

static mpi_defined *know(mpi_defined **list, uint64_t what, uint32_t poster)
{
    mpi_defined *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->next = *list;
    d->what = what;
    d->poster = poster;
    d->upper = d->channel = MPI__NONE;
    *list = d;
    return d;
}

static int element_define(uint32_t *out, const char *name, const char *key,
                          uint32_t home, bool has_rounds, const char *members)
{
    char process[32];

    mpi__rank_name(process, home);
    return eventspace_recorder_define(
        out, mpi__recorder, EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT,
        name, "key", key, "process", key ? process : NULL, "type", TUPLE_TYPE,
        "policy", "grow", "rounds", has_rounds ? "true" : NULL, "members",
        members, NULL);
}

/* " on MPI__NAME", unless it is that of all. */
static void on(char out[MPI__NAME + 8], const mpi_comm *c)
{
    out[0] = 0;
    if (strcmp(c->key, "world") != 0)
        snprintf(out, MPI__NAME + 8, " on %s", c->name);
}

/* The element of a channel is there once, the channel also for each thread that
 * posts receives which others complete: their order is that of the former. From
 * anybody, there is no element. */
static int channel_make(mpi_defined *d, mpi_comm *c, uint32_t from, uint32_t to)
{
    const mpi_defined *plain = known(c->ends, d->what, MPI__NONE);
    char name[MPI__NAME + 128], key[MPI__KEY + 64], place[MPI__NAME + 8],
        sender[32], receiver[32], numbers[3][16];
    bool is_any = from == MPI__NONE;
    int err = 0;

    if (is_any)
        snprintf(sender, sizeof(sender), "any");
    else
        mpi__rank_name(sender, from);
    mpi__rank_name(receiver, to);
    on(place, c);
    snprintf(name, sizeof(name), "%s to %s%s", sender, receiver, place);
    snprintf(key, sizeof(key), "%s %u %u", c->key, from, to);
    snprintf(numbers[0], sizeof(numbers[0]), "%u", from);
    snprintf(numbers[1], sizeof(numbers[1]), "%u", to);
    snprintf(numbers[2], sizeof(numbers[2]), "%u", d->poster);
    if (plain && plain->upper != MPI__NONE)
        d->upper = plain->upper;
    else if (!is_any)
        err = element_define(&d->upper, name, key, to, false, NULL);
    if (!err)
        err = eventspace_recorder_define(
            &d->channel, mpi__recorder, EVENTSPACE_DEFINES_CHANNEL,
            c->definition, name, "from", is_any ? sender : numbers[0], "to",
            numbers[1], "posted_by", d->poster != MPI__NONE ? numbers[2] : NULL,
            NULL);
    return err;
}

/* "0-3,7": ranks in MPI_COMM_WORLD; to be freed, NULL: no memory. */
static char *members_of(const mpi_comm *c)
{
    size_t size = (size_t)c->size * 12 + 1, used = 0;
    char *out = malloc(size);
    int to;

    if (!out)
        return NULL;
    *out = 0;
    for (int from = 0; from < c->size; from = to) {
        to = from + 1;
        while (to < c->size && c->world[to] == c->world[to - 1] + 1)
            to++;
        used += (size_t)snprintf(out + used, size - used, "%s%u",
                                 used ? "," : "", c->world[from]);
        if (to > from + 1)
            used += (size_t)snprintf(out + used, size - used, "-%u",
                                     c->world[to - 1]);
    }
    return out;
}

static int rooted_make(mpi_defined *d, mpi_comm *c, uint16_t call,
                       uint32_t root)
{
    char name[MPI__NAME + 160], key[MPI__KEY + 64], place[MPI__NAME + 8],
        process[32], plain[64];
    char *members;
    int err;

    plain_name(call, plain, sizeof(plain));
    mpi__rank_name(process, root);
    on(place, c);
    snprintf(name, sizeof(name), "%s of root %s%s", plain, process, place);
    snprintf(key, sizeof(key), "%s %s %u", c->key, plain, root);
    members = members_of(c);
    err = element_define(&d->upper, name, key, root, true, members);
    free(members);
    return err;
}

/* What all members come to, without a word of when they go on. */
static int coming_make(mpi_defined *d, mpi_comm *c, uint16_t call)
{
    char name[MPI__NAME + 80], key[MPI__KEY + 80], place[MPI__NAME + 8],
        plain[64];
    char *members;
    int err;

    plain_name(call, plain, sizeof(plain));
    on(place, c);
    snprintf(name, sizeof(name), "%s%s", plain, place);
    snprintf(key, sizeof(key), "%s %s of each", c->key, plain);
    members = members_of(c);
    err = element_define(&d->upper, name, key, c->first, false, members);
    free(members);
    return err;
}

/* What wrappers there are for it (paths/wrappers). */
static const char *wrapper_type(const char *call)
{
    if (strcmp(call, "MPI_Barrier") == 0)
        return "barrier";
    if (strncmp(call, "MPI_Allgather", 13) == 0)
        return "gather";
    return strncmp(call, "MPI_Alltoall", 12) == 0 ? "alltoall" : "reduce";
}

static int site_make(mpi_defined *d, mpi_comm *c, uint16_t call)
{
    char name[MPI__NAME + 80], key[MPI__KEY + 64], place[MPI__NAME + 8],
        process[32], plain[64];
    char *members;
    uint32_t element;
    int err;

    plain_name(call, plain, sizeof(plain));
    on(place, c);
    snprintf(name, sizeof(name), "%s%s", plain, place);
    snprintf(key, sizeof(key), "%s %s", c->key, plain);
    err = element_define(&element, name, key, c->first, false, NULL);
    if (err)
        return err;
    mpi__rank_name(process, c->first);
    snprintf(name, sizeof(name), "%s%s of all", plain, place);
    snprintf(key, sizeof(key), "%s %s of all", c->key, plain);
    members = members_of(c);
    err = eventspace_recorder_define(
        &d->upper, mpi__recorder, EVENTSPACE_DEFINES_WRAPPER,
        EVENTSPACE_NO_PARENT, name, "key", key, "process", process, "kind",
        wrapper_type(plain), "members", members, NULL);
    free(members);
    return err ? err
               : eventspace_recorder_edge(mpi__recorder, d->upper, element,
                                          NULL);
}

static int local_make(mpi_defined *d, uint16_t call)
{
    char name[128], own[32];

    mpi__rank_name(own, mpi__rank);
    snprintf(name, sizeof(name), "%s of %s", mpi__call_names[call], own);
    return element_define(&d->upper, name, NULL, mpi__rank, false, NULL);
}

/* Errors: none was made, now or before. */
static int end_give(mpi_end *out, mpi_defined **list, uint64_t what,
                    mpi_comm *c, const mpi_place_key *key, uint32_t peer)
{
    mpi_defined *d = known(*list, what, key->poster);
    int err = 0;

    if (!d) {
        d = know(list, what, key->poster);
        if (!d)
            return PASTSET_ENOMEM;
        switch (out->target) {
        case MPI__SENDS:
            err = channel_make(d, c, mpi__rank, peer);
            break;
        case MPI__RECEIVES:
            err = channel_make(d, c, peer, mpi__rank);
            break;
        case MPI__JOINS:
            err = site_make(d, c, key->call);
            break;
        case MPI__FROM_ROOT:
        case MPI__TO_ROOT:
            err = rooted_make(d, c, key->call, peer);
            break;
        case MPI__COMES:
            err = coming_make(d, c, key->call);
            break;
        default:
            err = local_make(d, key->call);
        }
        d->is_there = err == 0;
    }
    out->upper = d->upper;
    out->channel = d->channel;
    out->rounds = out->target == MPI__COMES ? &d->rounds : NULL;
    return d->is_there ? 0 : PASTSET_ELIMIT;
}

static bool is_rooted(mpi_target target)
{
    return target == MPI__FROM_ROOT || target == MPI__TO_ROOT;
}

/* What is communicated with: nobody, where that is not known, or not of this
 * MPI_COMM_WORLD. */
static mpi_target target_of(const mpi_comm *c, const mpi_place_key *key)
{
    bool has_peer = key->target != MPI__JOINS && key->target != MPI__COMES;

    if (key->target == MPI__LOCAL || !c || c->definition == MPI__NONE)
        return MPI__LOCAL;
    if (!has_peer)
        return c->is_inter ? MPI__LOCAL : (mpi_target)key->target;
    if (key->peer == MPI_ANY_SOURCE && !key->from &&
        key->target != MPI__PEER) /* only the channel */
        return MPI__RECEIVES;
    if (key->peer < 0 || key->peer >= c->size ||
        c->world[key->peer] == MPI__NONE ||
        (c->is_inter && is_rooted((mpi_target)key->target)))
        return MPI__LOCAL;
    return (mpi_target)key->target;
}

static void name_make(mpi_end *out, const mpi_comm *c, uint32_t peer)
{
    char place[MPI__NAME + 8] = "", process[32] = "";
    static const char *const with[] = {[MPI__PEER] = "",
                                       [MPI__SENDS] = " to ",
                                       [MPI__RECEIVES] = " from ",
                                       [MPI__FROM_ROOT] = " from root ",
                                       [MPI__TO_ROOT] = " to root "};

    if (out->target != MPI__LOCAL)
        on(place, c);
    if (peer != MPI__NONE)
        mpi__rank_name(process, peer);
    snprintf(out->name, sizeof(out->name), "%s%s%s",
             peer != MPI__NONE ? with[out->target] : "", process, place);
}

int mpi__end_of(mpi_end *out, const mpi_place_key *key)
{
    mpi_comm *c = key->comm; /* one of those that are here */
    uint32_t peer = MPI__NONE;
    int err;

    *out = (mpi_end){.target = MPI__LOCAL};
    pthread_mutex_lock(&mpi__comms_lock);
    out->target = target_of(c, key);
    out->communicator = c ? c->number : 0;
    out->is_sorted = c && c->is_sorted;
    if (out->target != MPI__LOCAL && out->target != MPI__JOINS &&
        out->target != MPI__COMES && key->peer != MPI_ANY_SOURCE)
        peer = c->world[key->peer];
    out->peer = peer;
    out->root = is_rooted(out->target) ? peer : MPI__NONE;
    name_make(out, c, peer);
    if (key->target == MPI__PEER)
        err = 0;
    else if (out->target == MPI__LOCAL)
        err = end_give(out, &local, key->call, c, key, peer);
    else
        err = end_give(out, &c->ends,
                       (uint64_t)out->target << 48 |
                           (uint64_t)(out->target >= MPI__JOINS ? key->call : 0)
                               << 32 |
                           (peer + 1u),
                       c, key, peer);
    pthread_mutex_unlock(&mpi__comms_lock);
    return err;
}
