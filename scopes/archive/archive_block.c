/* archive_block.c - the bytes of an archive.
 *
 * The file is in the byte order of the machine that wrote it. Its head:
 *
 *     0  u8[8]   "ESarchiv"
 *     8  u32     0x01020304, which tells the byte order
 *    12  u32     version: 1
 *    16  u32     bytes of this head: 288
 *    20  u32     CRC-32 of this head, with 0 here
 *    24  u8[8]   0
 *    32  u8[256] the process's name, and zeros
 *
 * After it come blocks, each with a head of 232 bytes that says all about it,
 * so that every good block can be used whatever became of the others:
 *
 *     0  u8[8]   "\xE5" "block" "\r\n"
 *     8  u32     CRC-32 of this head, with 0 here
 *    12  u32     kind: 1 tuples, 2 end of a stream, 3 cost, 4 index
 *    16  u64     where in the file this head is: a copy of an archive within
 *                an archive is not taken for a part of it
 *    24  u32     tuples
 *    28  u32     bytes that follow this head
 *    32  u32     bytes of these when they are not compressed any more
 *    36  u32     CRC-32 of these
 *    40  u64[5]  tuples: index of the first, tuples of the stream that were
 * lost before it (since index 0), least start, greatest end, 0 end: tuples that
 * the stream has had, tuples refused, tuples lost of those that it has had, 0,
 * 0 cost: tuples, bytes, processor ns, pulls, elapsed ns index: where the index
 * before it is (0: it is the first), and where the first block of which it
 * tells 80  u64     where the last index before this block is; 0: there is none
 *    88  u32[4]  least and greatest thread, least and greatest collector
 *   104  u8[128] the stream's name, and zeros; empty for cost and index
 *
 * After every 512 blocks comes an index, a copy of their heads (that is its
 * content, a zstd frame; its `tuples` are heads): so that who opens a large
 * file need not go everywhere in it. Any head near the end of the file leads
 * to the last index, and each index to the one before. They may be lost, as
 * they say nothing that the heads do not.
 *
 * Only tuples are followed by bytes: a zstd frame. In it is the end (u64) and
 * the sequence (u32) of the first tuple, from which differences begin, and
 * eight columns.
 *
 *     end        less the end of the tuple before it
 *     duration   end less start
 *     collector
 *     thread
 *     sequence   less the last one in this block of the same thread (of all
 *                threads that are equal modulo 256), signs folded
 *     bytes
 *     operation
 *     status
 *
 * A column is a base (u64), a width in bytes (u8), and the value of each tuple
 * less the base, in planes: first the low bytes of all, then the next bytes
 * ... as many as the width. The bases and widths of all columns come first.
 * What is the same in all tuples takes nothing this way; high bytes, mostly 0,
 * stand together, and so do patterns of collectors, so that zstd has little to
 * do. All differences wrap around, so any tuples come back as they were. */
#include "scopes/archive/archive_internal.h"

#include <string.h>
#include <zlib.h>

#include "pastset/status.h"

#define VERSION 1
#define BYTE_ORDER_MARK 0x01020304u

static const char file_magic[8] = {'E', 'S', 'a', 'r', 'c', 'h', 'i', 'v'};
static const unsigned char block_magic[8] = {0xE5, 'b', 'l',  'o',
                                             'c',  'k', '\r', '\n'};

/* --- heads --- */

static void put_u32(unsigned char *out, uint32_t value)
{
    memcpy(out, &value, sizeof(value));
}

static uint32_t get_u32(const unsigned char *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof(value));
    return value;
}

/* Of `bytes` bytes, with zeros for the four at `place`. */
static uint32_t checksum(const unsigned char *in, size_t bytes, size_t place)
{
    static const unsigned char zeros[4];
    uLong sum = crc32(0, in, (uInt)place);

    sum = crc32(sum, zeros, sizeof(zeros));
    return (uint32_t)crc32(sum, in + place + 4, (uInt)(bytes - place - 4));
}

void scopes__archive_head_put(unsigned char out[ARCHIVE_HEAD_BYTES],
                              const char *process)
{
    size_t length = strnlen(process, ARCHIVE_PROCESS_BYTES - 1);

    memset(out, 0, ARCHIVE_HEAD_BYTES);
    memcpy(out, file_magic, sizeof(file_magic));
    put_u32(out + 8, BYTE_ORDER_MARK);
    put_u32(out + 12, VERSION);
    put_u32(out + 16, ARCHIVE_HEAD_BYTES);
    memcpy(out + 32, process, length);
    put_u32(out + 20, checksum(out, ARCHIVE_HEAD_BYTES, 20));
}

int scopes__archive_head_get(char process[ARCHIVE_PROCESS_BYTES],
                             const unsigned char in[ARCHIVE_HEAD_BYTES],
                             const char *file)
{
    if (memcmp(in, file_magic, sizeof(file_magic)) != 0)
        return pastset_fail(PASTSET_EFORMAT, "%s: not an archive", file);
    if (get_u32(in + 8) == __builtin_bswap32(BYTE_ORDER_MARK))
        return pastset_fail(
            PASTSET_ENOTSUP,
            "%s: written on a machine with the other byte order", file);
    if (get_u32(in + 20) != checksum(in, ARCHIVE_HEAD_BYTES, 20) ||
        get_u32(in + 16) != ARCHIVE_HEAD_BYTES ||
        get_u32(in + 8) != BYTE_ORDER_MARK || in[ARCHIVE_HEAD_BYTES - 1] != 0)
        return pastset_fail(PASTSET_EFORMAT, "%s: its head is damaged", file);
    if (get_u32(in + 12) != VERSION)
        return pastset_fail(
            PASTSET_ENOTSUP,
            "%s: an archive of version %u; this program reads version %d", file,
            get_u32(in + 12), VERSION);
    memcpy(process, in + 32, ARCHIVE_PROCESS_BYTES);
    return 0;
}

void scopes__archive_block_put(unsigned char out[ARCHIVE_BLOCK_BYTES],
                               const archive_block *block)
{
    size_t length = strnlen(block->stream, PASTSET_NAME_BYTES - 1);

    memset(out, 0, ARCHIVE_BLOCK_BYTES);
    memcpy(out, block_magic, sizeof(block_magic));
    put_u32(out + 12, (uint32_t)block->kind);
    memcpy(out + 16, &block->offset, 8);
    put_u32(out + 24, block->count);
    put_u32(out + 28, block->packed);
    put_u32(out + 32, block->raw);
    put_u32(out + 36, block->sum);
    memcpy(out + 40, block->numbers, sizeof(block->numbers));
    memcpy(out + 80, &block->index, 8);
    put_u32(out + 88, block->from_thread);
    put_u32(out + 92, block->to_thread);
    put_u32(out + 96, block->from_collector);
    put_u32(out + 100, block->to_collector);
    memcpy(out + 104, block->stream, length);
    put_u32(out + 8, checksum(out, ARCHIVE_BLOCK_BYTES, 8));
}

/* Whether the numbers of a head can be those of a block: what is relied on
 * when memory is taken and indexes are added up. */
static bool is_possible(const archive_block *b)
{
    const uint64_t *n = b->numbers;

    if (b->stream[PASTSET_NAME_BYTES - 1] != 0 || b->raw > ARCHIVE_RAW_MAX ||
        b->packed > ARCHIVE_PACKED_MAX)
        return false;
    switch (b->kind) {
    case ARCHIVE_TUPLES:
        return b->stream[0] && b->count > 0 &&
               b->count <= SCOPES_ARCHIVE_BLOCK && b->packed > 0 &&
               n[TUPLES_INDEX] <= UINT64_MAX - b->count &&
               n[TUPLES_LOST] <= n[TUPLES_INDEX];
    case ARCHIVE_END:
        return b->stream[0] && b->packed == 0 &&
               n[END_WRITTEN] <= UINT64_MAX - n[END_REFUSED];
    case ARCHIVE_COST:
        return b->packed == 0;
    case ARCHIVE_INDEX:
        return b->count > 0 && b->count <= ARCHIVE_INDEX_HEADS &&
               b->packed > 0 && b->raw == b->count * ARCHIVE_BLOCK_BYTES &&
               n[INDEX_FROM] < b->offset && n[INDEX_BEFORE] < b->offset;
    default:
        return false;
    }
}

bool scopes__archive_block_get(archive_block *out,
                               const unsigned char in[ARCHIVE_BLOCK_BYTES],
                               uint64_t offset)
{
    if (memcmp(in, block_magic, sizeof(block_magic)) != 0 ||
        get_u32(in + 8) != checksum(in, ARCHIVE_BLOCK_BYTES, 8))
        return false;
    out->kind = (archive_kind)get_u32(in + 12);
    memcpy(&out->offset, in + 16, 8);
    out->count = get_u32(in + 24);
    out->packed = get_u32(in + 28);
    out->raw = get_u32(in + 32);
    out->sum = get_u32(in + 36);
    memcpy(out->numbers, in + 40, sizeof(out->numbers));
    memcpy(&out->index, in + 80, 8);
    out->from_thread = get_u32(in + 88);
    out->to_thread = get_u32(in + 92);
    out->from_collector = get_u32(in + 96);
    out->to_collector = get_u32(in + 100);
    memcpy(out->stream, in + 104, PASTSET_NAME_BYTES);
    return out->offset == offset && is_possible(out);
}

const unsigned char *scopes__archive_block_seek(const unsigned char *bytes,
                                                size_t count)
{
    return memmem(bytes, count, block_magic, sizeof(block_magic));
}

/* --- columns --- */

#define SEQUENCES 256 /* threads whose last sequence is remembered */

/* The most bytes that a value of each column has. */
static const unsigned char widest[ARCHIVE_COLUMNS] = {8, 8, 4, 4, 4, 4, 2, 2};

/* Small differences of both signs as small numbers. */
static uint32_t fold(uint32_t difference)
{
    return (difference << 1) ^ (0u - (difference >> 31));
}

static uint32_t unfold(uint32_t folded)
{
    return (folded >> 1) ^ (0u - (folded & 1));
}

/* A value of each tuple, outside of its planes. */
typedef struct column {
    uint64_t values[SCOPES_ARCHIVE_BLOCK];
} column;

static void sequences_fill(column *out, const eventspace_trace *events,
                           size_t count)
{
    uint32_t last[SEQUENCES];

    for (size_t i = 0; i < SEQUENCES; i++)
        last[i] = events[0].sequence;
    for (size_t i = 0; i < count; i++) {
        uint32_t *of = &last[events[i].thread % SEQUENCES];
        out->values[i] = fold(events[i].sequence - *of);
        *of = events[i].sequence;
    }
}

#define EACH(statement)                                                        \
    do {                                                                       \
        for (size_t i = 0; i < count; i++)                                     \
            statement;                                                         \
    } while (0)

static void column_fill(column *out, int which, const eventspace_trace *e,
                        size_t count)
{
    uint64_t *v = out->values;

    switch (which) {
    case 0:
        EACH(v[i] = e[i].end - e[i ? i - 1 : 0].end);
        break;
    case 1:
        EACH(v[i] = e[i].end - e[i].start);
        break;
    case 2:
        EACH(v[i] = e[i].collector);
        break;
    case 3:
        EACH(v[i] = e[i].thread);
        break;
    case 4:
        sequences_fill(out, e, count);
        break;
    case 5:
        EACH(v[i] = e[i].bytes);
        break;
    case 6:
        EACH(v[i] = e[i].operation);
        break;
    default:
        EACH(v[i] = e[i].status);
    }
}

static unsigned width_of(uint64_t value)
{
    unsigned width = 0;

    for (; value; value >>= 8)
        width++;
    return width;
}

/* Writes base and width to `head` and the planes to `out`; gives where they
 * end. */
static unsigned char *column_pack(unsigned char *out, unsigned char *head,
                                  const column *in, size_t count)
{
    uint64_t min = UINT64_MAX, max = 0;
    unsigned width;

    for (size_t i = 0; i < count; i++) {
        min = in->values[i] < min ? in->values[i] : min;
        max = in->values[i] > max ? in->values[i] : max;
    }
    width = width_of(max - min);
    memcpy(head, &min, 8);
    head[8] = (unsigned char)width;
    for (unsigned plane = 0; plane < width; plane++) {
        unsigned shift = 8 * plane;
        for (size_t i = 0; i < count; i++)
            out[i] = (unsigned char)((in->values[i] - min) >> shift);
        out += count;
    }
    return out;
}

size_t scopes__archive_encode(unsigned char *out,
                              const eventspace_trace *events, size_t count)
{
    unsigned char *end = out + ARCHIVE_COLUMNS_HEAD;
    column values;

    memcpy(out, &events[0].end, 8);
    memcpy(out + 8, &events[0].sequence, 4);
    for (int i = 0; i < ARCHIVE_COLUMNS; i++) {
        column_fill(&values, i, events, count);
        end = column_pack(end, out + 12 + 9 * i, &values, count);
    }
    return (size_t)(end - out);
}

/* --- and back --- */

static const unsigned char *column_unpack(column *out, const unsigned char *in,
                                          const unsigned char *head,
                                          size_t count)
{
    uint64_t min;

    memcpy(&min, head, 8);
    for (size_t i = 0; i < count; i++)
        out->values[i] = min;
    for (unsigned plane = 0; plane < head[8]; plane++) {
        unsigned shift = 8 * plane;
        for (size_t i = 0; i < count; i++)
            out->values[i] += (uint64_t)in[i] << shift;
        in += count;
    }
    return in;
}

static void sequences_take(eventspace_trace *events, const column *in,
                           size_t count, uint32_t first)
{
    uint32_t last[SEQUENCES];

    for (size_t i = 0; i < SEQUENCES; i++)
        last[i] = first;
    for (size_t i = 0; i < count; i++) {
        uint32_t *of = &last[events[i].thread % SEQUENCES];
        *of += unfold((uint32_t)in->values[i]);
        events[i].sequence = *of;
    }
}

/* `first` is where the bytes begin: end and sequence of the first tuple. */
static void column_take(eventspace_trace *e, int which, const column *in,
                        size_t count, const unsigned char *first)
{
    const uint64_t *v = in->values;
    uint64_t end;

    switch (which) {
    case 0:
        memcpy(&end, first, 8);
        EACH(e[i].end = end += v[i]);
        break;
    case 1:
        EACH(e[i].start = e[i].end - v[i]);
        break;
    case 2:
        EACH(e[i].collector = (uint32_t)v[i]);
        break;
    case 3:
        EACH(e[i].thread = (uint32_t)v[i]);
        break;
    case 4:
        sequences_take(e, in, count, get_u32(first + 8));
        break;
    case 5:
        EACH(e[i].bytes = (uint32_t)v[i]);
        break;
    case 6:
        EACH(e[i].operation = (uint16_t)v[i]);
        break;
    default:
        EACH(e[i].status = (uint16_t)v[i]);
    }
}

bool scopes__archive_decode(eventspace_trace *out, size_t count,
                            const unsigned char *bytes, size_t byte_count)
{
    const unsigned char *planes = bytes + ARCHIVE_COLUMNS_HEAD;
    size_t wanted = ARCHIVE_COLUMNS_HEAD;
    column values;

    if (count > SCOPES_ARCHIVE_BLOCK || byte_count < wanted)
        return false;
    for (int i = 0; i < ARCHIVE_COLUMNS; i++) {
        unsigned width = bytes[12 + 9 * i + 8];
        if (width > widest[i])
            return false;
        wanted += width * count;
    }
    if (byte_count != wanted)
        return false;
    for (int i = 0; i < ARCHIVE_COLUMNS; i++) {
        planes = column_unpack(&values, planes, bytes + 12 + 9 * i, count);
        column_take(out, i, &values, count, bytes);
    }
    return true;
}
