/* meta.c - packing and unpacking what is known of a process.
 *
 * One table says for each key of the file what it is and where it goes in the
 * struct; packing and unpacking both follow it.
 *
 * A file may hold anything. It is looked through once before msgpack-c sees
 * it, since that takes memory for the number of items that an array or a map
 * announces, and five bytes can announce four thousand million. */
#include "eventspace/run/meta.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <msgpack.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/collect/ticks.h"
#include "eventspace/run/run_internal.h"
#include "pastset/status.h"

/* No counter is faster; with this ticks become times without overflow. */
#define MAX_HZ 1e12

/* Two processes of one machine: what their counters and their wall clocks say
 * of the time between their starts differs by less than this. */
#define SAME_COUNTER_NS 5000000

typedef enum field_kind {
    FIELD_VERSION, /* must be EVENTSPACE_META_VERSION; not in the struct */
    FIELD_TEXT,
    FIELD_U32,
    FIELD_U64,
    FIELD_I64,   /* left out when it is 0 */
    FIELD_HZ,    /* f64, from 1 to 1e12 */
    FIELD_STATE, /* a text, one of state_names */
} field_kind;

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset, bytes; /* of the member */
    bool optional;        /* a file may do without it */
} field;

#define MEMBER(kind, member)                                                   \
    {                                                                          \
#member, kind, offsetof(eventspace_meta, member),                      \
            sizeof(((eventspace_meta *)0)->member), false                      \
    }

static const field fields[] = {
    {"version", FIELD_VERSION, 0, 0, false},
    MEMBER(FIELD_TEXT, eventspace),
    {"host", FIELD_TEXT, offsetof(eventspace_meta, process),
     sizeof(((eventspace_meta *)0)->process), false},
    MEMBER(FIELD_U32, pid),
    MEMBER(FIELD_TEXT, tick_source),
    MEMBER(FIELD_HZ, tick_hz),
    MEMBER(FIELD_U64, start_tick),
    MEMBER(FIELD_U64, start_wall_ns),
    MEMBER(FIELD_U64, end_tick),
    MEMBER(FIELD_U32, threads),
    MEMBER(FIELD_STATE, state),
    MEMBER(FIELD_TEXT, text),
    {"counter", FIELD_TEXT, offsetof(eventspace_meta, counter),
     sizeof(((eventspace_meta *)0)->counter), true},
    {"start_boot_ns", FIELD_I64, offsetof(eventspace_meta, start_boot_ns),
     sizeof(((eventspace_meta *)0)->start_boot_ns), true},
    {"counter_offset_ns", FIELD_I64,
     offsetof(eventspace_meta, counter_offset_ns),
     sizeof(((eventspace_meta *)0)->counter_offset_ns), true},
    {"scheduling_ns", FIELD_I64, offsetof(eventspace_meta, scheduling_ns),
     sizeof(((eventspace_meta *)0)->scheduling_ns), true},
    {"map", FIELD_I64, offsetof(eventspace_meta, map_digest),
     sizeof(((eventspace_meta *)0)->map_digest), true},
    {"machine", FIELD_TEXT, offsetof(eventspace_meta, machine),
     sizeof(((eventspace_meta *)0)->machine), true},
    {"library", FIELD_TEXT, offsetof(eventspace_meta, library),
     sizeof(((eventspace_meta *)0)->library), true},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static const char *const state_names[] = {
    [EVENTSPACE_RUNNING] = "running",
    [EVENTSPACE_FINISHED] = "finished",
    [EVENTSPACE_FAILED] = "failed",
    [EVENTSPACE_KILLED] = "killed",
};

#define STATES (sizeof(state_names) / sizeof(state_names[0]))

const char *eventspace_state_name(eventspace_state state)
{
    return (unsigned)state < STATES ? state_names[state] : "?";
}

/* --- packing --- */

static int pack_text(msgpack_packer *packer, const char *text, size_t capacity)
{
    size_t length = strnlen(text, capacity - 1);
    return msgpack_pack_str_with_body(packer, text, length);
}

static int64_t i64_of(const field *f, const eventspace_meta *meta)
{
    int64_t value;

    memcpy(&value, (const char *)meta + f->offset, sizeof(value));
    return value;
}

static bool is_left_out(const field *f, const eventspace_meta *meta)
{
    return f->kind == FIELD_I64 && i64_of(f, meta) == 0;
}

static int pack_field(msgpack_packer *packer, const field *f,
                      const eventspace_meta *meta)
{
    const char *member = (const char *)meta + f->offset;
    const char *name;
    uint32_t u32;
    uint64_t u64;

    switch (f->kind) {
    case FIELD_VERSION:
        return msgpack_pack_uint32(packer, EVENTSPACE_META_VERSION);
    case FIELD_TEXT:
        return pack_text(packer, member, f->bytes);
    case FIELD_U32:
        memcpy(&u32, member, sizeof(u32));
        return msgpack_pack_uint32(packer, u32);
    case FIELD_U64:
        memcpy(&u64, member, sizeof(u64));
        return msgpack_pack_uint64(packer, u64);
    case FIELD_I64:
        return msgpack_pack_int64(packer, i64_of(f, meta));
    case FIELD_HZ:
        return msgpack_pack_double(packer, meta->tick_hz);
    case FIELD_STATE:
        name = eventspace_state_name(meta->state);
        return pack_text(packer, name, strlen(name) + 1);
    }
    return -1;
}

static int pack(msgpack_sbuffer *buffer, const eventspace_meta *meta)
{
    msgpack_packer packer;
    size_t count = 0;
    int failed;

    for (size_t i = 0; i < FIELDS; i++)
        count += !is_left_out(&fields[i], meta);
    msgpack_packer_init(&packer, buffer, msgpack_sbuffer_write);
    failed = msgpack_pack_map(&packer, count);
    for (size_t i = 0; i < FIELDS && !failed; i++) {
        const char *key = fields[i].key;
        if (is_left_out(&fields[i], meta))
            continue;
        failed = pack_text(&packer, key, strlen(key) + 1);
        if (!failed)
            failed = pack_field(&packer, &fields[i], meta);
    }
    return failed
               ? pastset_fail_while(pastset_no_memory("to pack its meta file"),
                                    "process %s", meta->process)
               : 0;
}

static int fail_errno(const char *file, int error)
{
    return pastset_fail(error == ENOSPC || error == EDQUOT ? PASTSET_ENOSPC
                                                           : PASTSET_EIO,
                        "%s: %s", file, strerror(error));
}

int eventspace_meta_save(const eventspace_meta *meta, const char *file)
{
    msgpack_sbuffer buffer;
    int err, error;

    msgpack_sbuffer_init(&buffer);
    err = pack(&buffer, meta);
    if (!err) {
        error = eventspace__file_replace(file, buffer.data, buffer.size);
        err = error ? fail_errno(file, error) : 0;
    }
    msgpack_sbuffer_destroy(&buffer);
    return err;
}

/* --- unpacking --- */

static uint64_t big_endian(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

/* What one item of msgpack announces of itself. */
typedef struct item {
    uint8_t length_bytes; /* of the length that follows the first byte */
    uint64_t bytes;       /* behind that: its own */
    uint8_t each;         /* items in it per unit of its length: array 1, map
                             2, others 0: the length counts bytes */
    uint64_t length;      /* when it is in the first byte */
} item;

static item item_of(uint8_t first)
{
    static const uint8_t bin_str_length[] = {1, 2, 4};

    if (first <= 0x7f || first >= 0xe0) /* small integers */
        return (item){0};
    if (first <= 0x8f)
        return (item){.each = 2, .length = first & 0x0f};
    if (first <= 0x9f)
        return (item){.each = 1, .length = first & 0x0f};
    if (first <= 0xbf)
        return (item){.length = first & 0x1f};
    if (first <= 0xc3) /* nil, unused, false, true */
        return (item){0};
    if (first <= 0xc6) /* bin */
        return (item){.length_bytes = bin_str_length[first - 0xc4]};
    if (first <= 0xc9) /* ext: its length, one byte of type, its bytes */
        return (item){.length_bytes = bin_str_length[first - 0xc7], .bytes = 1};
    if (first <= 0xcb) /* f32, f64 */
        return (item){.bytes = (uint64_t)4 << (first - 0xca)};
    if (first <= 0xcf) /* u8 u16 u32 u64 */
        return (item){.bytes = (uint64_t)1 << (first - 0xcc)};
    if (first <= 0xd3) /* i8 i16 i32 i64 */
        return (item){.bytes = (uint64_t)1 << (first - 0xd0)};
    if (first <= 0xd8) /* ext of 1 2 4 8 16 bytes, and its type */
        return (item){.bytes = 1 + ((uint64_t)1 << (first - 0xd4))};
    if (first <= 0xdb) /* str */
        return (item){.length_bytes = bin_str_length[first - 0xd9]};
    if (first <= 0xdd)
        return (item){.length_bytes = 2 << (first - 0xdc), .each = 1};
    return (item){.length_bytes = 2 << (first - 0xde), .each = 2};
}

/* Whether the bytes hold exactly one object, with nothing missing: then no
 * more items are in it than bytes. */
static bool whole(const uint8_t *data, uint64_t bytes)
{
    uint64_t open = 1; /* items that have been announced and not been seen */

    while (open > 0) {
        item i;
        if (bytes == 0)
            return false;
        i = item_of(*data);
        data++;
        bytes--;
        open--;
        if (bytes < i.length_bytes)
            return false;
        if (i.length_bytes)
            i.length = big_endian(data, i.length_bytes);
        data += i.length_bytes;
        bytes -= i.length_bytes;
        if (i.each)
            open += i.length * i.each;
        else
            i.bytes += i.length;
        if (i.bytes > bytes || open > bytes - i.bytes)
            return false;
        data += i.bytes;
        bytes -= i.bytes;
    }
    return bytes == 0;
}

static bool is_text(const msgpack_object *object, const char *text)
{
    return object->type == MSGPACK_OBJECT_STR &&
           object->via.str.size == strlen(text) &&
           memcmp(object->via.str.ptr, text, object->via.str.size) == 0;
}

static int take_text(char *out, const field *f, const msgpack_object *value,
                     const char *file)
{
    const msgpack_object_str *text = &value->via.str;

    if (value->type != MSGPACK_OBJECT_STR)
        return pastset_fail(PASTSET_EFORMAT, "%s: \"%s\" is not a text", file,
                            f->key);
    if (text->size >= f->bytes)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: \"%s\" is longer than %zu bytes", file, f->key,
                            f->bytes - 1);
    if (memchr(text->ptr, 0, text->size))
        return pastset_fail(PASTSET_EFORMAT, "%s: \"%s\" has a zero byte", file,
                            f->key);
    memcpy(out, text->ptr, text->size);
    out[text->size] = 0;
    return 0;
}

static int take_number(uint64_t *out, uint64_t max, const field *f,
                       const msgpack_object *value, const char *file)
{
    if (value->type != MSGPACK_OBJECT_POSITIVE_INTEGER || value->via.u64 > max)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: \"%s\" is not a number from 0 to %" PRIu64,
                            file, f->key, max);
    *out = value->via.u64;
    return 0;
}

static int take_integer(int64_t *out, const field *f,
                        const msgpack_object *value, const char *file)
{
    if (value->type != MSGPACK_OBJECT_NEGATIVE_INTEGER &&
        (value->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
         value->via.u64 > INT64_MAX))
        return pastset_fail(PASTSET_EFORMAT, "%s: \"%s\" is not a whole number",
                            file, f->key);
    *out = value->via.i64;
    return 0;
}

static int take_state(eventspace_state *out, const msgpack_object *value,
                      const char *file)
{
    for (size_t i = 0; i < STATES; i++) {
        if (is_text(value, state_names[i])) {
            *out = (eventspace_state)i;
            return 0;
        }
    }
    return pastset_fail(
        PASTSET_EFORMAT,
        "%s: \"state\" is not one of running, finished, failed, killed", file);
}

static int take_field(eventspace_meta *meta, const field *f,
                      const msgpack_object *value, const char *file)
{
    char *member = (char *)meta + f->offset;
    uint64_t number = 0;
    uint32_t u32;
    int err;

    switch (f->kind) {
    case FIELD_VERSION:
        err = take_number(&number, UINT32_MAX, f, value, file);
        if (!err && number != EVENTSPACE_META_VERSION)
            err = pastset_fail(PASTSET_EFORMAT,
                               "%s: version %" PRIu64
                               " of the format; this program reads version %d",
                               file, number, EVENTSPACE_META_VERSION);
        return err;
    case FIELD_TEXT:
        return take_text(member, f, value, file);
    case FIELD_U32:
        err = take_number(&number, UINT32_MAX, f, value, file);
        u32 = (uint32_t)number;
        memcpy(member, &u32, sizeof(u32));
        return err;
    case FIELD_U64:
        err = take_number(&number, UINT64_MAX, f, value, file);
        memcpy(member, &number, sizeof(number));
        return err;
    case FIELD_I64:
        return take_integer((int64_t *)(void *)member, f, value, file);
    case FIELD_HZ:
        if (value->type != MSGPACK_OBJECT_FLOAT64 ||
            !(value->via.f64 >= 1 && value->via.f64 <= MAX_HZ))
            return pastset_fail(PASTSET_EFORMAT,
                                "%s: \"%s\" is not a float64 from 1 to 1e12",
                                file, f->key);
        meta->tick_hz = value->via.f64;
        return 0;
    case FIELD_STATE:
        return take_state(&meta->state, value, file);
    }
    return PASTSET_EFORMAT;
}

/* Keys that are not in the table are a later version's, and are skipped. */
static int take_map(eventspace_meta *meta, const msgpack_object_map *map,
                    const char *file)
{
    bool seen[FIELDS] = {false};

    for (uint32_t i = 0; i < map->size; i++) {
        const msgpack_object_kv *kv = &map->ptr[i];
        for (size_t k = 0; k < FIELDS; k++) {
            int err;
            if (!is_text(&kv->key, fields[k].key))
                continue;
            if (seen[k])
                return pastset_fail(PASTSET_EFORMAT, "%s: \"%s\" appears twice",
                                    file, fields[k].key);
            seen[k] = true;
            err = take_field(meta, &fields[k], &kv->val, file);
            if (err)
                return err;
        }
    }
    for (size_t k = 0; k < FIELDS; k++) {
        if (!seen[k] && !fields[k].optional)
            return pastset_fail(PASTSET_EFORMAT, "%s: \"%s\" is missing", file,
                                fields[k].key);
    }
    return 0;
}

int eventspace_meta_decode(eventspace_meta *out, const void *data,
                           uint64_t bytes, const char *file)
{
    msgpack_unpacked unpacked;
    size_t at = 0;
    int err;

    memset(out, 0, sizeof(*out));
    if (bytes > EVENTSPACE_META_MAX_BYTES)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: larger than %d bytes; not a meta file", file,
                            EVENTSPACE_META_MAX_BYTES);
    if (!whole(data, bytes))
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: cut short or not msgpack; not a meta file",
                            file);
    msgpack_unpacked_init(&unpacked);
    if (msgpack_unpack_next(&unpacked, data, bytes, &at) !=
        MSGPACK_UNPACK_SUCCESS)
        err = pastset_fail(PASTSET_EFORMAT, "%s: cannot unpack its msgpack",
                           file);
    else if (unpacked.data.type != MSGPACK_OBJECT_MAP)
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s: not a msgpack map; not a meta file", file);
    else
        err = take_map(out, &unpacked.data.via.map, file);
    msgpack_unpacked_destroy(&unpacked);
    return err;
}

int eventspace_meta_load(eventspace_meta *out, const char *file)
{
    /* One byte more than a file may have, to see when it has more. */
    char data[EVENTSPACE_META_MAX_BYTES + 1];
    FILE *in = fopen(file, "re");
    size_t bytes;
    int failed;

    memset(out, 0, sizeof(*out));
    if (!in)
        return pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                            "%s: %s", file, strerror(errno));
    bytes = fread(data, 1, sizeof(data), in);
    failed = ferror(in) ? errno : 0;
    fclose(in);
    if (failed)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(failed));
    return eventspace_meta_decode(out, data, bytes, file);
}

/* --- whose counter it is --- */

bool eventspace_meta_same_counter(const eventspace_meta *a,
                                  const eventspace_meta *b)
{
    double wall_ns = (double)(int64_t)(b->start_wall_ns - a->start_wall_ns);
    double ticks = (double)(int64_t)(b->start_tick - a->start_tick);

    if (a->counter[0] && b->counter[0])
        return strcmp(a->counter, b->counter) == 0;
    return strcmp(a->tick_source, b->tick_source) == 0 &&
           fabs(wall_ns - ticks * 1e9 / a->tick_hz) < SAME_COUNTER_NS;
}

void eventspace_meta_machine(eventspace_meta *meta)
{
    if (gethostname(meta->machine, sizeof(meta->machine) - 1) != 0)
        meta->machine[0] = 0;
    meta->machine[sizeof(meta->machine) - 1] = 0;
}

/* --- when it began --- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#define BOOT_ID_BYTES 36 /* of the name of a counter */

static char our_counter[sizeof(((eventspace_meta *)0)->counter)];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void our_counter_find(void)
{
    eventspace_ticks_name(our_counter, sizeof(our_counter));
}

/* Has this machine run on since then? */
static bool is_of_this_boot(const eventspace_meta *meta)
{
    pthread_once(&once, our_counter_find);
    return meta->start_boot_ns > 0 &&
           strnlen(our_counter, sizeof(our_counter)) >= BOOT_ID_BYTES &&
           strncmp(meta->counter, our_counter, BOOT_ID_BYTES) == 0;
}

/* The wall clock and the counter at one moment: of a few tries the one in which
 * the least time passed between them, since a process may lose its
 * processor. */
void eventspace_meta_begin(eventspace_meta *meta)
{
    uint64_t min = UINT64_MAX;

    meta->start_boot_ns = clock_ns(CLOCK_BOOTTIME);
    for (int i = 0; i < 8; i++) {
        uint64_t before = eventspace_ticks(), took;
        int64_t wall_ns = clock_ns(CLOCK_REALTIME);

        took = eventspace_ticks() - before;
        if (took >= min)
            continue;
        min = took;
        meta->start_tick = before + took / 2;
        meta->start_wall_ns = (uint64_t)wall_ns;
    }
}

int64_t eventspace__meta_age_ns(const eventspace_meta *meta)
{
    if (is_of_this_boot(meta))
        return clock_ns(CLOCK_BOOTTIME) - meta->start_boot_ns;
    return (int64_t)((uint64_t)clock_ns(CLOCK_REALTIME) +
                     (uint64_t)meta->counter_offset_ns - meta->start_wall_ns);
}

uint64_t eventspace_meta_now(const eventspace_meta *meta)
{
    double passed_ns = (double)eventspace__meta_age_ns(meta);

    if (!(passed_ns > 0))
        return meta->start_tick;
    return meta->start_tick + (uint64_t)(passed_ns * meta->tick_hz / 1e9);
}
