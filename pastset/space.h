/* space.h - the elements of one process, in one memory that is also a file.
 *
 * A space is one shared mapping without pointers. Created with a path it is
 * that file, and everything published in an element can be read from it by
 * another process, while the writer runs, after it ended, or after it was
 * killed. Created without a path it is anonymous memory.
 *
 * Threads:   create, open and close by one thread; the rest by any.
 * Ownership: create and open give the space to you; close takes it back
 *            together with every element in it. */
#ifndef PASTSET_SPACE_H
#define PASTSET_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pastset_space pastset_space;
typedef struct pastset_element pastset_element;

typedef struct pastset_space_options {
    const char *path;      /* the file, for its owner only (mode 0600); one of
                            * that name is replaced, and whoever reads it keeps
                            * it. NULL: anonymous memory */
    uint64_t max_bytes;    /* address space to reserve; 0: 64 GiB. No more
                            * than EVENTSPACE_SPACE_BYTES in the environment */
    uint32_t max_elements; /* 0: 65,536 */
} pastset_space_options;

/* Creates an empty space. Disk and memory are taken as elements need them.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ENOMEM, PASTSET_EINVAL. */
int pastset_space_create(pastset_space **out,
                         const pastset_space_options *options);

/* Opens the file of a space for reading: elements can be read without
 * waiting, and nothing in the file is changed. Damaged elements are left out,
 * which refresh tells.
 * Errors: PASTSET_EIO, PASTSET_EFORMAT (no space, or a damaged header). */
int pastset_space_open(pastset_space **out, const char *path);

/* Ends the operations that are held in its elements with PASTSET_EDELETED,
 * waits until the threads that waited in them have left, and gives everything
 * back. No call may come in any more. The file stays. */
void pastset_space_close(pastset_space *space);

/* For a space that was opened: takes in the elements that its writer has
 * created since. Errors: PASTSET_EFORMAT (some are damaged and left out, each
 * time; all others are there), PASTSET_EIO, PASTSET_ENOMEM. */
int pastset_space_refresh(pastset_space *space);

/* Makes the file of a space that nobody writes any more as small as what is in
 * it: no longer than its data, and without holes where elements had room to
 * grow. Readers see the same as before; those that have it open keep the file
 * that they have. What cannot be done leaves the file as it is. Another process
 * that settles it is waited for.
 * Errors: PASTSET_EAGAIN (it is still being written), PASTSET_EIO,
 * PASTSET_ENOENT, PASTSET_ENOSPC (the copy has no room), PASTSET_EFORMAT (it is
 * damaged), PASTSET_ENOMEM. */
int pastset_space_settle(const char *path);
/* Of a file that is being settled: its name, and this. */
#define PASTSET_SETTLING ".settling"

/* How large it may become. */
uint64_t pastset_space_max_bytes(const pastset_space *space);

/* The elements that were created and not deleted, in the order of creation.
 * Borrowed: they live until the space is closed. `at` and `find` give NULL
 * when there is none. */
size_t pastset_space_count(pastset_space *space);
pastset_element *pastset_space_at(pastset_space *space, size_t position);
pastset_element *pastset_space_find(pastset_space *space, const char *name);

/* Where a space that was opened lies in memory, as far as there is a file. */
const void *pastset_space_memory(pastset_space *space, uint64_t *bytes);

#endif
