/* archive_internal.h - between the files of archives: archive_block.c turns
 * blocks into bytes and back, archive_names.c numbers streams. Of a file that
 * is read, archive_bytes.c has the bytes and archive_take.c what is known of
 * it; archive_walk.c and archive_index.c find its blocks, archive_read.c opens
 * it and reads them. archive_create.c and archive_write.c write, archive_side.c
 * what is beside it. */
#ifndef SCOPES_ARCHIVE_INTERNAL_H
#define SCOPES_ARCHIVE_INTERNAL_H

#include <sys/types.h>

#include "eventspace/run/run.h"
#include "scopes/archive/archive.h"

#define ARCHIVE_HEAD_BYTES 288    /* of the file */
#define ARCHIVE_BLOCK_BYTES 232   /* of a block's head */
#define ARCHIVE_PROCESS_BYTES 256 /* longest name of a process, with its 0 */

/* Columns of a block: how much they take when nothing can be saved. */
#define ARCHIVE_COLUMNS 8
#define ARCHIVE_COLUMNS_HEAD (8 + 4 + ARCHIVE_COLUMNS * 9)
#define ARCHIVE_RAW_MAX                                                        \
    (ARCHIVE_COLUMNS_HEAD + SCOPES_ARCHIVE_BLOCK * EVENTSPACE_TRACE_BYTES)
/* What zstd makes of that, at most (its own bound is a bit less). */
#define ARCHIVE_PACKED_MAX (ARCHIVE_RAW_MAX + ARCHIVE_RAW_MAX / 128 + 1024)

typedef enum archive_kind {
    ARCHIVE_TUPLES = 1,
    ARCHIVE_END = 2,
    ARCHIVE_COST = 3,
    ARCHIVE_INDEX = 4,
} archive_kind;

/* Most heads of an index, and their bytes. */
#define ARCHIVE_INDEX_HEADS 512
#define ARCHIVE_INDEX_BYTES (ARCHIVE_INDEX_HEADS * ARCHIVE_BLOCK_BYTES)

/* A block's head. */
typedef struct archive_block {
    archive_kind kind;
    uint64_t offset;     /* of the head, in the file */
    uint32_t count;      /* of tuples */
    uint32_t packed;     /* bytes that follow the head */
    uint32_t raw;        /* bytes when they are not compressed any more */
    uint32_t sum;        /* of the bytes that follow */
    uint64_t numbers[5]; /* by kind, see NUMBERS below */
    uint64_t index;      /* where the last index before it is; 0: none */
    uint32_t from_thread, to_thread;
    uint32_t from_collector, to_collector;
    char stream[PASTSET_NAME_BYTES];
} archive_block;

/* What the numbers are. */
enum { TUPLES_INDEX, TUPLES_LOST, TUPLES_FROM_TICKS, TUPLES_TO_TICKS };
enum { END_WRITTEN, END_REFUSED, END_LOST };
enum { INDEX_BEFORE, INDEX_FROM };
enum { COST_TUPLES, COST_BYTES, COST_PROCESSOR, COST_PULLS, COST_ELAPSED };

/* --- archive_block.c --- */

void scopes__archive_head_put(unsigned char out[ARCHIVE_HEAD_BYTES],
                              const char *process);
/* Errors: PASTSET_EFORMAT (damaged, or no archive), PASTSET_ENOTSUP (of another
 * version or byte order). `file` names it. */
int scopes__archive_head_get(char process[ARCHIVE_PROCESS_BYTES],
                             const unsigned char in[ARCHIVE_HEAD_BYTES],
                             const char *file);

void scopes__archive_block_put(unsigned char out[ARCHIVE_BLOCK_BYTES],
                               const archive_block *block);
/* False: no head of a block stands there, or a damaged one. */
bool scopes__archive_block_get(archive_block *out,
                               const unsigned char in[ARCHIVE_BLOCK_BYTES],
                               uint64_t offset);
/* The first place in `bytes` where the head of a block may begin; NULL. */
const unsigned char *scopes__archive_block_seek(const unsigned char *bytes,
                                                size_t count);

/* Between tuples (1 to SCOPES_ARCHIVE_BLOCK of them) and columns: `encode`
 * gives the number of bytes (at most ARCHIVE_RAW_MAX), `decode` says whether
 * the bytes were those of so many tuples. */
size_t scopes__archive_encode(unsigned char *out,
                              const eventspace_trace *events, size_t count);
bool scopes__archive_decode(eventspace_trace *out, size_t count,
                            const unsigned char *bytes, size_t byte_count);

/* --- archive_names.c --- */

/* Numbers for names: 0, 1, 2 ... in the order in which they come. */
typedef struct archive_name archive_name;
typedef struct archive_names {
    const char **names; /* by number */
    uint32_t count;
    archive_name *by_text; /* a hash table, which owns them; NULL at first */
} archive_names;

/* UINT32_MAX when it is not there. */
uint32_t scopes__archive_name_find(const archive_names *names,
                                   const char *name);
/* Adds one that is not there; its number is the count until now.
 * Errors: PASTSET_ENOMEM. */
int scopes__archive_name_add(archive_names *names, const char *name);
void scopes__archive_names_fini(archive_names *names);

/* --- an archive that is open for reading --- */

#define ARCHIVE_PROBLEM_BYTES 2000 /* longest text of what is wrong */

/* A stream of an archive that is open for reading. */
typedef struct archive_stream {
    scopes_archive_stream shown;
    uint64_t lost;    /* before `next`, by whoever wrote the archive */
    uint32_t *blocks; /* in the order of their indexes */
    uint32_t count;
} archive_stream;

/* What is not shown of a block. */
typedef struct archive_content {
    uint32_t packed, raw, sum; /* as in its head */
    bool bad;
} archive_content;

struct scopes_archive {
    char *file;
    int fd;
    bool borrowed; /* the descriptor is the writer's */
    bool started;  /* the head of the file was looked at */
    bool written;  /* somebody had it locked when the last look began */
    char process[ARCHIVE_PROCESS_BYTES];
    uint64_t limit; /* beyond it nothing is looked at */
    uint64_t at;    /* where the next block begins */
    uint64_t index; /* where the last index is that was seen; 0: none */
    archive_names names;
    archive_stream *streams; /* one for each name */
    scopes_archive_block *blocks;
    archive_content *contents;
    uint32_t block_count;
    scopes_archive_cost cost;
    char damage[ARCHIVE_PROBLEM_BYTES]; /* for good */
    char tail[300];                     /* as of the last look */
    char problem[ARCHIVE_PROBLEM_BYTES + 300 + 4];
    uint64_t read_bytes;
    struct ZSTD_DCtx_s *unpacker;
    unsigned char *packed, *raw;
};

/* --- archive_bytes.c --- */

/* How far the file may be looked at. Errors: PASTSET_EIO, PASTSET_EFORMAT (a
 * directory). */
int scopes__archive_size(const scopes_archive *archive, uint64_t *size);
/* Somebody has it open for writing. */
bool scopes__archive_is_written(const scopes_archive *archive);
/* Reads what there is of `bytes` bytes at `offset`: how many that were, or
 * PASTSET_EIO. */
ssize_t scopes__archive_pread(scopes_archive *archive, void *out, size_t bytes,
                              uint64_t offset);
/* Reads the head at `offset`: 1, 0 if there is none that is good, or
 * PASTSET_EIO. */
int scopes__archive_look(scopes_archive *archive, uint64_t offset,
                         archive_block *out);
/* Reads the content of a block into `raw` of the archive.
 * Errors: PASTSET_EFORMAT, without a text (it is damaged), PASTSET_EIO,
 * PASTSET_ENOMEM. */
int scopes__archive_unpack(scopes_archive *archive, uint64_t offset,
                           const archive_content *content);

/* --- archive_take.c --- */

/* Adds to what is wrong with the file. */
void scopes__archive_damage(scopes_archive *archive, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Puts `problem` together from `damage` and `tail`. */
void scopes__archive_problem_compose(scopes_archive *archive);
/* Takes in one block, which begins at `at`. */
int scopes__archive_take(scopes_archive *archive, const archive_block *block);

/* --- archive_walk.c --- */

/* Searches [from, size) for a good head. 1 with it in `*out`, 0, or an
 * error. */
int scopes__archive_search(scopes_archive *archive, uint64_t from,
                           uint64_t size, archive_block *out);
/* Takes in the blocks between `at` and `to`, from head to head. */
int scopes__archive_heads(scopes_archive *archive, uint64_t to);

/* --- archive_index.c --- */

/* Takes in the blocks from `at` on as far as indexes tell of them, and leaves
 * the others to be walked. What is wrong with an index is no error: the blocks
 * are there without it. Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int scopes__archive_index_use(scopes_archive *archive, uint64_t size);

/* --- archive_read.c --- */

/* Opens for whoever goes on with the file, which is locked by the caller: tails
 * that are cut or damaged are not looked at, and `*end` is where they begin.
 * The descriptor stays the caller's. Errors: as of scopes_archive_open. */
int scopes__archive_resume(scopes_archive **out, const char *file, int fd,
                           uint64_t *end);
/* How many tuples of the stream were lost to whoever wrote the archive, before
 * `next`: not those that stood in damaged blocks. */
uint64_t scopes__archive_lost(const scopes_archive *archive, size_t stream);

/* --- archive_write.c --- */

/* A stream of an archive that is being written. */
typedef struct archive_tail {
    eventspace_trace *events; /* that are kept, without a gap */
    uint32_t count, capacity;
    uint64_t next;             /* after the last one kept */
    uint64_t lost;             /* before those that are kept */
    uint64_t written, refused; /* as end_stream was told */
    bool told;                 /* so does the file */
    uint64_t retry; /* index of an append that failed half way; UINT64_MAX */
} archive_tail;

struct scopes_archive_writer {
    char *file, *process;
    int fd;
    uint64_t end; /* of the file */
    archive_names names;
    archive_tail *streams; /* one for each name */
    struct ZSTD_CCtx_s *packer;
    unsigned char *raw;
    unsigned char *block; /* head and content */
    unsigned char *heads; /* of the blocks since the last index */
    uint32_t head_count;
    uint64_t heads_from; /* where the first of these is */
    uint64_t index;      /* where the last index is; 0: there is none */
    uint64_t tuples;     /* that are in the file */
    uint64_t appended;   /* since it was opened, in the file or kept */
    scopes_archive_cost before, noted;
    bool cost_changed;
};

/* Fails with errno: PASTSET_ENOSPC when the disk is full, else PASTSET_EIO. */
int scopes__archive_fail_errno(const scopes_archive_writer *writer,
                               const char *what);
/* Appends to the file, or leaves it as it was. */
int scopes__archive_bytes_append(scopes_archive_writer *writer,
                                 const unsigned char *bytes, size_t count);
/* Finds or adds a stream. Errors: PASTSET_EINVAL (its name), PASTSET_ENOMEM. */
int scopes__archive_tail_get(scopes_archive_writer *writer, const char *name,
                             uint32_t *number);

/* --- archive_write.c --- */

/* As scopes_archive_flush, of one stream. */
int scopes_archive_write_stream(scopes_archive_writer *writer,
                                const char *stream);
/* The index after the last tuple of a stream that is in the file. */
uint64_t scopes_archive_saved(const scopes_archive_writer *writer,
                              const char *stream);
/* The index after the last tuple of a stream that was appended. */
uint64_t scopes_archive_next(const scopes_archive_writer *writer,
                             const char *stream);

/* Of all streams, with those that were in the file before: how many tuples they
 * have had, as far as was said, with those that were refused; and how many of
 * them are in blocks of the file, not those that are kept. */
typedef struct scopes_archive_ledger {
    uint64_t recorded, saved;
    uint64_t appended; /* to this writer */
    uint64_t bytes;    /* of the file */
} scopes_archive_ledger;
void scopes_archive_count(const scopes_archive_writer *writer,
                          scopes_archive_ledger *out);

/* --- archive_read.c --- */

const char *scopes_archive_process(const scopes_archive *archive);
/* How many blocks there are: positions of scopes_archive_block_at. */
size_t scopes_archive_blocks(const scopes_archive *archive);
/* How much was read: what a search costs. */
uint64_t scopes_archive_read_bytes(const scopes_archive *archive);

/* --- archive_side.c --- */

/* Copies what the process has defined, if it has a space with definitions.
 * Errors: those of pastset_space_create() and pastset_write(). */
int scopes__archive_side(const char *directory,
                         const eventspace_run_process *process);

#endif
