/* space_internal.h - a space: its memory, and the elements that are known. */
#ifndef PASTSET_SPACE_INTERNAL_H
#define PASTSET_SPACE_INTERNAL_H

#include "pastset/element_internal.h"

typedef struct space_mapping {
    unsigned char *base;
    uint64_t bytes;
} space_mapping;

struct pastset_space {
    space_header *header; /* opened: guarded by lock, as the next one */
    unsigned char *base;  /* what was mapped last */
    _Atomic uint64_t mapped_bytes;
    uint64_t max_bytes;          /* opened: that it can become */
    _Atomic uint64_t file_bytes; /* opened: size of the file when last seen */
    int fd;                      /* -1: anonymous memory */
    dev_t device;                /* of the file that was created */
    ino_t inode;
    bool read_only;
    _Atomic bool lacks_blocks; /* a block is mapped page by page here */
    uint32_t max_elements;
    char *path; /* "memory" when anonymous */

    /* Threads that wait in it, and SPACE_CLOSING; a futex of close. */
    _Atomic uint32_t inside;

    pthread_mutex_t lock;
    pastset_element **elements; /* guarded by lock, as all below */
    uint32_t *hashes;           /* of their names */
    uint32_t known;             /* handles, in the order of the directory */
    size_t next; /* the position that is asked for next, and the handle from */
    uint32_t after; /* which on it is looked for; 0: any */

    /* Opened: entries of the directory that are not among the handles. */
    uint32_t looked; /* entries that were looked at */
    uint32_t *left_out, left_count;

    /* Opened, where there were no addresses for max_bytes: mappings that the
     * space has outgrown. Handles still refer to them. */
    space_mapping *older;
    uint32_t older_count;
};

/* Where elements begin: after the header and the directory. */
static inline uint64_t space_begin(uint32_t max_elements)
{
    return SPACE_PAGE +
           round_up((uint64_t)max_elements * sizeof(uint64_t), SPACE_PAGE);
}

/* --- space_memory.c --- */

/* Bytes of the file or memory that are taken. */
uint64_t pastset_space_used_bytes(const pastset_space *space);
/* Maps `bytes` of the space's file, or of anonymous memory. */
int pastset__space_map(pastset_space *space, uint64_t bytes);
/* Which file it has created. Errors: PASTSET_EIO. */
int pastset__space_file_note(pastset_space *space);
/* Of one that was opened: maps what has come beyond its mapping. Under the
 * lock. Errors: PASTSET_ENOMEM; all is as it was then. */
int pastset__space_extend(pastset_space *space);
/* Takes in the size that the file has now. */
int pastset__space_file_size(pastset_space *space);
/* Waits until the threads whose waiting was ended have said so. */
void pastset__space_wait_left(pastset_space *space);

#endif
