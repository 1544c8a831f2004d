/* archive.h - RUN/<process>.archive: a process's trace tuples, saved for as
 * long as the run lasts.
 *
 * The file is a head and then blocks, each of some tuples of one stream in
 * their order, compressed (zstd) and with checksums of its head and of its
 * content. It is only ever appended to, a block by one write, so that it can be
 * read while it is being written, and a tail that was cut off is known as such.
 * The layout in bytes is at the top of archive_block.c.
 *
 * A block's head says which stream, indexes, times, threads and collectors are
 * in it, and how many tuples of the stream were lost before it; so that whoever
 * looks for a second of one thread reads the heads, and the blocks that have
 * to do with it.
 *
 * Threads:   one thread per writer, one per reader.
 * Ownership: create and open give, close takes back. */
#ifndef SCOPES_ARCHIVE_H
#define SCOPES_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/collect/trace.h"
#include "pastset/element.h"

#define SCOPES_ARCHIVE_SUFFIX ".archive"
/* Most tuples of a block. */
#define SCOPES_ARCHIVE_BLOCK 16384

/* --- writing --- */

typedef struct scopes_archive_writer scopes_archive_writer;

/* Creates the file, or goes on with the one that is there: a cut or damaged
 * tail is then cut off, and `next` of each stream is where it goes on. The file
 * is locked until it is closed, or the process ends.
 * Errors: PASTSET_EIO, PASTSET_EEXIST (somebody else is writing to it),
 * PASTSET_ENOSPC, PASTSET_EFORMAT (it is no archive, or that of another
 * process), PASTSET_ENOMEM. */
int scopes_archive_writer_open(scopes_archive_writer **out, const char *file,
                               const char *process);

/* Appends tuples of a stream; they are kept until a block is full, or until
 * flush. `index` is that of the first; when it is not the one after the last
 * tuple of this stream, those in between are lost, and counted in the archive.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC (the disk is full: no half of a block is
 * in the file then, and the same call may be tried again, also with a part of
 * its tuples that begins later),
 * PASTSET_ENOMEM, PASTSET_EINVAL (an index that is there already). */
int scopes_archive_append(scopes_archive_writer *writer, const char *stream,
                          uint64_t index, const eventspace_trace *events,
                          size_t count);
/* Says how many tuples the stream has had (the index after the last one), and
 * how many were refused beside these and never had an index: the losses that no
 * later tuple tells of. Errors: as of append. */
int scopes_archive_end_stream(scopes_archive_writer *writer, const char *stream,
                              uint64_t written, uint64_t refused);
/* Writes out what is kept. */
int scopes_archive_flush(scopes_archive_writer *writer);

/* What it has cost so far; also written with each flush, so that it is known
 * of a run that is over. */
typedef struct scopes_archive_cost {
    uint64_t tuples;
    uint64_t bytes;        /* of the file */
    uint64_t processor_ns; /* of the thread that gathers and writes */
    uint64_t pulls;        /* how often it looked */
    uint64_t elapsed_ns;   /* since it began */
} scopes_archive_cost;
/* What the writer cannot know is taken from `cost`: processor_ns, pulls and
 * elapsed_ns, of this writer; those of earlier ones are added. */
int scopes_archive_note(scopes_archive_writer *writer,
                        const scopes_archive_cost *cost);

/* Flushes and closes. NULL is allowed. Errors: as of flush. */
int scopes_archive_writer_close(scopes_archive_writer *writer);

/* --- reading --- */

typedef struct scopes_archive scopes_archive;

/* Opens an archive and reads the heads of its blocks. What is damaged is left
 * out and told by `problem`; a tail that is just being written is no damage.
 * Errors: PASTSET_ENOENT, PASTSET_EIO, PASTSET_EFORMAT (not an archive at
 * all), PASTSET_ENOMEM. */
int scopes_archive_open(scopes_archive **out, const char *file);
/* Takes in the blocks that came since. */
int scopes_archive_refresh(scopes_archive *archive);
void scopes_archive_close(scopes_archive *archive);

/* What is wrong with the file and what is lost by that; "" when nothing. */
const char *scopes_archive_problem(const scopes_archive *archive);
scopes_archive_cost scopes_archive_costs(const scopes_archive *archive);

typedef struct scopes_archive_stream {
    const char *name;
    uint64_t tuples;  /* that are in good blocks */
    uint64_t next;    /* index after the last one */
    uint64_t written; /* what the stream has had, as far as is known: >= next */
    uint64_t refused;
} scopes_archive_stream;

size_t scopes_archive_streams(const scopes_archive *archive);
/* Valid until the next refresh, as blocks are. */
const scopes_archive_stream *
scopes_archive_stream_at(const scopes_archive *archive, size_t position);
/* SIZE_MAX when there is none of that name. */
size_t scopes_archive_find(const scopes_archive *archive, const char *stream);

/* What a block says of itself. */
typedef struct scopes_archive_block {
    size_t stream;
    uint64_t index; /* of its first tuple; they follow without a gap */
    uint32_t count;
    uint64_t from_ticks, to_ticks;   /* least start, greatest end */
    uint32_t from_thread, to_thread; /* least and greatest */
    uint32_t from_collector, to_collector;
    uint64_t offset; /* in the file */
} scopes_archive_block;

const scopes_archive_block *
scopes_archive_block_at(const scopes_archive *archive, size_t position);
/* The blocks of a stream, in the order of their indexes: positions. */
const uint32_t *scopes_archive_stream_blocks(const scopes_archive *archive,
                                             size_t stream, size_t *count);

/* Reads a block's tuples; room for SCOPES_ARCHIVE_BLOCK.
 * Errors: PASTSET_EFORMAT (its content is damaged: also a problem then),
 * PASTSET_EIO. */
int scopes_archive_read(scopes_archive *archive, size_t position,
                        eventspace_trace *out);

#endif
