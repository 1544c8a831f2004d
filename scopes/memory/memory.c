/* memory.c - see memory.h.
 *
 * Each piece has a head of 64 bytes in front of it. Small ones are the heap's.
 * Large ones, from 4 MiB on without a limit, are mappings of huge pages, since
 * for millions of events the faults of small pages cost as much as all copying.
 *
 * With a limit, pieces from 1 MiB on are mappings: anonymous while all of them
 * together are at most half of it, else of the temporary file, each of a range
 * of its own behind all others. A range that is given back leaves a hole. Some
 * pieces that were given back are kept for the next that are about as large:
 * their pages need no faults and no zeroes.
 * Pieces grow by moving their pages; of those in the file, only the last one
 * has room for that, others are copied.
 *
 * A thread, the trimmer, looks every few milliseconds how much of the process
 * is resident; so does whoever begins a part of some work or wants a piece, as
 * the trimmer may have to wait for a processor. When that is more than eleven
 * sixteenths of the limit, it takes all pages of files out (MADV_DONTNEED of
 * shared mappings: what is in the pages stays in the file's, and comes back by
 * a fault that reads nothing from the disk unless the kernel has needed the
 * memory meanwhile). */
#include "scopes/memory/memory_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/run/disk.h"
#include "pastset/array.h"
#include "pastset/schedule.h"
#include "pastset/status.h"

#define LARGE_BYTES (1u << 20)
#define HUGE_BYTES (2u << 20)
#define HEAD_BYTES 64u
#define SPARE_SHARE 8u /* of the limit: what spares may be */
/* What is written at a time: the kernel keeps it together, and maps all of it
 * when one byte is read. That is more than it does otherwise, but not so much
 * that who reads hundreds of series side by side has too much mapped. */
#define PUT_BYTES (128u << 10)
#define LOOK_NS 2000000
#define PATH_BYTES 4096
#define DISK_BYTES 2048

typedef enum kind { HEAP, HUGE, ANONYMOUS, FILED } kind;

/* In front of a piece. */
typedef struct head {
    size_t bytes;                /* of all of it, with the head */
    size_t offset;               /* in the file */
    struct head *before, *after; /* of those in the file */
    struct head *spare;          /* the next of those that nobody has */
    kind kind;
} head;

_Static_assert(sizeof(head) <= HEAD_BYTES, "a head has its place");

typedef struct watched {
    uintptr_t begin;
    size_t bytes;
} watched;

static struct {
    pthread_mutex_t lock;
    uint64_t limit;     /* 0: none. Changed while nobody allocates */
    size_t large_bytes; /* of what is held to it; as `limit` */
    int resident;       /* the file that tells what is resident; as `limit` */
    uint64_t held;      /* of anonymous pieces; guarded by lock, as all below */
    int file;
    uint64_t end; /* of the file */
    head *filed;
    head *spare; /* anonymous ones are held, too */
    uint64_t spare_bytes;
    watched *watched;
    size_t watched_count;

    pthread_t trimmer;
    pthread_cond_t over;
    bool is_over;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1, .resident = -1};

static _Thread_local int last_error; /* an errno */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* --- the trimmer --- */

static uint64_t resident_bytes(void)
{
    char text[100];
    unsigned long long all, resident = 0;
    ssize_t got = pread(memory.resident, text, sizeof(text) - 1, 0);

    text[got > 0 ? got : 0] = 0;
    if (sscanf(text, "%llu %llu", &all, &resident) != 2)
        return 0;
    return resident * page_bytes();
}

static bool is_too_large(void)
{
    return resident_bytes() > memory.limit / 16 * 11;
}

/* Under the lock. */
static void trim(void)
{
    /* Whoever had the lock may have done it. */
    if (!is_too_large())
        return;
    for (head *piece = memory.filed; piece; piece = piece->after) {
        PASTSET_POINT("memory.trim");
        /* But for the head, which the list goes through. */
        if (piece->bytes > page_bytes())
            (void)madvise((unsigned char *)piece + page_bytes(),
                          piece->bytes - page_bytes(), MADV_DONTNEED);
    }
    for (size_t i = 0; i < memory.watched_count; i++)
        (void)madvise((void *)memory.watched[i].begin, memory.watched[i].bytes,
                      MADV_DONTNEED);
}

void scopes__memory_look(void)
{
    if (!memory.limit || !is_too_large())
        return;
    pthread_mutex_lock(&memory.lock);
    trim();
    pthread_mutex_unlock(&memory.lock);
}

static void *trim_on(void *context)
{
    struct timespec next;

    (void)context;
    pthread_mutex_lock(&memory.lock);
    while (!memory.is_over) {
        trim();
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += LOOK_NS;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        pthread_cond_timedwait(&memory.over, &memory.lock, &next);
    }
    pthread_mutex_unlock(&memory.lock);
    return NULL;
}

bool scopes__memory_watch(const void *begin, size_t bytes)
{
    watched *more;

    pthread_mutex_lock(&memory.lock);
    more =
        pastset_array_grow(memory.watched, memory.watched_count, sizeof(*more));
    if (more) {
        memory.watched = more;
        more[memory.watched_count++] = (watched){(uintptr_t)begin, bytes};
    }
    pthread_mutex_unlock(&memory.lock);
    return more;
}

void scopes__memory_unwatch(const void *begin)
{
    pthread_mutex_lock(&memory.lock);
    for (size_t i = memory.watched_count; i-- > 0;) {
        if (memory.watched[i].begin != (uintptr_t)begin)
            continue;
        memory.watched[i] = memory.watched[--memory.watched_count];
        break;
    }
    pthread_mutex_unlock(&memory.lock);
}

/* --- the limit --- */

static const char *file_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/var/tmp";
}

/* On a file system that knows no files without a name. No signal comes between
 * the name and its end. */
static int file_open_named(const char *folder)
{
    char path[PATH_BYTES];
    sigset_t all, before;
    int error = ENAMETOOLONG;

    if ((size_t)snprintf(path, sizeof(path), "%s/eventspace.XXXXXX", folder) >=
        sizeof(path))
        return error;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    memory.file = mkostemp(path, O_CLOEXEC);
    error = memory.file < 0 ? errno : 0;
    if (!error)
        unlink(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int file_open(void)
{
    const char *folder = file_folder();
    int error = 0;

    memory.file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (memory.file < 0)
        error = file_open_named(folder);
    if (error)
        return pastset_fail(pastset_status_from_errno(error),
                            "%.400s: cannot make a temporary file: %s. Set "
                            "TMPDIR to a folder where there is room",
                            folder, strerror(error));
    return 0;
}

static int resident_open(void)
{
    memory.resident = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    return memory.resident < 0
               ? pastset_fail_while(pastset_fail_errno("/proc/self/statm"),
                                    "cannot keep a limit of memory")
               : 0;
}

static void files_close(void)
{
    if (memory.file >= 0)
        close(memory.file);
    if (memory.resident >= 0)
        close(memory.resident);
    memory.file = memory.resident = -1;
}

/* Signals are for the threads of whoever has set the limit. */
static int trimmer_start(void)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    int error;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&memory.over, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&memory.trimmer, NULL, trim_on, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        return 0;
    pthread_cond_destroy(&memory.over);
    return pastset_fail(pastset_status_from_errno(error),
                        "cannot start the thread that keeps a limit of memory: "
                        "%s",
                        strerror(error));
}

static void spares_drop(bool all);

static void limit_end(void)
{
    if (!memory.limit)
        return;
    pthread_mutex_lock(&memory.lock);
    memory.is_over = true;
    pthread_cond_signal(&memory.over);
    pthread_mutex_unlock(&memory.lock);
    pthread_join(memory.trimmer, NULL);
    pthread_cond_destroy(&memory.over);
    spares_drop(true);
    memory.limit = 0;
    files_close();
}

int scopes_memory_limit(uint64_t bytes)
{
    if (bytes && bytes < SCOPES_MEMORY_MIN)
        return pastset_fail(
            PASTSET_EINVAL,
            "a limit of %llu bytes of memory: it must be 64 MB at least",
            (unsigned long long)bytes);
    return scopes__memory_limit(bytes, LARGE_BYTES);
}

int scopes__memory_limit(uint64_t bytes, size_t large_bytes)
{
    int err;

    limit_end();
    if (!bytes)
        return 0;
    memory.limit = bytes;
    memory.large_bytes = large_bytes;
    memory.end = 0;
    memory.is_over = false;
    err = file_open();
    if (!err)
        err = resident_open();
    if (!err)
        err = trimmer_start();
    if (err) {
        memory.limit = 0;
        files_close();
    }
    return err;
}

bool scopes__memory_is_limited(void)
{
    return memory.limit;
}

/* The temporary file cannot have so much, for whatever reason. */
static int file_fail(int status, const char *what)
{
    const char *folder = file_folder();
    char where[DISK_BYTES] = "";

    eventspace_disk_name(where, sizeof(where), folder);
    return pastset_fail(
        status,
        "no room %s in a temporary file in %.400s%s%s: %s. Of %llu MB that "
        "may be in memory, more was needed. %s, or allow more memory",
        what, folder, *where ? ", on the file system " : "", where,
        strerror(last_error), (unsigned long long)(memory.limit / 1000000),
        last_error == EFBIG ? "Allow larger files (ulimit -f)"
                            : "Set TMPDIR to a folder with more room");
}

int scopes__no_room(const char *what)
{
    int status = pastset_status_from_errno(last_error);

    if (status == 0 || status == PASTSET_ENOMEM)
        return pastset_no_memory("%s", what);
    return file_fail(status, what);
}

/* --- pieces --- */

/* Address space of whole huge pages, aligned to them, with memory (`PROT_READ |
 * PROT_WRITE`) or without. */
static void *huge_map(size_t bytes, int protection)
{
    unsigned char *base =
        mmap(NULL, bytes + HUGE_BYTES, protection,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t before;

    if (base == MAP_FAILED)
        return NULL;
    before = (HUGE_BYTES - (uintptr_t)base % HUGE_BYTES) % HUGE_BYTES;
    if (before)
        munmap(base, before);
    if (before < HUGE_BYTES)
        munmap(base + before + bytes, HUGE_BYTES - before);
    (void)madvise(base + before, bytes, MADV_HUGEPAGE); /* or small ones */
    return base + before;
}

static void *anonymous_map(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* Gives the file so much room on the disk. */
static bool file_extend(size_t offset, size_t bytes)
{
    int error;

    do {
        error = posix_fallocate(memory.file, (off_t)offset, (off_t)bytes);
    } while (error == EINTR);
    errno = error;
    return !error;
}

static void *file_map(size_t offset, size_t bytes)
{
    void *base;

    if (!file_extend(offset, bytes))
        return NULL;
    base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file,
                (off_t)offset);
    return base == MAP_FAILED ? NULL : base;
}

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* What is slow is done without the lock, for which the trimmer would wait. */

static void limited_drop(head *piece)
{
    size_t bytes = piece->bytes, offset = piece->offset;
    bool filed = piece->kind == FILED;

    munmap(piece, bytes);
    if (filed)
        (void)fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)offset, (off_t)bytes);
}

/* It is no longer held, or in the list; under the lock. */
static void limited_forget(head *piece)
{
    if (piece->kind == ANONYMOUS) {
        memory.held -= piece->bytes;
        return;
    }
    if (piece->before)
        piece->before->after = piece->after;
    else
        memory.filed = piece->after;
    if (piece->after)
        piece->after->before = piece->before;
}

/* Gives back spares: the anonymous ones, or all. */
static void spares_drop(bool all)
{
    head *dropped = NULL;

    pthread_mutex_lock(&memory.lock);
    for (head **at = &memory.spare; *at;) {
        head *piece = *at;
        if (!all && piece->kind == FILED) {
            at = &piece->spare;
            continue;
        }
        *at = piece->spare;
        memory.spare_bytes -= piece->bytes;
        limited_forget(piece);
        piece->spare = dropped;
        dropped = piece;
    }
    pthread_mutex_unlock(&memory.lock);
    while (dropped) {
        head *piece = dropped;
        dropped = piece->spare;
        limited_drop(piece);
    }
}

/* A spare of which at least half is needed. */
static head *spare_take(size_t bytes)
{
    head **best = NULL, *taken = NULL;

    pthread_mutex_lock(&memory.lock);
    for (head **at = &memory.spare; *at; at = &(*at)->spare) {
        if ((*at)->bytes >= bytes && (*at)->bytes / 2 <= bytes &&
            (!best || (*at)->bytes < (*best)->bytes))
            best = at;
    }
    if (best) {
        taken = *best;
        *best = taken->spare;
        memory.spare_bytes -= taken->bytes;
    }
    pthread_mutex_unlock(&memory.lock);
    return taken;
}

/* Of what may be in memory, takes so much. */
static bool hold(size_t bytes)
{
    bool is_room;

    pthread_mutex_lock(&memory.lock);
    is_room = memory.held + bytes <= memory.limit / 2;
    if (is_room)
        memory.held += bytes;
    pthread_mutex_unlock(&memory.lock);
    return is_room;
}

static void unhold(size_t bytes)
{
    pthread_mutex_lock(&memory.lock);
    memory.held -= bytes;
    pthread_mutex_unlock(&memory.lock);
}

static head *held_make(size_t bytes)
{
    head *piece = anonymous_map(bytes);

    if (piece)
        *piece = (head){.bytes = bytes, .kind = ANONYMOUS};
    else
        unhold(bytes);
    return piece;
}

static head *filed_make(size_t bytes)
{
    size_t offset;
    head *piece;

    pthread_mutex_lock(&memory.lock);
    offset = memory.end;
    memory.end += bytes;
    pthread_mutex_unlock(&memory.lock);
    piece = file_map(offset, bytes);
    if (!piece)
        return NULL;
    *piece = (head){.bytes = bytes, .kind = FILED, .offset = offset};
    PASTSET_POINT("memory.link");
    pthread_mutex_lock(&memory.lock);
    piece->after = memory.filed;
    if (memory.filed)
        memory.filed->before = piece;
    memory.filed = piece;
    pthread_mutex_unlock(&memory.lock);
    return piece;
}

static head *limited_make(size_t bytes)
{
    head *piece;

    scopes__memory_look();
    bytes = rounded(bytes, page_bytes());
    piece = spare_take(bytes);
    if (piece)
        return piece;
    if (hold(bytes))
        return held_make(bytes);
    PASTSET_POINT("memory.spare");
    spares_drop(false);
    return hold(bytes) ? held_make(bytes) : filed_make(bytes);
}

static void limited_free(head *piece)
{
    bool is_kept;

    pthread_mutex_lock(&memory.lock);
    is_kept = piece->bytes + memory.spare_bytes <= memory.limit / SPARE_SHARE;
    if (is_kept) {
        piece->spare = memory.spare;
        memory.spare = piece;
        memory.spare_bytes += piece->bytes;
    } else {
        limited_forget(piece);
    }
    pthread_mutex_unlock(&memory.lock);
    PASTSET_POINT("memory.drop");
    if (!is_kept)
        limited_drop(piece);
}

static bool is_for_heap(size_t bytes)
{
    return bytes < (memory.limit ? memory.large_bytes : 2 * HUGE_BYTES);
}

static head *piece_make(size_t bytes)
{
    head *piece;

    if (!is_for_heap(bytes) && memory.limit)
        return limited_make(bytes);
    if (!is_for_heap(bytes)) {
        bytes = rounded(bytes, HUGE_BYTES);
        piece = huge_map(bytes, PROT_READ | PROT_WRITE);
        if (piece)
            *piece = (head){.bytes = bytes, .kind = HUGE};
        return piece;
    }
    piece = malloc(bytes);
    if (piece)
        *piece = (head){.bytes = bytes, .kind = HEAP};
    return piece;
}

void *scopes__allocate(size_t bytes)
{
    head *piece = NULL;

    if (bytes <= SIZE_MAX / 2)
        piece = piece_make(bytes + HEAD_BYTES);
    else
        errno = ENOMEM;
    last_error = piece ? 0 : errno;
    return piece ? (unsigned char *)piece + HEAD_BYTES : NULL;
}

static head *head_of(void *piece)
{
    return (head *)(void *)((unsigned char *)piece - HEAD_BYTES);
}

void scopes__free(void *given)
{
    head *piece = given ? head_of(given) : NULL;

    if (!piece)
        return;
    switch (piece->kind) {
    case HEAP:
        free(piece);
        return;
    case ANONYMOUS:
    case FILED:
        limited_free(piece);
        return;
    case HUGE:
        munmap(piece, piece->bytes);
        return;
    }
}

bool scopes__is_filed(void *piece)
{
    return head_of(piece)->kind == FILED;
}

void scopes__put(void *given, size_t offset, const void *from, size_t bytes)
{
    const unsigned char *left = from;
    unsigned char *to = (unsigned char *)given + offset;
    size_t at = head_of(given)->offset + HEAD_BYTES + offset;
    ssize_t put = 1;

    while (scopes__is_filed(given) && bytes > 0 && put > 0) {
        put = pwrite(memory.file, left, bytes < PUT_BYTES ? bytes : PUT_BYTES,
                     (off_t)at);
        if (put <= 0)
            break;
        left += put;
        to += put;
        at += (size_t)put;
        bytes -= (size_t)put;
    }
    /* What cannot be written can still be stored: it has its room. */
    memcpy(to, left, bytes);
}

static void *heap_resize(head *piece, size_t bytes)
{
    head *more = realloc(piece, bytes);

    last_error = more ? 0 : errno;
    if (!more)
        return NULL;
    more->bytes = bytes;
    return (unsigned char *)more + HEAD_BYTES;
}

/* By moving pages, for which the kernel moves an entry for every 2 MiB. */
static void *huge_grow(head *piece, size_t bytes)
{
    head *to;

    bytes = rounded(bytes, HUGE_BYTES);
    to = huge_map(bytes, PROT_NONE);
    if (!to) {
        last_error = errno;
        return NULL;
    }
    /* It replaces the reservation, which is what keeps it aligned. */
    if (mremap(piece, piece->bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
        MAP_FAILED) {
        last_error = errno;
        munmap(to, bytes);
        return NULL;
    }
    to->bytes = bytes;
    return (unsigned char *)to + HEAD_BYTES;
}

/* Where the piece is now; NULL: it has not moved. Under the lock, by which
 * ThreadSanitizer, which does not know mremap, sees whose the addresses were.
 */
static head *pages_move(head *piece, size_t bytes)
{
    head *to = mremap(piece, piece->bytes, bytes, MREMAP_MAYMOVE);

    if (to == MAP_FAILED)
        return NULL;
    to->bytes = bytes;
    return to;
}

static head *held_grow(head *piece, size_t bytes)
{
    size_t more = bytes - piece->bytes;
    head *to = NULL;

    pthread_mutex_lock(&memory.lock);
    if (memory.held + more <= memory.limit / 2)
        to = pages_move(piece, bytes);
    if (to)
        memory.held += more;
    pthread_mutex_unlock(&memory.lock);
    return to;
}

/* Is the piece the last one in the file? Then it has so much more of it. */
static bool has_behind(const head *piece, size_t more)
{
    bool is_last;

    pthread_mutex_lock(&memory.lock);
    is_last = piece->offset + piece->bytes == memory.end;
    if (is_last)
        memory.end += more;
    pthread_mutex_unlock(&memory.lock);
    return is_last;
}

static head *filed_grow(head *piece, size_t bytes)
{
    size_t more = bytes - piece->bytes;
    head *to;

    if (!has_behind(piece, more) ||
        !file_extend(piece->offset + piece->bytes, more))
        return NULL;
    PASTSET_POINT("memory.grow");
    pthread_mutex_lock(&memory.lock);
    to = pages_move(piece, bytes);
    if (to && to->before)
        to->before->after = to;
    else if (to)
        memory.filed = to;
    if (to && to->after)
        to->after->before = to;
    pthread_mutex_unlock(&memory.lock);
    return to;
}

/* By moving pages, if there is room behind it; else it is copied. */
static void *limited_grow(head *piece, size_t bytes)
{
    head *to;

    bytes = rounded(bytes, page_bytes());
    to = piece->kind == FILED ? filed_grow(piece, bytes)
                              : held_grow(piece, bytes);
    return to ? (unsigned char *)to + HEAD_BYTES : NULL;
}

static bool is_limited(const head *piece)
{
    return piece->kind == ANONYMOUS || piece->kind == FILED;
}

void *scopes__resize(void *given, size_t bytes)
{
    size_t had = given ? head_of(given)->bytes - HEAD_BYTES : 0;
    void *more;

    if (given && bytes <= had && bytes >= had / 4)
        return given;
    if (given && head_of(given)->kind == HEAP && is_for_heap(bytes))
        return heap_resize(head_of(given), bytes + HEAD_BYTES);
    if (given && head_of(given)->kind == HUGE && bytes > had &&
        bytes <= SIZE_MAX / 2)
        return huge_grow(head_of(given), bytes + HEAD_BYTES);
    more = NULL;
    if (given && is_limited(head_of(given)) && bytes > had &&
        bytes <= SIZE_MAX / 2)
        more = limited_grow(head_of(given), bytes + HEAD_BYTES);
    if (more)
        return more;
    more = scopes__allocate(bytes);
    if (more && given) {
        memcpy(more, given, had < bytes ? had : bytes);
        scopes__free(given);
    }
    return more;
}

void *scopes__array_grow(void *items, size_t count, size_t item_bytes)
{
    if (count & (count - 1))
        return items;
    return scopes__resize(items, (count ? 2 * count : 1) * item_bytes);
}
