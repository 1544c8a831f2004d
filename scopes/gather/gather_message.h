/* gather_message.h - the messages of gather trees: making and reading them.
 *
 * A message is one tuple of type "bytes[N]": what a leaf has of one process of
 * the application. All numbers are in the byte order of the processes, which is
 * one for all processes of a map.
 *
 *    0 u32 magic       "EVSG"
 *    4 u16 version     1
 *    6 u16 flags       MORE, ENDED, OVER
 *    8 u32 process     of the application's map; PATHS_NONE: of none
 *   12 u32 bytes       of the whole message
 *   16 u32 records     that follow
 *   20 u32 pause_us    until the next pull
 *   24 u64 recorded    the leaf's ledger of this process
 *   32 u64 read
 *   40 u64 lost
 *   48 u64 unread
 *   56 u64 processor_ns  of the leaf's process so far; 0: told with another
 *                     process
 *
 * then records, each
 *
 *    0 u16 kind        a scopes_record_kind
 *    2 u16 name_bytes  of the stream's name, without a 0
 *    4 u32 bytes       of the body
 *    8 u32 count
 *   12 u32 zero
 *   16 u64 index
 *   24 u64 span
 *   32 name, then body, each filled up with zeros to four bytes
 *
 * Everything is checked on receipt, at each process that looks into a
 * message. */
#ifndef SCOPES_GATHER_MESSAGE_H
#define SCOPES_GATHER_MESSAGE_H

#include "scopes/gather/gather.h"

#define GATHER_MAGIC 0x47535645u
#define GATHER_VERSION 1
#define GATHER_MESSAGE_BYTES (256u << 10)
#define GATHER_MESSAGE_MIN 4096u
#define GATHER_MESSAGE_MAX (16u << 20)

enum {
    GATHER_MORE = 1,  /* there is more already */
    GATHER_ENDED = 2, /* the last message of this process */
    GATHER_OVER = 4, /* the last one of a child: its processes have all ended */
    GATHER_FLAGS = 7,
};

typedef struct gather_head {
    uint32_t magic;
    uint16_t version, flags;
    uint32_t process, bytes, records, pause_us;
    uint64_t recorded, read, lost, unread, processor_ns;
} gather_head;

typedef struct gather_part {
    uint16_t kind, name_bytes;
    uint32_t bytes, count, zero;
    uint64_t index, span;
} gather_part;

_Static_assert(sizeof(gather_head) == 64, "no padding in a message");
_Static_assert(sizeof(gather_part) == 32, "no padding in a record");

/* --- making one --- */

typedef struct gather_writer {
    unsigned char *data;
    size_t capacity, used;
    gather_head head; /* filled in by the caller but for bytes, records */
} gather_writer;

void scopes__gather_begin(gather_writer *w, void *data, size_t capacity,
                          uint32_t process);
/* Room for the body of one more record with a name of this length. */
size_t scopes__gather_capacity(const gather_writer *w, size_t name_bytes);
/* Adds a record; `body` NULL: only its place, which is given back. NULL when
 * there is no room for it. */
void *scopes__gather_add(gather_writer *w, const gather_part *part,
                         const char *name, const void *body);
/* Gives the length. */
size_t scopes__gather_end(gather_writer *w);

/* --- reading one --- */

/* Checks all of it. Errors: PASTSET_EPROTO. */
int scopes__gather_check(const void *message, size_t bytes, gather_head *head);

typedef struct gather_reader {
    const unsigned char *at, *end;
    const unsigned char *name, *body; /* of the last part */
} gather_reader;

/* Of a message that was checked. */
void scopes__gather_read(gather_reader *r, const void *message, size_t bytes);
bool scopes__gather_next(gather_reader *r, gather_part *part);

/* Takes what a record of kind META says; false: it is another, or damaged. */
bool scopes__gather_meta_take(eventspace_meta *meta, const gather_part *part,
                              const void *body);

static inline size_t scopes__gather_padded(size_t bytes)
{
    return (bytes + 3) & ~(size_t)3;
}

#endif
