/* comms.c - communicators.
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

#include "mpi/comms.h"

#define KEY_BEGINNING 60 /* of one that is too long */

_Atomic uint32_t mpi__comm_generation = 1, mpi__type_generation = 1;

static struct {
    mpi_comm *all;
    mpi_comm *freed; /* of which something is still said, or known */
    MPI_Group world;
    bool has_world;
} comms;

pthread_mutex_t mpi__comms_lock = PTHREAD_MUTEX_INITIALIZER;

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
static void key_set(char key[MPI__KEY], const char *text)
{
    size_t length = strlen(text);
    digest d = DIGEST;

    if (length < MPI__KEY) {
        memcpy(key, text, length + 1);
        return;
    }
    digest_add(&d, text, length);
    snprintf(key, MPI__KEY, "%.*s~%016llx%016llx", KEY_BEGINNING, text,
             (unsigned long long)d.a, (unsigned long long)d.b);
}

/* --- the list; under the lock, as all that follows --- */

static void comm_drop(uint64_t handle)
{
    mpi_comm **at = &comms.all, *c;

    while ((c = *at)) {
        if (c->handle != handle) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->handle = 0;
        if (c->is_asked) { /* requests and places may have it */
            c->next = comms.freed;
            comms.freed = c;
        } else {
            free(c);
        }
        atomic_fetch_add(&mpi__comm_generation, 1);
    }
}

/* One that was freed in a call that MPI has made, nobody has seen that. */
static mpi_comm *comm_add(uint64_t handle, const char *key)
{
    mpi_comm *c = calloc(1, sizeof(*c));

    comm_drop(handle);
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
    const mpi_comm *const lists[] = {comms.all, comms.freed};
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        for (const mpi_comm *other = lists[i]; other; other = other->next)
            count += other != c && strcmp(other->alike, c->alike) == 0;
    return count;
}

static void key_complete(mpi_comm *c, const digest *members)
{
    char text[2 * MPI__KEY];
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

static void define(mpi_comm *c, const digest *members)
{
    key_complete(c, members);
    number_make(c);
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

    pthread_mutex_lock(&mpi__comms_lock);
    comms.has_world =
        PMPI_Comm_group(MPI_COMM_WORLD, &comms.world) == MPI_SUCCESS;
    comm_add(MPI__BITS(MPI_COMM_WORLD), "world");
    snprintf(key, sizeof(key), "self%u", mpi__rank);
    comm_add(MPI__BITS(MPI_COMM_SELF), key);
    pthread_mutex_unlock(&mpi__comms_lock);
}

void mpi__comm_made(MPI_Comm parent, MPI_Comm made)
{
    mpi_comm *from;
    char key[MPI__KEY + 16];

    pthread_mutex_lock(&mpi__comms_lock);
    from = comm_find(MPI__BITS(parent));
    if (from) {
        if (!from->is_asked)
            comm_ask(from, parent);
        snprintf(key, sizeof(key), "%s/%u", from->key, from->children++);
        if (made != MPI_COMM_NULL)
            comm_add(MPI__BITS(made), from->key[0] ? key : "");
    }
    pthread_mutex_unlock(&mpi__comms_lock);
}

void mpi__comm_named(MPI_Comm parent, const char *by, MPI_Comm made)
{
    mpi_comm *from = NULL;
    char key[MPI__KEY + 320];

    if (made == MPI_COMM_NULL)
        return;
    pthread_mutex_lock(&mpi__comms_lock);
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
    pthread_mutex_unlock(&mpi__comms_lock);
}

void mpi__comm_tagged(MPI_Comm parent, const char *by, int tag, MPI_Comm made)
{
    char text[60];

    snprintf(text, sizeof(text), "%s %d", by, tag);
    mpi__comm_named(parent, text, made);
}

void mpi__comm_freed(MPI_Comm comm)
{
    pthread_mutex_lock(&mpi__comms_lock);
    if (comm != MPI_COMM_NULL)
        comm_drop(MPI__BITS(comm));
    pthread_mutex_unlock(&mpi__comms_lock);
}

/* --- windows --- */

/* Under the lock. */
static void window_add(mpi_comm *from, MPI_Win made)
{
    char key[MPI__KEY + 32];
    mpi_comm *c;
    size_t bytes = ((size_t)from->size + 1) * sizeof(*c->world);

    snprintf(key, sizeof(key), "%s window %u", from->key, from->children++);
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

    pthread_mutex_lock(&mpi__comms_lock);
    from = comm_find(MPI__BITS(parent));
    if (from && !from->is_asked)
        comm_ask(from, parent);
    if (from)
        window_add(from, made);
    pthread_mutex_unlock(&mpi__comms_lock);
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

    pthread_mutex_lock(&mpi__comms_lock);
    c = comm_find(MPI__BITS(window));
    if (c)
        c->posted_count = mpi__group_ranks(group, c->posted);
    pthread_mutex_unlock(&mpi__comms_lock);
}

int mpi__window_posted(MPI_Win window, uint32_t out[MPI__GROUP])
{
    const mpi_comm *c;
    int count = 0;

    pthread_mutex_lock(&mpi__comms_lock);
    c = comm_find(MPI__BITS(window));
    for (; c && count < c->posted_count; count++)
        out[count] = c->posted[count];
    pthread_mutex_unlock(&mpi__comms_lock);
    return count;
}

/* --- known --- */

mpi_comm *mpi__comm_look(mpi_known_comm *known, MPI_Comm comm, uint32_t now)
{
    mpi_comm *c;

    if (comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&mpi__comms_lock);
    c = comm_find(MPI__BITS(comm));
    if (c && !c->is_asked)
        comm_ask(c, comm);
    pthread_mutex_unlock(&mpi__comms_lock);
    *known = (mpi_known_comm){MPI__BITS(comm), c, now};
    return c;
}
