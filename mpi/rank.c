/* rank.c - the process: where its recording begins and ends, and its threads.
 *
 * `eventspace mpi` has made the run directory, and says in the environment
 * which one it is and how many processes the run has. When MPI is initialised
 * each process begins its files there; nothing has to be said between them, and
 * who is killed leaves what it has recorded until then. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/record/environment.h"
#include "mpi/interpose.h"
#include "mpi/words.h"
#include "pastset/fence.h"
#include "pastset/status.h"

#define EXPORT __attribute__((visibility("default")))

const char *const mpi__call_names[MPI__CALLS] = {
#define CALL(name, parameters, arguments, word, roles) #name,
#define OWN(name) #name,
#define OLD(name) #name,
#include "mpi/calls.def"
#undef CALL
#undef OWN
#undef OLD
};

eventspace_recorder *mpi__recorder;
uint32_t mpi__rank, mpi__size;
bool mpi__is_threaded;
uint64_t mpi__poll_ticks;
_Atomic bool mpi__is_on;
_Thread_local mpi_self *mpi__self;
_Thread_local mpi_note mpi__note;

static struct {
    _Atomic bool is_over; /* nothing is recorded any more */
    _Atomic bool is_full; /* a thread could not be made */
    pthread_key_t ends;
    _Atomic uint32_t threads;
} process;

void mpi__rank_name(char out[32], uint32_t rank)
{
    eventspace_rank_name(out, rank, mpi__size);
}

/* In one piece: other ranks say something, too. */
static void say(const char *format, ...)
{
    char text[2048], line[2080];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(line, sizeof(line), "eventspace: %s\n", text);
    fputs(line, stderr);
}

/* --- threads --- */

static void self_free(mpi_self *self)
{
    mpi__places_free(&self->places);
    free(self->held);
    free(self->statuses);
    free(self);
}

/* When a thread ends. */
static void thread_ends(void *value)
{
    mpi_self *self = value;

    if (!atomic_load(&process.is_over) && mpi__recorder)
        eventspace_recorder_thread_end(self->thread, eventspace_ticks());
    mpi__self = NULL;
    self_free(self);
}

static mpi_self *self_make(uint64_t begin)
{
    mpi_self *self = aligned_alloc(64, sizeof(*self));
    uint32_t n = atomic_fetch_add(&process.threads, 1);
    char own[32], name[64];

    if (!self)
        return NULL;
    memset(self, 0, sizeof(*self));
    mpi__rank_name(own, mpi__rank);
    snprintf(name, sizeof(name), n ? "%s thread %u" : "%s", own, n);
    if (eventspace_recorder_thread(&self->thread, mpi__recorder, name, begin)) {
        free(self);
        return NULL;
    }
    pthread_setspecific(process.ends, self);
    mpi__self = self;
    return self;
}

mpi_self *__attribute__((noinline)) mpi__self_make(void)
{
    mpi_self *self = NULL;

    if (!mpi__recorder || atomic_load(&process.is_over))
        return NULL;
    if (!atomic_load(&process.is_full))
        self = self_make(eventspace_ticks());
    if (!self) {
        if (!atomic_exchange(&process.is_full, true))
            say("calls of a thread of rank %u are lost: %s", mpi__rank,
                pastset_error());
        eventspace_recorder_lose_call(mpi__recorder);
    }
    return self;
}

/* --- begin --- */

static uint32_t number_from(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    unsigned long number = text ? strtoul(text, &end, 10) : 0;

    return text && *text && !*end && number < MPI__NONE ? (uint32_t)number : 0;
}

/* A child of this process has its memory, and must not write into its files. */
static void child_begins(void)
{
    mpi__recorder = NULL;
    mpi__self = NULL;
    atomic_store(&process.is_over, true);
}

/* "Open MPI 4.1.4", "MPICH 4.0.2": the words before the version, and that.
 * Open MPI writes "Open MPI v4.1.4, package: ...", MPICH "MPICH
 * Version:\t4.0.2" and more lines. */
static void library_name(char out[64])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", *rest = NULL;
    int length = 0, used = 0;

    PMPI_Get_library_version(text, &length);
    for (char *word = strtok_r(text, " \t:,\n", &rest); word && used < 63;
         word = strtok_r(NULL, " \t:,\n", &rest)) {
        const char *number = word + (*word == 'v');
        bool is_number = *number >= '0' && *number <= '9';
        if (strcmp(word, "Version") == 0)
            continue;
        used += snprintf(out + used, (size_t)(64 - used), "%s%s",
                         used ? " " : "", is_number ? number : word);
        if (is_number)
            break;
    }
}

static bool recorder_open(void)
{
    char name[32], library[64] = "";
    eventspace_recorder_options options = {
        .directory = getenv(EVENTSPACE_MPI_RUN),
        .process = name,
        .library = library,
        .rank = mpi__rank,
        .processes = mpi__size,
        .max_events = number_from(EVENTSPACE_MPI_EVENTS)};

    mpi__rank_name(name, mpi__rank);
    library_name(library);
    if (eventspace_recorder_open(&mpi__recorder, &options)) {
        mpi__recorder = NULL;
        say("%s is not recorded: %s", name, pastset_error());
        return false;
    }
    return true;
}

/* Is the run that was prepared of as many processes? */
static bool is_as_prepared(void)
{
    uint32_t prepared = number_from(EVENTSPACE_MPI_SIZE);

    if (prepared == mpi__size)
        return true;
    if (mpi__rank == 0)
        say("nothing is recorded: the run was prepared for %u processes, and "
            "MPI_COMM_WORLD has %u. Put `eventspace mpi` behind the launcher: "
            "mpirun -n %u eventspace mpi ... -- PROGRAM",
            prepared, mpi__size, mpi__size);
    return false;
}

static void self_over(void)
{
    mpi__over(NULL);
}

static void begin(uint64_t start, int provided)
{
    int rank, size;

    if (mpi__recorder || !getenv(EVENTSPACE_MPI_RUN) ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
        return;
    mpi__rank = (uint32_t)rank;
    mpi__size = (uint32_t)size;
    mpi__is_threaded = provided == MPI_THREAD_MULTIPLE;
    if (!is_as_prepared() || !recorder_open())
        return;
    mpi__poll_ticks = (uint64_t)(eventspace_ticks_hz() / 10);
    mpi__comms_begin();
    if (pthread_key_create(&process.ends, thread_ends)) {
        eventspace_recorder_close(mpi__recorder, "no key for its threads");
        mpi__recorder = NULL;
        return;
    }
    pthread_atfork(NULL, NULL, child_begins);
    atexit(self_over);
    atomic_store(&mpi__is_on, true);
    self_make(start);
}

/* The call that has initialised MPI is the first event. */
static void note_init(uint16_t number, uint64_t start, int result,
                      uintptr_t from)
{
    mpi_self *self = mpi__self;

    if (self) {
        mpi_call call = {.self = self,
                         .start = start,
                         .end = eventspace_ticks(),
                         .from = from,
                         .number = number};
        mpi__note_local(&call, result, 0);
    }
}

/* Before MPI is there: once it has threads, the kernel makes a process wait
 * some 10 ms for the fence, and the program with it. */
static uint64_t prepare(void)
{
    eventspace_ticks_init();
    if (getenv(EVENTSPACE_MPI_RUN))
        pastset_fence_init();
    return eventspace_ticks();
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    uint64_t start = prepare();
    uintptr_t from = mpi__from(MPI__CALL_MPI_Init, __builtin_return_address(0));
    int result, provided = MPI_THREAD_SINGLE;

    result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS) {
        PMPI_Query_thread(&provided);
        begin(start, provided);
        note_init(MPI__CALL_MPI_Init, start, result, from);
    }
    return result;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t start = prepare();
    uintptr_t from =
        mpi__from(MPI__CALL_MPI_Init_thread, __builtin_return_address(0));
    int result;

    result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS) {
        begin(start, *provided);
        note_init(MPI__CALL_MPI_Init_thread, start, result, from);
    }
    return result;
}

/* --- end --- */

void mpi__over(const char *failure)
{
    if (!mpi__recorder || atomic_exchange(&process.is_over, true))
        return;
    atomic_store(&mpi__is_on, false);
    if (mpi__self)
        eventspace_recorder_thread_end(mpi__self->thread, eventspace_ticks());
    /* Other threads may still be about to record: the memory stays. */
    if (eventspace_recorder_finish(mpi__recorder, failure))
        say("%s", pastset_error());
}

EXPORT int MPI_Finalize(void)
{
    mpi_call call;
    bool on = mpi__call_begin(&call, MPI__CALL_MPI_Finalize,
                              __builtin_return_address(0));
    int result;

    if (on)
        mpi__waits_for_all(&call);
    result = PMPI_Finalize();
    if (on) {
        mpi__call_end(&call);
        mpi__note_local(&call, result, 0);
        mpi__call_leave(&call);
    }
    mpi__over(NULL);
    return result;
}

EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    mpi_call call;
    char text[80];

    if (mpi__call_begin(&call, MPI__CALL_MPI_Abort,
                        __builtin_return_address(0))) {
        mpi__call_end(&call);
        mpi__note_local(&call, MPI_SUCCESS, 0);
    }
    snprintf(text, sizeof(text), "MPI_Abort(%d)", errorcode);
    mpi__over(text);
    return PMPI_Abort(comm, errorcode);
}

/* As the standard has it: 0 switches recording off, others on. Everything else
 * is the program's own. What messages and communicators there are is followed
 * all the time: those of later could not be told apart else. */
EXPORT int MPI_Pcontrol(const int level, ...)
{
    (void)mpi__from(MPI__CALL_MPI_Pcontrol, NULL);
    if (mpi__recorder && !atomic_load(&process.is_over))
        atomic_store(&mpi__is_on, level != 0);
    return MPI_SUCCESS;
}
