/* comms.c - communicators, and what paths lead to: channels, collective sites,
 * and what only one rank uses.
 *
 * A communicator has a key that is the same in all of its processes, without a
 * word between them. The calls that make one are collective, so all members of
 * its parent count them alike; where one call makes several (MPI_Comm_split),
 * the rank in MPI_COMM_WORLD of their first members tells them apart.
 *
 * What a communicator consists of is asked when it is used first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/interpose.h"
#include "pastset/status.h"

#define KEY 200
#define NAME 128

/* Any message; nothing is stored in these elements. */
#define TUPLE_TYPE "bytes[67108864]"

/* Something that is defined once in this process, and has a name. */
typedef struct defined {
    struct defined *next;
    uint64_t what;   /* kind, call, peer */
    uint32_t poster; /* as in mpi_place_key */
    uint32_t upper, channel;
    _Atomic uint32_t rounds; /* how often the process came to it */
} defined;

struct mpi_comm {
    mpi_comm *next;
    uint64_t handle; /* 0: it was freed */
    char key[KEY];   /* "": none that others know */
    char name[NAME];
    bool is_asked; /* from here on */
    bool is_inter;
    bool is_sorted;  /* ranks are in the order of MPI_COMM_WORLD */
    uint32_t number; /* of its key; 0: it has none */
    uint32_t children;
    uint32_t definition;         /* MPI__NONE */
    uint32_t first;              /* the first member's rank in MPI_COMM_WORLD */
    int size;                    /* of the group that is communicated with */
    uint32_t *world;             /* ranks in MPI_COMM_WORLD */
    uint32_t posted[MPI__GROUP]; /* of a window: to whom it is open */
    int posted_count;
    defined *ends;
};

_Atomic uint32_t mpi__comm_generation = 1, mpi__type_generation = 1;

static struct {
    pthread_mutex_t lock;
    mpi_comm *all;
    defined *local; /* of no communicator */
    MPI_Group world;
    bool has_world;
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the list; under the lock, as all that follows --- */

static mpi_comm *comm_add(uint64_t handle, const char *key)
{
    mpi_comm *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->handle = handle;
    c->definition = c->first = MPI__NONE;
    snprintf(c->key, sizeof(c->key), "%s", key);
    c->next = comms.all;
    comms.all = c;
    return c;
}

static mpi_comm *comm_find(uint64_t handle)
{
    mpi_comm *c = comms.all;

    while (c && c->handle != handle)
        c = c->next;
    return c ? c : comm_add(handle, "");
}

/* --- what it consists of --- */

static bool ranks_ask(mpi_comm *c, MPI_Group group)
{
    int *from = NULL, *to = NULL;
    bool done = false;

    if (PMPI_Group_size(group, &c->size) == MPI_SUCCESS) {
        from = calloc((size_t)c->size + 1, sizeof(*from));
        to = calloc((size_t)c->size + 1, sizeof(*to));
        c->world = calloc((size_t)c->size + 1, sizeof(*c->world));
    }
    for (int i = 0; from && i < c->size; i++)
        from[i] = i;
    done = from && to && c->world &&
           PMPI_Group_translate_ranks(group, c->size, from, comms.world, to) ==
               MPI_SUCCESS;
    for (int i = 0; done && i < c->size; i++)
        c->world[i] = to[i] == MPI_UNDEFINED ? MPI__NONE : (uint32_t)to[i];
    free(from);
    free(to);
    if (!done)
        c->size = 0;
    return done;
}

static void name_ask(mpi_comm *c, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;

    if (PMPI_Comm_get_name(comm, name, &length) != MPI_SUCCESS || !*name)
        snprintf(c->name, sizeof(c->name), "communicator %.80s", c->key);
    else
        snprintf(c->name, sizeof(c->name), "%.100s", name);
}

/* The first member of the group that this process is in, or of the two where
 * there are two: the lower one, which both sides know. */
static void first_ask(mpi_comm *c, MPI_Comm comm)
{
    MPI_Group own;
    int zero = 0, rank = MPI_UNDEFINED;

    c->first = c->size ? c->world[0] : MPI__NONE;
    if (!c->is_inter || PMPI_Comm_group(comm, &own) != MPI_SUCCESS)
        return;
    if (PMPI_Group_translate_ranks(own, 1, &zero, comms.world, &rank) ==
            MPI_SUCCESS &&
        rank != MPI_UNDEFINED && (uint32_t)rank < c->first)
        c->first = (uint32_t)rank;
    PMPI_Group_free(&own);
}

/* How many have been made with that key before, of which the others know the
 * same: such are made one after the other. */
static uint32_t count_alike(const mpi_comm *c)
{
    size_t length = strlen(c->key);
    uint32_t count = 0;

    for (const mpi_comm *other = comms.all; other; other = other->next)
        count += other != c && strncmp(other->key, c->key, length) == 0 &&
                 (!other->key[length] || other->key[length] == '#');
    return count;
}

static void key_complete(mpi_comm *c)
{
    size_t used = strlen(c->key);
    uint32_t alike;

    if (!strchr(c->key, '/'))
        return;
    /* The others of its making have other firsts. */
    snprintf(c->key + used, sizeof(c->key) - used, "@%u", c->first);
    alike = count_alike(c);
    used = strlen(c->key);
    if (alike)
        snprintf(c->key + used, sizeof(c->key) - used, "#%u", alike);
}

/* That others have who have the same key. */
static void number_make(mpi_comm *c)
{
    uint32_t number = 2166136261u; /* FNV-1a */

    for (const char *at = c->key; *at; at++)
        number = (number ^ (unsigned char)*at) * 16777619u;
    c->number = number ? number : 1;
    c->is_sorted = true;
    for (int i = 1; i < c->size; i++)
        c->is_sorted &= c->world[i - 1] < c->world[i];
}

static void define(mpi_comm *c)
{
    key_complete(c);
    number_make(c);
    if (eventspace_recorder_define(
            &c->definition, mpi__recorder, EVENTSPACE_DEFINES_COMMUNICATOR,
            EVENTSPACE_NO_PARENT, c->name, "key", c->key, NULL))
        c->definition = MPI__NONE;
}

static void comm_ask(mpi_comm *c, MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0;

    c->is_asked = true;
    if (!comms.has_world || !c->key[0] ||
        PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return;
    c->is_inter = inter != 0;
    if ((inter ? PMPI_Comm_remote_group(comm, &group)
               : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS)
        return;
    if (ranks_ask(c, group)) {
        first_ask(c, comm);
        name_ask(c, comm);
        define(c);
    }
    PMPI_Group_free(&group);
}

/* --- making and freeing --- */

void mpi__comms_begin(void)
{
    char key[32];

    pthread_mutex_lock(&comms.lock);
    comms.has_world =
        PMPI_Comm_group(MPI_COMM_WORLD, &comms.world) == MPI_SUCCESS;
    comm_add(MPI__BITS(MPI_COMM_WORLD), "world");
    snprintf(key, sizeof(key), "self%u", mpi__rank);
    comm_add(MPI__BITS(MPI_COMM_SELF), key);
    pthread_mutex_unlock(&comms.lock);
}

void mpi__comm_made(MPI_Comm parent, MPI_Comm made)
{
    mpi_comm *from;
    char key[KEY];

    pthread_mutex_lock(&comms.lock);
    from = comm_find(MPI__BITS(parent));
    if (from) {
        if (!from->is_asked)
            comm_ask(from, parent);
        snprintf(key, sizeof(key), "%.160s/%u", from->key, from->children++);
        if (made != MPI_COMM_NULL)
            comm_add(MPI__BITS(made), from->key[0] ? key : "");
    }
    pthread_mutex_unlock(&comms.lock);
}

void mpi__comm_named(MPI_Comm parent, const char *by, MPI_Comm made)
{
    mpi_comm *from = NULL;
    char key[KEY];

    if (made == MPI_COMM_NULL)
        return;
    pthread_mutex_lock(&comms.lock);
    if (parent != MPI_COMM_NULL)
        from = comm_find(MPI__BITS(parent));
    if (from && !from->is_asked)
        comm_ask(from, parent);
    snprintf(key, sizeof(key), "%.100s/%.60s", from ? from->key : "", by);
    from = comm_add(MPI__BITS(made), key);
    if (from)
        comm_ask(from, made);
    pthread_mutex_unlock(&comms.lock);
}

void mpi__comm_tagged(MPI_Comm parent, const char *by, int tag, MPI_Comm made)
{
    char text[60];

    snprintf(text, sizeof(text), "%s %d", by, tag);
    mpi__comm_named(parent, text, made);
}

void mpi__comm_freed(uint64_t handle)
{
    pthread_mutex_lock(&comms.lock);
    for (mpi_comm *c = comms.all; c; c = c->next)
        if (c->handle == handle)
            c->handle = 0;
    pthread_mutex_unlock(&comms.lock);
    atomic_fetch_add(&mpi__comm_generation, 1);
}

/* Under the lock. */
static void window_add(mpi_comm *from, MPI_Win made)
{
    char key[KEY];
    mpi_comm *c;
    size_t bytes = ((size_t)from->size + 1) * sizeof(*c->world);

    snprintf(key, sizeof(key), "%.150s window %u", from->key, from->children++);
    c = made == MPI_WIN_NULL || !from->key[0] || !from->size
            ? NULL
            : comm_add(MPI__BITS(made), key);
    if (!c)
        return;
    c->is_asked = true;
    c->world = malloc(bytes);
    if (!c->world)
        return;
    memcpy(c->world, from->world, bytes);
    c->size = from->size;
    c->first = from->first;
    c->definition = from->definition;
    snprintf(c->name, sizeof(c->name), "window %.80s", key);
    number_make(c);
}

void mpi__window_made(MPI_Comm parent, MPI_Win made)
{
    mpi_comm *from;

    pthread_mutex_lock(&comms.lock);
    from = comm_find(MPI__BITS(parent));
    if (from && !from->is_asked)
        comm_ask(from, parent);
    if (from)
        window_add(from, made);
    pthread_mutex_unlock(&comms.lock);
}

int mpi__group_ranks(MPI_Group group, uint32_t out[MPI__GROUP])
{
    int size = 0, from[MPI__GROUP], to[MPI__GROUP];

    if (!comms.has_world || PMPI_Group_size(group, &size) != MPI_SUCCESS ||
        size > MPI__GROUP)
        return 0;
    for (int i = 0; i < size; i++)
        from[i] = i;
    if (PMPI_Group_translate_ranks(group, size, from, comms.world, to) !=
        MPI_SUCCESS)
        return 0;
    for (int i = 0; i < size; i++) {
        if (to[i] == MPI_UNDEFINED)
            return 0;
        out[i] = (uint32_t)to[i];
    }
    return size;
}

void mpi__window_post(MPI_Win window, MPI_Group group)
{
    mpi_comm *c;

    pthread_mutex_lock(&comms.lock);
    c = comm_find(MPI__BITS(window));
    if (c)
        c->posted_count = mpi__group_ranks(group, c->posted);
    pthread_mutex_unlock(&comms.lock);
}

int mpi__window_posted(MPI_Win window, uint32_t out[MPI__GROUP])
{
    const mpi_comm *c;
    int count = 0;

    pthread_mutex_lock(&comms.lock);
    c = comm_find(MPI__BITS(window));
    for (; c && count < c->posted_count; count++)
        out[count] = c->posted[count];
    pthread_mutex_unlock(&comms.lock);
    return count;
}

bool mpi__comm_is(const mpi_comm *comm, uint64_t handle)
{
    bool is;

    pthread_mutex_lock(&comms.lock);
    is = comm->handle == handle;
    pthread_mutex_unlock(&comms.lock);
    return is;
}

/* --- ends --- */

static const char *plain_name(uint16_t call, char *out, size_t bytes)
{
    size_t length;

    snprintf(out, bytes, "%s", mpi__call_names[call]);
    length = strlen(out);
    if (length > 2 && strcmp(out + length - 2, "_c") == 0)
        out[length - 2] = 0;
    return out;
}

static defined *known(defined *list, uint64_t what, uint32_t poster)
{
    while (list && (list->what != what || list->poster != poster))
        list = list->next;
    return list;
}

static defined *know(defined **list, uint64_t what, uint32_t poster)
{
    defined *d = calloc(1, sizeof(*d));

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

/* " on NAME", unless it is that of all. */
static void on(char out[NAME + 8], const mpi_comm *c)
{
    out[0] = 0;
    if (strcmp(c->key, "world") != 0)
        snprintf(out, NAME + 8, " on %s", c->name);
}

/* The element of a channel is there once, the channel also for each thread that
 * posts receives which others complete: their order is that of the former. */
static int channel_make(defined *d, mpi_comm *c, uint32_t from, uint32_t to)
{
    const defined *plain = known(c->ends, d->what, MPI__NONE);
    char name[NAME + 128], key[KEY + 64], place[NAME + 8], sender[32],
        receiver[32], numbers[3][16];
    int err = 0;

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
    else
        err = element_define(&d->upper, name, key, to, false, NULL);
    if (!err)
        err = eventspace_recorder_define(
            &d->channel, mpi__recorder, EVENTSPACE_DEFINES_CHANNEL,
            c->definition, name, "from", numbers[0], "to", numbers[1],
            "posted_by", d->poster != MPI__NONE ? numbers[2] : NULL, NULL);
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

static int rooted_make(defined *d, mpi_comm *c, uint16_t call, uint32_t root)
{
    char name[NAME + 160], key[KEY + 64], place[NAME + 8], process[32],
        plain[64];
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
static int coming_make(defined *d, mpi_comm *c, uint16_t call)
{
    char name[NAME + 80], key[KEY + 80], place[NAME + 8], plain[64];
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

static int site_make(defined *d, mpi_comm *c, uint16_t call)
{
    char name[NAME + 80], key[KEY + 64], place[NAME + 8], process[32],
        plain[64];
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

static int local_make(defined *d, uint16_t call)
{
    char name[128], own[32];

    mpi__rank_name(own, mpi__rank);
    snprintf(name, sizeof(name), "%s of %s", mpi__call_names[call], own);
    return element_define(&d->upper, name, NULL, mpi__rank, false, NULL);
}

/* Errors: none was made, now or before. */
static int end_give(mpi_end *out, defined **list, uint64_t what, mpi_comm *c,
                    const mpi_place_key *key, uint32_t peer)
{
    defined *d = known(*list, what, key->poster);
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
        if (err)
            d->upper = MPI__NONE;
    }
    out->upper = d->upper;
    out->channel = d->channel;
    out->rounds = out->target == MPI__COMES ? &d->rounds : NULL;
    return d->upper == MPI__NONE ? PASTSET_ELIMIT : 0;
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
    if (key->peer < 0 || key->peer >= c->size ||
        c->world[key->peer] == MPI__NONE ||
        (c->is_inter && is_rooted((mpi_target)key->target)))
        return MPI__LOCAL;
    return (mpi_target)key->target;
}

static void name_make(mpi_end *out, const mpi_comm *c, uint32_t peer)
{
    char place[NAME + 8] = "", process[32] = "";
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
    MPI_Comm comm = (MPI_Comm)(uintptr_t)key->comm;
    mpi_comm *c = NULL;
    uint32_t peer = MPI__NONE;
    int err;

    *out = (mpi_end){.target = MPI__LOCAL};
    pthread_mutex_lock(&comms.lock);
    if (key->comm && comm != MPI_COMM_NULL)
        c = comm_find(key->comm);
    if (c && !c->is_asked)
        comm_ask(c, comm);
    out->comm = c;
    out->target = target_of(c, key);
    out->communicator = c ? c->number : 0;
    out->is_sorted = c && c->is_sorted;
    if (out->target != MPI__LOCAL && out->target != MPI__JOINS &&
        out->target != MPI__COMES)
        peer = c->world[key->peer];
    out->peer = peer;
    out->root = is_rooted(out->target) ? peer : MPI__NONE;
    name_make(out, c, peer);
    if (key->target == MPI__PEER)
        err = 0;
    else if (out->target == MPI__LOCAL)
        err = end_give(out, &comms.local, key->call, c, key, peer);
    else
        err = end_give(out, &c->ends,
                       (uint64_t)out->target << 48 |
                           (uint64_t)(out->target >= MPI__JOINS ? key->call : 0)
                               << 32 |
                           (peer + 1u),
                       c, key, peer);
    pthread_mutex_unlock(&comms.lock);
    return err;
}
