/* space_memory.c - the memory of a space: one mapping of a file, or of none.
 *
 * The address space for the largest size is reserved at once, so that nothing
 * ever moves; disk blocks are taken when an element is created or grows, with
 * fallocate, so that a full disk is an error there and never a SIGBUS at a
 * store. The file is sparse where elements may still grow. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/space_internal.h"

#define SPACE_CLOSING (1u << 31)

/* A block that is mapped at once traps once; page by page 512 times, which also
 * happens where the kernel keeps pages together that are no whole block. */
#define BLOCK_TRAPS_MAX 64

/* Addresses that begin with a block: it is mapped at once only where it is a
 * block in memory, too. Most file systems see to that when they are mapped,
 * some that lie above others do not. NULL: anywhere. */
static void *place_find(uint64_t bytes)
{
    uint64_t used = round_up(bytes, SPACE_PAGE);
    unsigned char *all =
        mmap(NULL, used + PASTSET__BLOCK, PROT_NONE,
             MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t before;

    if (all == MAP_FAILED)
        return NULL;
    before = round_up((uintptr_t)all, PASTSET__BLOCK) - (uintptr_t)all;
    if (before > 0)
        munmap(all, before);
    munmap(all + before + used, PASTSET__BLOCK - before);
    return all + before;
}

int pastset__space_map(pastset_space *space, uint64_t bytes)
{
    int protection = PROT_READ | (space->read_only ? 0 : PROT_WRITE);
    int flags = MAP_NORESERVE | MAP_SHARED;
    void *place = NULL;

    if (space->fd < 0)
        flags |= MAP_ANONYMOUS;
    else if (!space->read_only)
        place = place_find(bytes);
    if (place)
        flags |= MAP_FIXED;
    space->base = mmap(place, bytes, protection, flags, space->fd, 0);
    if (space->base == MAP_FAILED) {
        int error = errno;
        if (place)
            munmap(place, bytes);
        return pastset_fail(
            pastset_status_from_errno(error), "%s: cannot map %llu bytes: %s%s",
            space->path, (unsigned long long)bytes, strerror(error),
            error == ENOMEM && !space->read_only
                ? ". `ulimit -v` may forbid it; EVENTSPACE_SPACE_BYTES in the "
                  "environment asks for fewer"
                : "");
    }
    /* Else the kernel reads around what a store touches first, zeros most of
     * the time: as much as it reads ahead on that disk, which may be 8 MiB, and
     * milliseconds of one operation. It also lets go of such pages first where
     * memory is scarce: of tuples, most will not be written again. */
    if (!space->read_only)
        (void)madvise(space->base, bytes, MADV_RANDOM);
    space->mapped_bytes = bytes;
    space->header = (space_header *)(void *)space->base;
    return 0;
}

int pastset__space_extend(pastset_space *space)
{
    space_mapping before = {space->base, space->mapped_bytes};
    uint64_t used = pastset_space_used_bytes(space);
    space_mapping *older;
    int err;

    if (used <= before.bytes || used > space->max_bytes)
        return 0;
    older =
        pastset_array_grow(space->older, space->older_count, sizeof(*older));
    if (!older)
        return pastset_no_memory("for a space");
    space->older = older;
    err = pastset__space_map(space, used);
    if (err)
        space->base = before.base;
    else
        older[space->older_count++] = before;
    return err;
}

void *pastset__space_at(pastset_space *space, uint64_t offset)
{
    return space->base + offset;
}

uint64_t pastset__space_offset(const pastset_space *space, const void *at)
{
    const unsigned char *byte = at, *base = space->base;

    for (uint32_t i = 0; i < space->older_count; i++) {
        const space_mapping *m = &space->older[i];
        if (byte >= m->base && byte < m->base + m->bytes)
            base = m->base;
    }
    return (uint64_t)(byte - base);
}

uint64_t pastset__space_begin(const pastset_space *space)
{
    return space_begin(space->max_elements);
}

/* By adding nothing to a byte of each page, which leaves what a neighbour may
 * be writing there. */
static void pages_touch(pastset_space *space, uint64_t offset, uint64_t bytes)
{
    unsigned char *end = space->base + offset + bytes;

    for (unsigned char *page = space->base + offset / SPACE_PAGE * SPACE_PAGE;
         page < end; page += SPACE_PAGE)
        __atomic_fetch_or(page, 0, __ATOMIC_RELAXED);
}

static void pages_populate(pastset_space *space, uint64_t offset,
                           uint64_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    uint64_t before = offset % SPACE_PAGE;

    if (madvise(space->base + offset - before, (size_t)(bytes + before),
                MADV_POPULATE_WRITE) == 0)
        return;
#endif
    pages_touch(space, offset, bytes); /* kernels before 5.14 */
}

int pastset__space_file_note(pastset_space *space)
{
    struct stat status;

    if (fstat(space->fd, &status) != 0) {
        int error = errno;
        return pastset_fail(PASTSET_EIO, "%s: %s", space->path,
                            strerror(error));
    }
    space->device = status.st_dev;
    space->inode = status.st_ino;
    return 0;
}

/* Some programs close all descriptors that they know nothing of, and what they
 * open next may have the number of this one. */
static bool has_its_file(const pastset_space *space)
{
    struct stat status;

    return fstat(space->fd, &status) == 0 && status.st_dev == space->device &&
           status.st_ino == space->inode;
}

/* A limit of the size of files also holds within a file, and what is written
 * beyond it kills. */
static bool can_be_written(const pastset_space *space, uint64_t until)
{
    struct rlimit limit;

    return space->fd >= 0 && has_its_file(space) &&
           getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || until <= limit.rlim_cur);
}

#define ZEROS (128u << 10) /* at a time */
#define PIECES (PASTSET__BLOCK / ZEROS)

/* All at once: what one write brings is kept together. By syscall, as pwritev
 * is where a thread may be cancelled, and a lock is held. */
static long zeros_write(const pastset_space *space, uint64_t offset,
                        uint64_t bytes)
{
    static const unsigned char zeros[ZEROS];
    struct iovec pieces[PIECES];
    unsigned count = 0;

    for (uint64_t left = bytes; left > 0 && count < PIECES; count++) {
        size_t own = left < ZEROS ? (size_t)left : ZEROS;
        pieces[count] = (struct iovec){(void *)(uintptr_t)zeros, own};
        left -= own;
    }
    _Static_assert(sizeof(long) == sizeof(offset), "else it has two halves");
    return syscall(SYS_pwritev, space->fd, pieces, (long)count, (long)offset,
                   0L);
}

static void blocks_give_up(pastset_space *space)
{
    atomic_store_explicit(&space->lacks_blocks, true, memory_order_relaxed);
}

static long traps(void)
{
    struct rusage used;

    return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_minflt : 0;
}

/* Where a block turns out not to be mapped at once, no more are asked for: to
 * map all of its pages one by one would be milliseconds of an operation. */
static void block_touch(pastset_space *space, uint64_t offset)
{
    long before = traps();

    pages_touch(space, offset, PASTSET__BLOCK);
    if (traps() - before > BLOCK_TRAPS_MAX)
        blocks_give_up(space);
}

bool pastset__space_has_blocks(const pastset_space *space)
{
    return space->fd >= 0 &&
           !atomic_load_explicit(&space->lacks_blocks, memory_order_relaxed);
}

/* A file's pages come one by one when they are touched, each with its own
 * reservation in the file system. Zeros that are written to the file bring them
 * together, and are what is there already: seen on ext4, that takes half of the
 * time, and never the milliseconds that a page now and then takes else. In a
 * virtual machine each page that is mapped then still took 7 us; of a whole
 * block that one write has brought, 0.1 us. */
void pastset__space_touch(pastset_space *space, uint64_t offset, uint64_t bytes)
{
    bool is_block = bytes == PASTSET__BLOCK && offset % PASTSET__BLOCK == 0;
    uint64_t done = 0;

    while (done < bytes && can_be_written(space, offset + bytes)) {
        long n = zeros_write(space, offset + done, bytes - done);
        if (n <= 0)
            break; /* then they come one by one */
        done += (uint64_t)n;
    }
    if (done == bytes && is_block) {
        block_touch(space, offset);
    } else if (done == bytes) {
        pages_touch(space, offset, bytes);
    } else {
        if (is_block)
            blocks_give_up(space);
        pages_populate(space, offset, bytes);
    }
}

int pastset__space_commit(pastset_space *space, uint64_t offset, uint64_t bytes,
                          bool prefault)
{
    if (space->fd >= 0) {
        int error;
        if (!has_its_file(space))
            return pastset_fail(PASTSET_EIO,
                                "%s: its descriptor was closed, or is that of "
                                "another file now",
                                space->path);
        do {
            error = posix_fallocate(space->fd, (off_t)offset, (off_t)bytes);
        } while (error == EINTR);
        if (error)
            return pastset_fail(
                pastset_status_from_errno(error),
                "%s: cannot reserve %llu bytes on disk: %s. Free some, or make "
                "elements smaller",
                space->path, (unsigned long long)bytes, strerror(error));
    }
    if (prefault)
        pages_populate(space, offset, bytes);
    return 0;
}

int pastset__space_allocate(pastset_space *space, uint64_t bytes,
                            uint64_t now_bytes, uint64_t *offset)
{
    uint64_t used;
    int err;

    pthread_mutex_lock(&space->lock);
    used =
        atomic_load_explicit(&space->header->used_bytes, memory_order_relaxed);
    bytes = round_up(bytes, SPACE_PAGE);
    if (bytes > space->mapped_bytes - used)
        err = pastset_fail(PASTSET_ENOSPC,
                           "%s: %llu bytes more would exceed its %llu; make "
                           "elements smaller, or EVENTSPACE_SPACE_BYTES larger",
                           space->path, (unsigned long long)bytes,
                           (unsigned long long)space->mapped_bytes);
    else
        err = pastset__space_commit(space, used, now_bytes, false);
    if (!err) {
        atomic_store_explicit(&space->header->used_bytes, used + bytes,
                              memory_order_relaxed);
        *offset = used;
    }
    pthread_mutex_unlock(&space->lock);
    return err;
}

uint64_t pastset_space_used_bytes(const pastset_space *space)
{
    return atomic_load_explicit(&space->header->used_bytes,
                                memory_order_relaxed);
}

uint64_t pastset_space_max_bytes(const pastset_space *space)
{
    return space->header->max_bytes;
}

/* --- the file of a space that was opened --- */

int pastset__space_file_size(pastset_space *space)
{
    struct stat status;

    if (fstat(space->fd, &status) != 0) {
        int error = errno;
        return pastset_fail(PASTSET_EIO, "%s: %s", space->path,
                            strerror(error));
    }
    atomic_store(&space->file_bytes, (uint64_t)status.st_size);
    return 0;
}

bool pastset__space_readable(pastset_space *space, uint64_t offset,
                             uint64_t bytes)
{
    uint64_t mapped = space->mapped_bytes;

    if (offset > mapped || bytes > mapped - offset)
        return false;
    if (offset + bytes <= atomic_load(&space->file_bytes))
        return true;
    /* It may have grown since. */
    return pastset__space_file_size(space) == 0 &&
           offset + bytes <= atomic_load(&space->file_bytes);
}

int pastset__space_page(void **page, pastset_space *space, const void *at)
{
    uint64_t offset;
    char name[64];
    int fd, error;

    pthread_mutex_lock(&space->lock);
    offset = pastset__space_offset(space, at) / SPACE_PAGE * SPACE_PAGE;
    pthread_mutex_unlock(&space->lock);
    /* The file that is read, even if another one has its name by now. */
    snprintf(name, sizeof(name), "/proc/self/fd/%d", space->fd);
    fd = open(name, O_RDWR | O_CLOEXEC);
    *page = fd < 0 ? MAP_FAILED
                   : mmap(NULL, SPACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
                          fd, (off_t)offset);
    error = errno;
    if (fd >= 0)
        close(fd);
    if (*page != MAP_FAILED)
        return 0;
    *page = NULL;
    return pastset_fail(PASTSET_EIO, "cannot write to %s: %s", space->path,
                        strerror(error));
}

const void *pastset_space_memory(pastset_space *space, uint64_t *bytes)
{
    uint64_t file_bytes = atomic_load(&space->file_bytes);
    const void *base;

    pthread_mutex_lock(&space->lock);
    base = space->base;
    *bytes =
        file_bytes < space->mapped_bytes ? file_bytes : space->mapped_bytes;
    pthread_mutex_unlock(&space->lock);
    return base;
}

/* --- threads that wait in it --- */

void pastset__space_enter(pastset_space *space)
{
    atomic_fetch_add_explicit(&space->inside, 1, memory_order_relaxed);
}

void pastset__space_leave(pastset_space *space)
{
    /* Release: pairs with the acquire in pastset__space_wait_left(). The space
     * may be gone right after it; nothing of it is read. */
    if (atomic_fetch_sub_explicit(&space->inside, 1, memory_order_release) ==
        (SPACE_CLOSING | 1))
        syscall(SYS_futex, &space->inside, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1,
                NULL, NULL, 0);
}

void pastset__space_wait_left(pastset_space *space)
{
    uint32_t inside =
        SPACE_CLOSING | atomic_fetch_or_explicit(&space->inside, SPACE_CLOSING,
                                                 memory_order_acquire);

    while (inside != SPACE_CLOSING) {
        syscall(SYS_futex, &space->inside, FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
                inside, NULL, NULL, 0);
        inside = atomic_load_explicit(&space->inside, memory_order_acquire);
    }
}
