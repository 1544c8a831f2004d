/* profile_unpack.c - reading the flat map of a profile's file.
 *
 * Not by msgpack-c: that takes memory for whatever number of items is
 * announced, and copies. The map is flat and of few kinds of items; anything
 * else in it is refused. No memory is taken for more items than there are
 * bytes in each of their columns. */
#include "predict/profile/profile_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

typedef struct bytes {
    const uint8_t *at;
    size_t left;
    bool no_memory; /* for what stands there */
} bytes;

/* What stood in the map. */
typedef struct parts {
    bool has_scalar[PREDICT__SCALARS], has_count[PREDICT__ARRAYS],
        has_column[PREDICT__COLUMNS];
    bytes scalar_text[PREDICT__SCALARS];
    uint64_t scalar[PREDICT__SCALARS], count[PREDICT__ARRAYS];
    bytes column[PREDICT__COLUMNS];
} parts;

static int damaged(const char *key)
{
    return pastset_fail(PASTSET_EFORMAT,
                        "the profile is damaged: its part \"%s\" is wrong",
                        key);
}

/* --- items of msgpack --- */

typedef enum item_kind {
    ITEM_NONE,
    ITEM_TEXT,
    ITEM_BIN,
    ITEM_NUMBER
} item_kind;

typedef struct item {
    item_kind kind;
    bytes content;   /* TEXT, BIN */
    uint64_t number; /* NUMBER; of booleans 0 or 1 */
} item;

static bool take(bytes *b, size_t count, bytes *out)
{
    if (b->left < count)
        return false;
    *out = (bytes){.at = b->at, .left = count};
    b->at += count;
    b->left -= count;
    return true;
}

static bool take_number(bytes *b, size_t width, uint64_t *out)
{
    bytes digits;
    if (!take(b, width, &digits))
        return false;
    *out = 0;
    for (size_t i = 0; i < width; i++)
        *out = *out << 8 | digits.at[i];
    return true;
}

static item take_content(bytes *b, item_kind kind, size_t width, uint64_t count)
{
    item out = {.kind = kind};
    if (width && !take_number(b, width, &count))
        return (item){.kind = ITEM_NONE};
    if (!take(b, (size_t)count, &out.content))
        return (item){.kind = ITEM_NONE};
    return out;
}

static item take_item(bytes *b)
{
    item out = {.kind = ITEM_NUMBER};
    uint64_t first;
    if (!take_number(b, 1, &first))
        return (item){.kind = ITEM_NONE};
    if (first <= 0x7f)
        out.number = first;
    else if (first >= 0xa0 && first <= 0xbf)
        return take_content(b, ITEM_TEXT, 0, first & 0x1f);
    else if (first == 0xc2 || first == 0xc3)
        out.number = first & 1;
    else if (first >= 0xc4 && first <= 0xc6)
        return take_content(b, ITEM_BIN, (size_t)1 << (first - 0xc4), 0);
    else if (first >= 0xd9 && first <= 0xdb)
        return take_content(b, ITEM_TEXT, (size_t)1 << (first - 0xd9), 0);
    else if (first < 0xcc || first > 0xcf ||
             !take_number(b, (size_t)1 << (first - 0xcc), &out.number))
        out.kind = ITEM_NONE;
    return out;
}

/* --- the map --- */

static bool is(const item *key, const char *text)
{
    return key->kind == ITEM_TEXT && key->content.left == strlen(text) &&
           memcmp(key->content.at, text, key->content.left) == 0;
}

static int sort_in(parts *p, const item *key, const item *value)
{
    for (size_t i = 0; i < PREDICT__SCALARS; i++) {
        const predict__scalar *s = &predict__scalars[i];
        if (!is(key, s->key))
            continue;
        if (value->kind !=
            (s->kind == PREDICT__STRING ? ITEM_TEXT : ITEM_NUMBER))
            return damaged(s->key);
        p->has_scalar[i] = true;
        p->scalar_text[i] = value->content;
        p->scalar[i] = value->number;
        return 0;
    }
    for (size_t i = 0; i < PREDICT__ARRAYS; i++) {
        if (!is(key, predict__array_keys[i]))
            continue;
        p->has_count[i] = true;
        p->count[i] = value->number;
        return value->kind == ITEM_NUMBER ? 0 : damaged(predict__array_keys[i]);
    }
    for (size_t i = 0; i < PREDICT__COLUMNS; i++) {
        if (!is(key, predict__columns[i].key))
            continue;
        p->has_column[i] = true;
        p->column[i] = value->content;
        return value->kind == ITEM_BIN ? 0 : damaged(predict__columns[i].key);
    }
    return pastset_fail(PASTSET_EFORMAT, "the profile is damaged: it has a "
                                         "part that is not known");
}

static int take_map(parts *p, bytes b)
{
    uint64_t first, count;
    int err = 0;
    if (!take_number(&b, 1, &first))
        return damaged("map");
    if ((first & 0xf0) == 0x80)
        count = first & 0x0f;
    else if (first != 0xde || !take_number(&b, 2, &count))
        return damaged("map");
    for (uint64_t i = 0; i < count && !err; i++) {
        item key = take_item(&b);
        item value = take_item(&b);
        err = sort_in(p, &key, &value);
    }
    return !err && b.left ? damaged("end") : err;
}

static int check_parts(const parts *p)
{
    for (size_t i = 0; i < PREDICT__SCALARS; i++)
        if (!p->has_scalar[i] && !predict__scalars[i].optional)
            return damaged(predict__scalars[i].key);
    for (size_t i = 0; i < PREDICT__ARRAYS; i++)
        if (!p->has_count[i])
            return damaged(predict__array_keys[i]);
    for (size_t i = 0; i < PREDICT__COLUMNS; i++) {
        const predict__column *c = &predict__columns[i];
        size_t min = c->coding == PREDICT__REAL ? 8 : 1;
        if (!p->has_column[i] && c->optional)
            continue;
        if (!p->has_column[i] || p->count[c->array] > PREDICT_NONE ||
            p->column[i].left / min < p->count[c->array])
            return damaged(c->key);
    }
    return 0;
}

/* --- columns --- */

static bool get_unsigned(bytes *b, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && b->left; shift += 7) {
        uint8_t byte = *b->at++;
        b->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return shift < 63 || byte < 2;
        }
    }
    return false;
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static bool get_real(bytes *b, uint8_t *member)
{
    uint64_t bits = 0;
    if (b->left < 8)
        return false;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)b->at[i] << 8 * i;
    memcpy(member, &bits, sizeof(bits));
    b->at += 8;
    b->left -= 8;
    return true;
}

static bool get_text(bytes *b, uint8_t *member)
{
    size_t length = strnlen((const char *)b->at, b->left);
    char *text;
    if (length == b->left)
        return false;
    text = malloc(length + 1);
    b->no_memory = !text;
    if (!text)
        return false;
    memcpy(text, b->at, length + 1);
    memcpy(member, &text, sizeof(text));
    b->at += length + 1;
    b->left -= length + 1;
    return true;
}

static bool set_member(uint8_t *at, size_t width, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (width == sizeof(value))
        memcpy(at, &value, sizeof(value));
    else
        memcpy(at, &narrow, sizeof(narrow));
    return width == sizeof(value) || value == narrow;
}

static bool get_step(bytes *b, predict_step *step, uint64_t *last)
{
    uint64_t value;
    if (!get_unsigned(b, &value))
        return false;
    step->kind = value & 3;
    value >>= 2;
    if (step->kind == PREDICT_SEND || step->kind == PREDICT_RECEIVE) {
        *last += unzigzag(value);
        step->message = (uint32_t)*last;
        return *last == step->message;
    }
    step->message = PREDICT_NONE;
    step->ns = (int64_t)value;
    return true;
}

/* Of a step whose kind is known. */
static bool get_early(bytes *b, predict_step *step)
{
    uint64_t value;
    if (!get_unsigned(b, &value))
        return false;
    if (step->kind == PREDICT_RECEIVE)
        step->ns = (int64_t)value;
    return step->kind == PREDICT_RECEIVE || value == 0;
}

/* Takes `count` items from a column; `last` goes from one call to the next. */
static bool get_column(bytes *b, const predict__column *c, void *items,
                       size_t count, uint64_t *last)
{
    uint8_t *at = items;
    size_t stride = predict__item_bytes[c->array];
    bool good = true;
    for (size_t i = 0; i < count && good; i++, at += stride) {
        uint8_t *member = at + c->offset;
        uint64_t value;
        if (c->coding == PREDICT__TEXT) {
            good = get_text(b, member);
        } else if (c->coding == PREDICT__REAL) {
            good = get_real(b, member);
        } else if (c->coding == PREDICT__STEP) {
            good = get_step(b, (predict_step *)(void *)at, last);
        } else if (c->coding == PREDICT__EARLY) {
            good = get_early(b, (predict_step *)(void *)at);
        } else {
            good = get_unsigned(b, &value);
            if (good && c->coding == PREDICT__DELTA)
                value = *last + unzigzag(value);
            good = good && set_member(member, c->bytes, value);
            *last = good ? value : 0;
        }
    }
    return good;
}

/* --- the profile --- */

static int make_array(void *items, size_t count, size_t width)
{
    void *made = NULL;
    if (count > 0) {
        made = calloc(pastset_array_room(count), width);
        if (!made)
            return pastset_no_memory("for the profile");
    }
    memcpy(items, &made, sizeof(made));
    return 0;
}

static int make_arrays(predict_profile *profile, const parts *p)
{
    void *const arrays[PREDICT__ARRAYS] = {
        &profile->places,   &profile->nodes,  NULL,           &profile->links,
        &profile->messages, &profile->actors, &profile->steps};
    size_t *const counts[PREDICT__ARRAYS] = {
        &profile->place_count, &profile->node_count,    NULL,
        &profile->link_count,  &profile->message_count, &profile->actor_count,
        &profile->step_count};
    int err = 0;
    for (size_t i = 0; i < PREDICT__ARRAYS && !err; i++) {
        if (!arrays[i])
            continue;
        err =
            make_array(arrays[i], (size_t)p->count[i], predict__item_bytes[i]);
        if (!err)
            *counts[i] = (size_t)p->count[i];
    }
    return err;
}

/* The column node.phases says how many each node has: it stands before those
 * of the phases. Until the memory is there, the node must have none. */
static int make_phases(predict_profile *profile, uint64_t all)
{
    int err = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        predict_node *n = &profile->nodes[i];
        size_t count = n->phase_count;
        n->phase_count = 0;
        if (!err && count > all)
            err = damaged("node.phases");
        if (!err)
            err = make_array(&n->phases, count, sizeof(*n->phases));
        if (err)
            continue;
        n->phase_count = count;
        all -= count;
    }
    return !err && all ? damaged("phases") : err;
}

static bool get_phases(bytes *b, const predict__column *c,
                       predict_profile *profile)
{
    uint64_t last = 0;
    bool good = true;
    for (size_t i = 0; i < profile->node_count && good; i++)
        good = get_column(b, c, profile->nodes[i].phases,
                          profile->nodes[i].phase_count, &last);
    return good;
}

static void *items_of(const predict_profile *p, predict__array array)
{
    void *const all[PREDICT__ARRAYS] = {
        p->places, p->nodes, NULL, p->links, p->messages, p->actors, p->steps};
    return all[array];
}

static int fill(predict_profile *profile, const parts *p)
{
    bool phases = false;
    int err = 0;
    for (size_t i = 0; i < PREDICT__COLUMNS && !err; i++) {
        const predict__column *c = &predict__columns[i];
        bytes b = p->column[i];
        uint64_t last = 0;
        bool good;
        if (!p->has_column[i]) /* it is optional */
            continue;
        if (c->array == PREDICT__PHASES) {
            if (!phases)
                err = make_phases(profile, p->count[PREDICT__PHASES]);
            phases = true;
            good = !err && get_phases(&b, c, profile);
        } else {
            good = get_column(&b, c, items_of(profile, c->array),
                              (size_t)p->count[c->array], &last);
        }
        if (!err && b.no_memory)
            err = pastset_no_memory("for the profile");
        if (!err && (!good || b.left))
            err = damaged(c->key);
    }
    return err;
}

static int set_scalars(predict_profile *profile, const parts *p)
{
    for (size_t i = 0; i < PREDICT__SCALARS; i++) {
        const predict__scalar *s = &predict__scalars[i];
        char *member = (char *)profile + s->offset;
        char *text;
        switch (s->kind) {
        case PREDICT__STRING:
            text = strndup((const char *)p->scalar_text[i].at,
                           p->scalar_text[i].left);
            if (!text)
                return pastset_no_memory("for the profile");
            memcpy(member, &text, sizeof(text));
            break;
        case PREDICT__NUMBER:
            memcpy(member, &p->scalar[i], sizeof(p->scalar[i]));
            break;
        case PREDICT__BOOL:
            *(bool *)(void *)member = p->scalar[i] != 0;
            break;
        }
    }
    return 0;
}

int predict__profile_unpack(predict_profile **out, const uint8_t *data,
                            size_t count)
{
    parts p = {0};
    predict_profile *profile;
    int err = take_map(&p, (bytes){.at = data, .left = count});
    if (!err)
        err = check_parts(&p);
    if (err)
        return err;
    profile = calloc(1, sizeof(*profile));
    if (!profile)
        return pastset_no_memory("for the profile");
    err = set_scalars(profile, &p);
    if (!err)
        err = make_arrays(profile, &p);
    if (!err)
        err = fill(profile, &p);
    if (err)
        predict_profile_destroy(profile);
    else
        *out = profile;
    return err;
}
