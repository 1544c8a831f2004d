/* requests_stress.c - the table of requests of MPI programs holds what a list
 * would: of one thread at random, and of several that are given each other's
 * handles.
 *
 *     requests_stress [STEPS [SEED]] */
#include "mpi/requests.c"

#include <stdio.h>

enum { HANDLES = 6000, THREADS = 4 };

bool mpi__is_threaded;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);        \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t end)
{
    return (uint32_t)(next(state) % end);
}

/* As both libraries give them: pointers, and numbers. */
static uint64_t handle_of(uint32_t i)
{
    return i % 2 ? UINT64_C(0x55d0c0de0000) + i * UINT64_C(0x180)
                 : UINT64_C(0x98000000) + i / 2;
}

/* --- one thread --- */

/* What is in the table, by handle: the first half of requests, the other one of
 * messages. */
static mpi_held list[2 * HANDLES];
static uint32_t live;

static mpi_held held_of(uint32_t at, uint64_t *state)
{
    return (mpi_held){.request = handle_of(at % HANDLES),
                      .is_message = at >= HANDLES,
                      .kind = (uint8_t)(MPI__SEND + below(state, 3)),
                      .is_persistent = below(state, 4) == 0,
                      .peer = (int32_t)below(state, 1000),
                      .order = (uint32_t)next(state)};
}

static void check_same(const mpi_held *found, const mpi_held *own)
{
    CHECK(found->request == own->request && found->kind == own->kind &&
          found->is_message == own->is_message &&
          found->is_persistent == own->is_persistent &&
          found->peer == own->peer && found->order == own->order);
}

static void step(uint64_t *state, uint32_t most)
{
    uint32_t at = below(state, 2 * HANDLES), way = below(state, 8);
    mpi_held *own = &list[at], found, other;
    uint64_t handle = handle_of(at % HANDLES);
    bool is_there;

    if (own->kind == MPI__NOTHING) {
        CHECK(!mpi__request_find(&found, handle, at >= HANDLES) &&
              found.kind == MPI__NOTHING);
        if (live < most) {
            *own = held_of(at, state);
            mpi__request_add(own);
            live++;
        }
        return;
    }
    is_there = way < 4 ? mpi__request_take(&found, handle, at >= HANDLES)
                       : mpi__request_find(&found, handle, at >= HANDLES);
    CHECK(is_there);
    check_same(&found, own);
    CHECK(found.is_taken == (way < 4 && !own->is_persistent));
    if (way == 4) { /* one that has had the same handle */
        other = found;
        other.id++;
        mpi__request_remove(&other);
        other.peer = -1;
        mpi__request_update(&other);
    } else if (way == 5) {
        found.peer = own->peer = (int32_t)below(state, 1000);
        mpi__request_update(&found);
    } else if (way != 6) {
        mpi__request_remove(&found);
        own->kind = MPI__NOTHING;
        live--;
    } else {
        /* only found */
    }
}

/* Entries are counted, half of them are free, there is a way to each, and no
 * shard has room for more. */
static void check_table(uint32_t room)
{
    uint32_t count = 0;

    for (int i = 0; i < SHARDS; i++) {
        const shard *s = &shards[i];
        uint32_t used = 0;
        for (uint32_t k = 0; s->items && k <= s->mask; k++) {
            used += s->items[k].request != 0;
            count += s->items[k].kind != MPI__NOTHING;
        }
        CHECK(s->used == used && used <= s->mask / 2 + 1);
        CHECK(s->mask < room);
    }
    CHECK(count == live);
    for (uint32_t i = 0; i < 2 * HANDLES; i++) {
        mpi_held found;
        bool is_there =
            mpi__request_find(&found, handle_of(i % HANDLES), i >= HANDLES);
        CHECK(is_there == (list[i].kind != MPI__NOTHING));
        if (is_there)
            check_same(&found, &list[i]);
    }
}

static void one_thread(uint64_t state, long steps)
{
    static const struct {
        uint32_t most, room; /* at once; of a shard */
    } all[] = {{1, FIRST},        {30, FIRST},
               {1500, 2 * FIRST}, {2 * HANDLES, 2 * HANDLES},
               {0, 2 * HANDLES},  {1000, 2 * HANDLES}};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        for (long k = 0; k < steps; k++) {
            step(&state, all[i].most);
            if (k % (steps / 8) == 0)
                check_table(all[i].room);
        }
    for (uint32_t i = 0; i < 2 * HANDLES; i++) {
        mpi_held found;
        if (mpi__request_find(&found, handle_of(i % HANDLES), i >= HANDLES))
            mpi__request_remove(&found);
        list[i].kind = MPI__NOTHING;
    }
    live = 0;
    check_table(2 * HANDLES);
}

/* --- several --- */

/* Handles that nobody has; who is last to give one back is first to get it. */
static struct {
    pthread_mutex_t lock;
    uint64_t handles[HANDLES];
    uint32_t count;
} unused = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t handle_get(void)
{
    uint64_t handle;

    pthread_mutex_lock(&unused.lock);
    CHECK(unused.count > 0);
    handle = unused.handles[--unused.count];
    pthread_mutex_unlock(&unused.lock);
    return handle;
}

static void handle_give(uint64_t handle)
{
    pthread_mutex_lock(&unused.lock);
    unused.handles[unused.count++] = handle;
    pthread_mutex_unlock(&unused.lock);
}

typedef struct worker {
    pthread_t id;
    uint64_t state;
    int32_t number;
    long steps;
} worker;

/* As a call does that completes it, or, at first, does not. */
static void complete(uint64_t *state, const mpi_held *own)
{
    mpi_held found;

    do {
        CHECK(mpi__request_take(&found, own->request, false));
        check_same(&found, own);
        if (below(state, 3))
            break;
        mpi__request_add(&found);
    } while (true);
    handle_give(own->request);
    mpi__request_remove(&found); /* which is taken */
}

static void *work(void *argument)
{
    worker *w = argument;
    mpi_held own[50];
    int count = 0;

    for (long i = 0; i < w->steps || count > 0; i++) {
        int at;
        if (i < w->steps && count < 50 && below(&w->state, 2)) {
            own[count] = (mpi_held){.request = handle_get(),
                                    .kind = MPI__RECEIVE,
                                    .peer = w->number,
                                    .order = (uint32_t)i};
            mpi__request_add(&own[count++]);
            continue;
        }
        if (count == 0)
            continue;
        at = (int)below(&w->state, (uint32_t)count);
        complete(&w->state, &own[at]);
        own[at] = own[--count];
    }
    return NULL;
}

static void several_threads(uint64_t state, long steps)
{
    worker all[THREADS];

    mpi__is_threaded = true;
    for (uint32_t i = 0; i < HANDLES; i++)
        unused.handles[unused.count++] = handle_of(i);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (worker){.state = next(&state), .number = i, .steps = steps};
        if (pthread_create(&all[i].id, NULL, work, &all[i]))
            exit(2);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i].id, NULL);
    check_table(2 * HANDLES);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 400000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    one_thread(seed, steps);
    several_threads(seed, steps);
    return 0;
}
