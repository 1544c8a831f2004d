/* archive_file.h - what the suites of archives share: archives of tuples that
 * are known by their indexes, and their bytes. All of them are the file
 * "h0.archive" of the scratch directory. */
#ifndef TESTS_SCOPES_ARCHIVE_FILE_H
#define TESTS_SCOPES_ARCHIVE_FILE_H

#include "scopes/archive/archive_internal.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#define BLOCK SCOPES_ARCHIVE_BLOCK

/* A number that has nothing to do with x any more. */
uint64_t mixed(uint64_t x);

/* The tuple of an index, as a collector would write it: ends grow, and so do
 * sequences. It ends at tick 1,000,000 + 1,000 index, or up to 500 later. */
eventspace_trace event_at(uint64_t index, uint32_t thread);
/* To be freed. */
eventspace_trace *events_make(uint64_t from, size_t count, uint32_t thread);
void append(scopes_archive_writer *w, const char *stream, uint64_t from,
            size_t count, uint32_t thread);

const char *file(void);
scopes_archive_writer *writer_open(void);
scopes_archive *archive_open(void);
/* An archive of the streams "a" (thread 1) and "b" (thread 2) with so many full
 * blocks in each, in turns. */
void archive_write(size_t blocks);
/* The same with blocks of five tuples, written by so many writers after each
 * other. `check` wants so many blocks of each stream, of all writers. */
void small_blocks_write(uint64_t blocks, int writers);
void check_small_blocks(scopes_archive *a, uint64_t blocks);
/* Reads a stream, and checks that each tuple is the one of its index. Gives how
 * many good ones there were. */
uint64_t stream_check(scopes_archive *a, const char *name, uint32_t thread);

typedef struct file_content {
    unsigned char *data;
    size_t count;
} file_content;

/* Its data are to be freed. */
file_content file_bytes(void);
void file_put(const unsigned char *data, size_t count);
/* Where the head of a block is. */
uint64_t offset_of(size_t block);
void byte_flip(uint64_t offset);
/* What is wrong with the archive has this in it. */
void check_problem(const scopes_archive *a, const char *part);

#endif
