/* profile_pack.c - the tables of what is in a profile's file, and writing. */
#include "predict/profile/profile_internal.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define COLUMN(array, coding, type, key, member)                               \
    {                                                                          \
        key, PREDICT__##array, PREDICT__##coding, offsetof(type, member),      \
            sizeof(((type *)0)->member), false                                 \
    }

const predict__column predict__columns[PREDICT__COLUMNS] = {
    COLUMN(PLACES, TEXT, predict_place, "place.name", name),
    COLUMN(PLACES, UNSIGNED, predict_place, "place.processors", processors),
    COLUMN(NODES, TEXT, predict_node, "node.name", name),
    COLUMN(NODES, UNSIGNED, predict_node, "node.place", place),
    {"node.waiting", PREDICT__NODES, PREDICT__UNSIGNED,
     offsetof(predict_node, waiting), sizeof(uint32_t), true},
    {"node.session", PREDICT__NODES, PREDICT__UNSIGNED,
     offsetof(predict_node, session), sizeof(uint32_t), true},
    COLUMN(NODES, UNSIGNED, predict_node, "node.threads", threads),
    COLUMN(NODES, UNSIGNED, predict_node, "node.start_ns", start_ns),
    COLUMN(NODES, UNSIGNED, predict_node, "node.end_ns", end_ns),
    COLUMN(NODES, UNSIGNED, predict_node, "node.probed_ns", probed_ns),
    COLUMN(NODES, UNSIGNED, predict_node, "node.kernel_ns", kernel_ns),
    COLUMN(NODES, UNSIGNED, predict_node, "node.waited_ns", waited_ns),
    COLUMN(NODES, UNSIGNED, predict_node, "node.switches", switches),
    COLUMN(NODES, UNSIGNED, predict_node, "node.phases", phase_count),
    COLUMN(PHASES, DELTA, predict_phase, "phase.start_ns", start_ns),
    COLUMN(PHASES, UNSIGNED, predict_phase, "phase.busy_ns", busy_ns),
    COLUMN(PHASES, UNSIGNED, predict_phase, "phase.idle_ns", idle_ns),
    COLUMN(LINKS, UNSIGNED, predict_link, "link.a", a),
    COLUMN(LINKS, UNSIGNED, predict_link, "link.b", b),
    COLUMN(LINKS, REAL, predict_link, "link.latency_s", latency_s),
    COLUMN(LINKS, REAL, predict_link, "link.bandwidth", bandwidth),
    COLUMN(LINKS, REAL, predict_link, "link.busy", busy),
    COLUMN(LINKS, REAL, predict_link, "link.rate", flow.rate),
    COLUMN(LINKS, REAL, predict_link, "link.burst", flow.burst),
    COLUMN(LINKS, REAL, predict_link, "link.alone_s", flow.latency_s),
    COLUMN(MESSAGES, DELTA, predict_message, "message.at_ns", at_ns),
    COLUMN(MESSAGES, UNSIGNED, predict_message, "message.bytes", bytes),
    COLUMN(MESSAGES, UNSIGNED, predict_message, "message.from", from),
    COLUMN(MESSAGES, UNSIGNED, predict_message, "message.to", to),
    COLUMN(ACTORS, UNSIGNED, predict_actor, "actor.node", node),
    COLUMN(ACTORS, DELTA, predict_actor, "actor.start_ns", start_ns),
    COLUMN(ACTORS, DELTA, predict_actor, "actor.step", step),
    COLUMN(ACTORS, UNSIGNED, predict_actor, "actor.steps", steps),
    {"step", PREDICT__STEPS, PREDICT__STEP, 0, sizeof(predict_step), false},
    {"step.early_ns", PREDICT__STEPS, PREDICT__EARLY, 0, sizeof(predict_step),
     true},
};

const predict__scalar predict__scalars[PREDICT__SCALARS] = {
    {"command", PREDICT__STRING, offsetof(predict_profile, command), false},
    {"source", PREDICT__STRING, offsetof(predict_profile, source), false},
    {"wall_ns", PREDICT__NUMBER, offsetof(predict_profile, wall_ns), false},
    {"interval_ns", PREDICT__NUMBER, offsetof(predict_profile, interval_ns),
     false},
    {"exact_phases", PREDICT__BOOL, offsetof(predict_profile, exact_phases),
     false},
    {"lost_packets", PREDICT__NUMBER, offsetof(predict_profile, lost_packets),
     false},
    {"others_ppm", PREDICT__NUMBER, offsetof(predict_profile, others_ppm),
     true},
    {"slice_ns", PREDICT__NUMBER, offsetof(predict_profile, slice_ns), true},
};

const char *const predict__array_keys[PREDICT__ARRAYS] = {
    "places", "nodes", "phases", "links", "messages", "actors", "steps",
};

const size_t predict__item_bytes[PREDICT__ARRAYS] = {
    sizeof(predict_place), sizeof(predict_node),    sizeof(predict_phase),
    sizeof(predict_link),  sizeof(predict_message), sizeof(predict_actor),
    sizeof(predict_step),
};

/* --- columns --- */

#define MAX_BYTES 16 /* that one item takes, but for texts */

typedef struct buffer {
    uint8_t *data;
    size_t bytes, capacity;
} buffer;

static int reserve(buffer *b, size_t more)
{
    size_t capacity = b->capacity ? b->capacity : 4096;
    uint8_t *data;
    if (b->capacity - b->bytes >= more)
        return 0;
    while (capacity - b->bytes < more)
        capacity *= 2;
    data = realloc(b->data, capacity);
    if (!data)
        return pastset_no_memory("to pack the profile");
    b->data = data;
    b->capacity = capacity;
    return 0;
}

static void put_unsigned(buffer *b, uint64_t value)
{
    while (value >= 0x80) {
        b->data[b->bytes++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    b->data[b->bytes++] = (uint8_t)value;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static void put_real(buffer *b, const uint8_t *member)
{
    uint64_t bits;
    memcpy(&bits, member, sizeof(bits));
    for (int i = 0; i < 8; i++)
        b->data[b->bytes++] = (uint8_t)(bits >> 8 * i);
}

static uint64_t member_of(const uint8_t *at, size_t bytes)
{
    uint64_t wide;
    uint32_t narrow;
    if (bytes == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

/* `last` is what DELTA begins from. */
static void put_step(buffer *b, const predict_step *step, uint64_t *last)
{
    uint64_t value = (uint64_t)step->ns;
    if (step->kind == PREDICT_SEND || step->kind == PREDICT_RECEIVE) {
        value = zigzag(step->message - *last);
        *last = step->message;
    }
    put_unsigned(b, value << 2 | (step->kind & 3));
}

static uint64_t early_of(const predict_step *step)
{
    return step->kind == PREDICT_RECEIVE ? (uint64_t)step->ns : 0;
}

static int put_text(buffer *b, const uint8_t *member)
{
    const char *text;
    size_t bytes;
    int err;
    memcpy(&text, member, sizeof(text));
    bytes = strlen(text) + 1;
    err = reserve(b, bytes);
    if (err)
        return err;
    memcpy(b->data + b->bytes, text, bytes);
    b->bytes += bytes;
    return 0;
}

/* Adds items to a column; `last` goes from one call to the next. */
static int put_column(buffer *b, const predict__column *c, const void *items,
                      size_t count, uint64_t *last)
{
    const uint8_t *at = items;
    size_t stride = predict__item_bytes[c->array];
    int err = 0;
    for (size_t i = 0; i < count && !err; i++, at += stride) {
        const uint8_t *member = at + c->offset;
        err = reserve(b, MAX_BYTES);
        if (err)
            break;
        if (c->coding == PREDICT__TEXT) {
            err = put_text(b, member);
        } else if (c->coding == PREDICT__REAL) {
            put_real(b, member);
        } else if (c->coding == PREDICT__STEP) {
            put_step(b, (const predict_step *)(const void *)at, last);
        } else if (c->coding == PREDICT__EARLY) {
            put_unsigned(b, early_of((const predict_step *)(const void *)at));
        } else {
            uint64_t value = member_of(member, c->bytes);
            bool delta = c->coding == PREDICT__DELTA;
            put_unsigned(b, delta ? zigzag(value - *last) : value);
            *last = value;
        }
    }
    return err;
}

static const void *items_of(const predict_profile *p, predict__array array,
                            size_t *count)
{
    switch (array) {
    case PREDICT__PLACES:
        *count = p->place_count;
        return p->places;
    case PREDICT__NODES:
        *count = p->node_count;
        return p->nodes;
    case PREDICT__LINKS:
        *count = p->link_count;
        return p->links;
    case PREDICT__MESSAGES:
        *count = p->message_count;
        return p->messages;
    case PREDICT__ACTORS:
        *count = p->actor_count;
        return p->actors;
    case PREDICT__STEPS:
        *count = p->step_count;
        return p->steps;
    case PREDICT__PHASES:
    case PREDICT__ARRAYS:
        break;
    }
    *count = 0;
    for (size_t i = 0; i < p->node_count; i++)
        *count += p->nodes[i].phase_count;
    return NULL;
}

static int make_column(buffer *b, const predict__column *c,
                       const predict_profile *profile)
{
    uint64_t last = 0;
    size_t count;
    const void *items = items_of(profile, c->array, &count);
    int err = 0;
    b->bytes = 0;
    if (c->array != PREDICT__PHASES)
        return put_column(b, c, items, count, &last);
    for (size_t i = 0; i < profile->node_count && !err; i++)
        err = put_column(b, c, profile->nodes[i].phases,
                         profile->nodes[i].phase_count, &last);
    return err;
}

/* --- the map --- */

static int pack_key(msgpack_packer *packer, const char *key)
{
    return msgpack_pack_str_with_body(packer, key, strlen(key));
}

static int pack_scalar(msgpack_packer *packer, const predict__scalar *s,
                       const predict_profile *profile)
{
    const char *member = (const char *)profile + s->offset;
    const char *text;
    int failed = pack_key(packer, s->key);
    if (failed)
        return failed;
    switch (s->kind) {
    case PREDICT__STRING:
        memcpy(&text, member, sizeof(text));
        return pack_key(packer, text);
    case PREDICT__NUMBER:
        return msgpack_pack_uint64(
            packer, member_of((const uint8_t *)member, sizeof(uint64_t)));
    case PREDICT__BOOL:
        return *(const bool *)(const void *)member ? msgpack_pack_true(packer)
                                                   : msgpack_pack_false(packer);
    }
    return -1;
}

static int pack_column(msgpack_packer *packer, const predict__column *c,
                       const buffer *b)
{
    int failed = pack_key(packer, c->key);
    if (!failed)
        failed = msgpack_pack_bin(packer, b->bytes);
    if (!failed && b->bytes)
        failed = msgpack_pack_bin_body(packer, b->data, b->bytes);
    return failed;
}

/* An optional one all of which is 0: of steps, or of nodes. */
static bool is_left_out(const predict__column *c,
                        const predict_profile *profile)
{
    bool is = c->optional;
    for (size_t i = 0; c->array == PREDICT__STEPS && i < profile->step_count;
         i++)
        is = is && early_of(&profile->steps[i]) == 0;
    for (size_t i = 0; c->array == PREDICT__NODES && i < profile->node_count;
         i++)
        is = is && member_of((const uint8_t *)&profile->nodes[i] + c->offset,
                             c->bytes) == 0;
    return is;
}

static uint32_t columns_of(const predict_profile *profile)
{
    uint32_t count = 0;
    for (size_t i = 0; i < PREDICT__COLUMNS; i++)
        count += !is_left_out(&predict__columns[i], profile);
    return count;
}

static int pack_columns(msgpack_packer *packer, const predict_profile *profile)
{
    buffer b = {0};
    int err = 0;
    for (size_t i = 0; i < PREDICT__COLUMNS && !err; i++) {
        const predict__column *c = &predict__columns[i];
        if (is_left_out(c, profile))
            continue;
        err = make_column(&b, c, profile);
        if (!err && b.bytes > UINT32_MAX)
            err = pastset_fail(PASTSET_EINVAL,
                               "the profile is too large for a file: its "
                               "column %s takes more than 4 GiB",
                               c->key);
        if (!err && pack_column(packer, c, &b))
            err = pastset_no_memory("to pack the profile");
    }
    free(b.data);
    return err;
}

int predict__profile_pack(char **out, size_t *bytes,
                          const predict_profile *profile)
{
    msgpack_sbuffer sink;
    msgpack_packer packer;
    int failed, err = 0;
    msgpack_sbuffer_init(&sink);
    msgpack_packer_init(&packer, &sink, msgpack_sbuffer_write);
    failed = msgpack_pack_map(&packer, PREDICT__SCALARS + PREDICT__ARRAYS +
                                           columns_of(profile));
    for (size_t i = 0; i < PREDICT__SCALARS && !failed; i++)
        failed = pack_scalar(&packer, &predict__scalars[i], profile);
    for (size_t i = 0; i < PREDICT__ARRAYS && !failed; i++) {
        size_t count;
        (void)items_of(profile, (predict__array)i, &count);
        failed = pack_key(&packer, predict__array_keys[i]);
        if (!failed)
            failed = msgpack_pack_uint64(&packer, count);
    }
    if (failed)
        err = pastset_no_memory("to pack the profile");
    else
        err = pack_columns(&packer, profile);
    *bytes = sink.size;
    *out = msgpack_sbuffer_release(&sink);
    if (err) {
        free(*out);
        *out = NULL;
    }
    return err;
}
