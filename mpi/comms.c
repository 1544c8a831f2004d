/* comms.c - communicators, and what paths lead to: channels, collective sites,
 * and what only one rank uses.
 *
 * A communicator has a key that is the same in all of its processes, without a
 * word between them. The calls that make one are collective, so all members of
 * its parent count them alike; where one call makes several (MPI_Comm_split),
 * the rank in MPI_COMM_WORLD of their first members tells them apart. Where
 * only members take part, a digest of who they are is in the key. A key that
 * grows long is one of its beginning and a digest.
 *
 * What a communicator consists of is asked when it is used first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/interpose.h"
#include "pastset/status.h"

#define KEY 160
#define KEY_BEGINNING 60 /* of one that is too long */
#define NAME 128

/* Any message; nothing is stored in these elements. */
#define TUPLE_TYPE "bytes[67108864]"

/* Something that is defined once in this process, and has a name. */
typedef struct defined {
    struct defined *next;
    uint64_t what;   /* kind, call, peer */
    uint32_t poster; /* as in mpi_place_key */
    uint32_t upper, channel;
    bool is_there;
} defined;

struct mpi_comm {
    mpi_comm *next;
    uint64_t handle; /* 0: it was freed */
    char key[KEY];   /* "": none that others know */
    char alike[KEY]; /* the key of those made before; "": there can be none */
    char name[NAME];
    bool is_named; /* made by its members only */
    bool is_asked; /* from here on */
    bool is_inter;
    uint32_t children;
    uint32_t definition; /* MPI__NONE */
    uint32_t first;      /* the first member's rank in MPI_COMM_WORLD */
    int size;            /* of the group that is communicated with */
    uint32_t *world;     /* ranks in MPI_COMM_WORLD */
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

/* --- keys --- */

/* FNV-1a, twice, from different beginnings. */
typedef struct digest {
    uint64_t a, b;
} digest;

#define DIGEST                                                                 \
    ((digest){UINT64_C(0xcbf29ce484222325), UINT64_C(0x6c62272e07bb0142)})

static void digest_add(digest *d, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++) {
        d->a = (d->a ^ at[i]) * UINT64_C(0x100000001b3);
        d->b = (d->b ^ at[i]) * UINT64_C(0x100000001b3);
        d->b ^= d->b >> 29;
    }
}

/* The same for the same text, and of a length that others can be added to. */
static void key_set(char key[KEY], const char *text)
{
    size_t length = strlen(text);
    digest d = DIGEST;

    if (length < KEY) {
        memcpy(key, text, length + 1);
        return;
    }
    digest_add(&d, text, length);
    snprintf(key, KEY, "%.*s~%016llx%016llx", KEY_BEGINNING, text,
             (unsigned long long)d.a, (unsigned long long)d.b);
}

/* --- the list; under the lock, as all that follows --- */

static mpi_comm *comm_add(uint64_t handle, const char *key)
{
    mpi_comm *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->handle = handle;
    c->definition = c->first = MPI__NONE;
    key_set(c->key, key);
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

/* The ranks in MPI_COMM_WORLD of those in a group, which is freed; NULL: it
 * fails. */
static uint32_t *ranks_ask(MPI_Group group, int *size)
{
    int *from = NULL, *to = NULL;
    uint32_t *world = NULL;
    bool done = false;

    if (PMPI_Group_size(group, size) == MPI_SUCCESS) {
        from = calloc((size_t)*size + 1, sizeof(*from));
        to = calloc((size_t)*size + 1, sizeof(*to));
        world = calloc((size_t)*size + 1, sizeof(*world));
    }
    for (int i = 0; from && i < *size; i++)
        from[i] = i;
    done = from && to && world &&
           PMPI_Group_translate_ranks(group, *size, from, comms.world, to) ==
               MPI_SUCCESS;
    for (int i = 0; done && i < *size; i++)
        world[i] = to[i] == MPI_UNDEFINED ? MPI__NONE : (uint32_t)to[i];
    free(from);
    free(to);
    PMPI_Group_free(&group);
    if (done)
        return world;
    free(world);
    return NULL;
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

static void members_add(digest *d, const uint32_t *ranks, int size)
{
    digest_add(d, &size, sizeof(size));
    if (size)
        digest_add(d, ranks, (size_t)size * sizeof(*ranks));
}

/* The first member of the group that this process is in, or of the two where
 * there are two: the lower one, which both sides know. Its group is the first
 * of the digest. */
static bool first_ask(mpi_comm *c, MPI_Comm comm, digest *members)
{
    MPI_Group group;
    uint32_t *own;
    int size = 0;

    c->first = c->size ? c->world[0] : MPI__NONE;
    if (!c->is_inter) {
        members_add(members, c->world, c->size);
        return true;
    }
    own = PMPI_Comm_group(comm, &group) == MPI_SUCCESS ? ranks_ask(group, &size)
                                                       : NULL;
    if (!own)
        return false;
    if (size && own[0] < c->first) {
        c->first = own[0];
        members_add(members, own, size);
        members_add(members, c->world, c->size);
    } else {
        members_add(members, c->world, c->size);
        members_add(members, own, size);
    }
    free(own);
    return true;
}

/* How many have been made with that key before, of which the others know the
 * same: such are made one after the other. */
static uint32_t count_alike(const mpi_comm *c)
{
    uint32_t count = 0;

    for (const mpi_comm *other = comms.all; other; other = other->next)
        count += other != c && strcmp(other->alike, c->alike) == 0;
    return count;
}

static void key_complete(mpi_comm *c, const digest *members)
{
    char text[2 * KEY];
    uint32_t alike;

    if (!strchr(c->key, '/'))
        return;
    /* The others of its making have other firsts. */
    if (!c->is_named) {
        snprintf(text, sizeof(text), "%s@%u", c->key, c->first);
        key_set(c->key, text);
        return;
    }
    snprintf(text, sizeof(text), "%s@%u:%016llx%016llx", c->key, c->first,
             (unsigned long long)members->a, (unsigned long long)members->b);
    key_set(c->alike, text);
    alike = count_alike(c);
    snprintf(text, sizeof(text), alike ? "%s#%u" : "%s", c->alike, alike);
    key_set(c->key, text);
}

static void define(mpi_comm *c, const digest *members)
{
    key_complete(c, members);
    if (eventspace_recorder_define(
            &c->definition, mpi__recorder, EVENTSPACE_DEFINES_COMMUNICATOR,
            EVENTSPACE_NO_PARENT, c->name, "key", c->key, NULL))
        c->definition = MPI__NONE;
}

static void comm_ask(mpi_comm *c, MPI_Comm comm)
{
    MPI_Group group;
    digest members = DIGEST;
    int inter = 0;

    c->is_asked = true;
    if (!comms.has_world || !c->key[0] ||
        PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return;
    c->is_inter = inter != 0;
    if ((inter ? PMPI_Comm_remote_group(comm, &group)
               : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS)
        return;
    c->world = ranks_ask(group, &c->size);
    if (c->world && first_ask(c, comm, &members)) {
        name_ask(c, comm);
        define(c, &members);
    } else {
        c->size = 0;
    }
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
    char key[KEY + 16];

    pthread_mutex_lock(&comms.lock);
    from = comm_find(MPI__BITS(parent));
    if (from) {
        if (!from->is_asked)
            comm_ask(from, parent);
        snprintf(key, sizeof(key), "%s/%u", from->key, from->children++);
        if (made != MPI_COMM_NULL)
            comm_add(MPI__BITS(made), from->key[0] ? key : "");
    }
    pthread_mutex_unlock(&comms.lock);
}

void mpi__comm_named(MPI_Comm parent, const char *by, MPI_Comm made)
{
    mpi_comm *from = NULL;
    char key[KEY + 320];

    if (made == MPI_COMM_NULL)
        return;
    pthread_mutex_lock(&comms.lock);
    if (parent != MPI_COMM_NULL)
        from = comm_find(MPI__BITS(parent));
    if (from && !from->is_asked)
        comm_ask(from, parent);
    snprintf(key, sizeof(key), "%s/%s", from ? from->key : "", by);
    from = comm_add(MPI__BITS(made), key);
    if (from) {
        from->is_named = true;
        comm_ask(from, made);
    }
    pthread_mutex_unlock(&comms.lock);
}

void mpi__comm_tagged(MPI_Comm parent, const char *by, int tag, MPI_Comm made)
{
    char text[60];

    snprintf(text, sizeof(text), "%s %d", by, tag);
    mpi__comm_named(parent, text, made);
}

void mpi__comm_freed(MPI_Comm comm)
{
    pthread_mutex_lock(&comms.lock);
    for (mpi_comm *c = comms.all; c && comm != MPI_COMM_NULL; c = c->next)
        if (c->handle == MPI__BITS(comm))
            c->handle = 0;
    pthread_mutex_unlock(&comms.lock);
    atomic_fetch_add(&mpi__comm_generation, 1);
}

mpi_comm *mpi__comm_of(mpi_self *self, MPI_Comm comm)
{
    uint64_t handle = MPI__BITS(comm);
    mpi_known_comm *known =
        &self->comms[(handle >> 8 ^ handle >> 4 ^ handle) % MPI__COMMS];
    uint32_t now =
        atomic_load_explicit(&mpi__comm_generation, memory_order_relaxed);
    mpi_comm *c;

    if (known->handle == handle && known->generation == now)
        return known->comm;
    if (comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&comms.lock);
    c = comm_find(handle);
    if (c && !c->is_asked)
        comm_ask(c, comm);
    pthread_mutex_unlock(&comms.lock);
    *known = (mpi_known_comm){handle, c, now};
    return c;
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
    *d = (defined){*list, what, poster, MPI__NONE, MPI__NONE, false};
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
 * posts receives which others complete: their order is that of the former. From
 * anybody, there is no element. */
static int channel_make(defined *d, mpi_comm *c, uint32_t from, uint32_t to)
{
    const defined *plain = known(c->ends, d->what, MPI__NONE);
    char name[NAME + 128], key[KEY + 64], place[NAME + 8], sender[32],
        receiver[32], numbers[3][16];
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
        default:
            err = local_make(d, key->call);
        }
        d->is_there = err == 0;
    }
    out->upper = d->upper;
    out->channel = d->channel;
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
    bool has_peer = key->target != MPI__JOINS;

    if (key->target == MPI__LOCAL || !c || c->definition == MPI__NONE)
        return MPI__LOCAL;
    if (!has_peer)
        return c->is_inter ? MPI__LOCAL : MPI__JOINS;
    if (key->peer == MPI_ANY_SOURCE && !key->from) /* only the channel */
        return MPI__RECEIVES;
    if (key->peer < 0 || key->peer >= c->size ||
        c->world[key->peer] == MPI__NONE ||
        (c->is_inter && is_rooted((mpi_target)key->target)))
        return MPI__LOCAL;
    return (mpi_target)key->target;
}

static void name_make(mpi_end *out, const mpi_comm *c, uint32_t peer)
{
    char place[NAME + 8] = "", process[32] = "";
    static const char *const with[] = {[MPI__SENDS] = " to ",
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
    pthread_mutex_lock(&comms.lock);
    out->target = target_of(c, key);
    if (out->target != MPI__LOCAL && out->target != MPI__JOINS &&
        key->peer != MPI_ANY_SOURCE)
        peer = c->world[key->peer];
    out->peer = peer;
    out->root = is_rooted(out->target) ? peer : MPI__NONE;
    name_make(out, c, peer);
    if (out->target == MPI__LOCAL)
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
