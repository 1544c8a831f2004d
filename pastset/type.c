/* type.c - reading the text of a tuple's type. */
#include "pastset/type.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pastset/status.h"

static const struct {
    const char *name;
    uint32_t bytes;
} scalars[] = {
    [PASTSET_I8] = {"i8", 1},   [PASTSET_U8] = {"u8", 1},
    [PASTSET_I16] = {"i16", 2}, [PASTSET_U16] = {"u16", 2},
    [PASTSET_I32] = {"i32", 4}, [PASTSET_U32] = {"u32", 4},
    [PASTSET_I64] = {"i64", 8}, [PASTSET_U64] = {"u64", 8},
    [PASTSET_F32] = {"f32", 4}, [PASTSET_F64] = {"f64", 8},
};

#define SCALARS (sizeof(scalars) / sizeof(scalars[0]))

uint32_t pastset_scalar_bytes(pastset_scalar scalar)
{
    return (unsigned)scalar < SCALARS ? scalars[scalar].bytes : 0;
}

const char *pastset_scalar_name(pastset_scalar scalar)
{
    return (unsigned)scalar < SCALARS ? scalars[scalar].name : "?";
}

/* One word of the text, "name" or "name[count]". */
typedef struct word {
    char name[12];
    uint32_t count;
    bool counted; /* has brackets */
} word;

/* Reads the word at `*at` and moves `*at` behind it. */
static bool word_read(const char **at, word *out)
{
    const char *p = *at;
    size_t length = 0;

    memset(out, 0, sizeof(*out));
    out->count = 1;
    while (isalnum((unsigned char)p[length]) || p[length] == '_')
        length++;
    if (length == 0 || length >= sizeof(out->name))
        return false;
    memcpy(out->name, p, length);
    p += length;
    if (*p == '[') {
        uint64_t count = 0;
        out->counted = true;
        for (p++; isdigit((unsigned char)*p); p++) {
            count = count * 10 + (uint64_t)(*p - '0');
            if (count > PASTSET_TUPLE_BYTES)
                return false;
        }
        if (*p != ']' || count == 0)
            return false;
        p++;
        out->count = (uint32_t)count;
    }
    if (*p && !isspace((unsigned char)*p))
        return false;
    *at = p;
    return true;
}

static int scalar_find(const char *name, pastset_scalar *out)
{
    for (size_t i = 0; i < SCALARS; i++) {
        if (strcmp(scalars[i].name, name) == 0) {
            *out = (pastset_scalar)i;
            return 0;
        }
    }
    return PASTSET_ENOENT;
}

/* What others call it. */
static const struct {
    const char *name, *ours;
} others[] = {
    {"float", "f32"},    {"double", "f64"},   {"char", "i8"},
    {"short", "i16"},    {"int", "i32"},      {"unsigned", "u32"},
    {"long", "i64"},     {"size_t", "u64"},   {"int8_t", "i8"},
    {"uint8_t", "u8"},   {"int16_t", "i16"},  {"uint16_t", "u16"},
    {"int32_t", "i32"},  {"uint32_t", "u32"}, {"int64_t", "i64"},
    {"uint64_t", "u64"},
};

static const char *ours(const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(others[i].name, name) == 0)
            return others[i].ours;
    }
    return NULL;
}

static int unknown(const char *text, const char *name)
{
    const char *meant = ours(name);

    return pastset_fail(PASTSET_EINVAL,
                        "type \"%s\": \"%s\" is not one of i8 u8 i16 u16 i32 "
                        "u32 i64 u64 f32 f64 bytes[N]%s%s%s",
                        text, name, meant ? "; did you mean " : "",
                        meant ? meant : "", meant ? "?" : "");
}

/* Adds the word's field behind those that are there. */
static int field_add(pastset_type *type, const word *w, const char *text)
{
    pastset_scalar scalar;
    uint64_t bytes;
    pastset_field *field;

    if (scalar_find(w->name, &scalar) != 0)
        return unknown(text, w->name);
    if (type->field_count == PASTSET_TYPE_FIELDS)
        return pastset_fail(PASTSET_EINVAL, "type \"%s\": more than %d fields",
                            text, PASTSET_TYPE_FIELDS);
    bytes = (uint64_t)w->count * scalars[scalar].bytes;
    if (type->max_bytes + bytes > PASTSET_TUPLE_BYTES)
        return pastset_fail(PASTSET_EINVAL, "type \"%s\": larger than %u bytes",
                            text, PASTSET_TUPLE_BYTES);
    field = &type->fields[type->field_count++];
    field->scalar = scalar;
    field->count = w->count;
    field->offset_bytes = type->max_bytes;
    field->bytes = (uint32_t)bytes;
    type->max_bytes += (uint32_t)bytes;
    return 0;
}

/* Appends the word to the normalised text. */
static int text_add(pastset_type *type, const word *w, const char *text)
{
    size_t used = strlen(type->text);
    size_t capacity = sizeof(type->text) - used;
    const char *blank = used ? " " : "";
    int length;

    if (w->counted)
        length = snprintf(type->text + used, capacity, "%s%s[%u]", blank,
                          w->name, w->count);
    else
        length = snprintf(type->text + used, capacity, "%s%s", blank, w->name);
    if (length < 0 || (size_t)length >= capacity)
        return pastset_fail(PASTSET_EINVAL, "type \"%.40s...\": longer than %d",
                            text, PASTSET_TYPE_TEXT - 1);
    return 0;
}

int pastset_type_parse(pastset_type *out, const char *text)
{
    const char *at = text;
    word w;
    int err;

    memset(out, 0, sizeof(*out));
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at)
            break;
        if (!word_read(&at, &w))
            return pastset_fail(PASTSET_EINVAL,
                                "type \"%.100s\": expected a field such as "
                                "i32 or f64[128] at \"%.20s\"",
                                text, at);
        if (out->variable)
            return pastset_fail(PASTSET_EINVAL,
                                "type \"%.100s\": bytes[N] stands alone", text);
        if (strcmp(w.name, "bytes") == 0) {
            if (!w.counted || out->field_count)
                return pastset_fail(
                    PASTSET_EINVAL, "type \"%.100s\": %s", text,
                    w.counted ? "bytes[N] stands alone"
                              : "bytes needs a maximum, as in bytes[4096]");
            out->variable = true;
            memcpy(w.name, "u8", 3);
            err = field_add(out, &w, text);
            memcpy(w.name, "bytes", 6);
        } else {
            err = field_add(out, &w, text);
        }
        if (!err)
            err = text_add(out, &w, text);
        if (err)
            return err;
    }
    if (out->field_count == 0)
        return pastset_fail(PASTSET_EINVAL, "a type needs at least one field");
    return 0;
}

bool pastset_type_equal(const pastset_type *a, const pastset_type *b)
{
    return strcmp(a->text, b->text) == 0;
}
