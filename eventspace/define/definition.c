/* definition.c - definitions to tuples and back. */
#include "eventspace/define/definition_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define CONTINUES 0x80000000u

typedef struct head {
    uint32_t kind, id, parent, rest;
} head;

#define PIECE (EVENTSPACE_DEFINITION_BYTES - sizeof(head))

_Static_assert(sizeof(head) == 16, "as definition.h says");

/* --- attributes --- */

bool eventspace__definition_attribute(const eventspace_definition *definition,
                                      size_t *at, eventspace_attribute *out)
{
    const char *item;

    if (*at >= definition->attribute_bytes)
        return false;
    item = definition->attributes + *at;
    out->html = *item == '<';
    out->key = item + 1;
    out->value = out->key + strlen(out->key) + 1;
    *at += (size_t)(out->value - item) + strlen(out->value) + 1;
    return true;
}

const char *eventspace_definition_get(const eventspace_definition *definition,
                                      const char *key)
{
    eventspace_attribute item;
    size_t at = 0;

    while (eventspace__definition_attribute(definition, &at, &item))
        if (strcmp(item.key, key) == 0)
            return item.value;
    return NULL;
}

int eventspace_attributes_add(eventspace_attributes *attributes,
                              const char *key, const char *value, bool html)
{
    size_t keys = strlen(key) + 1, values = strlen(value) + 1;
    size_t bytes = attributes->bytes + 1 + keys + values;
    char *at;

    if (bytes > attributes->capacity) {
        char *more = realloc(attributes->text, 2 * bytes);
        if (!more)
            return pastset_no_memory("for the attributes of a definition");
        attributes->text = more;
        attributes->capacity = 2 * bytes;
    }
    at = attributes->text + attributes->bytes;
    *at = html ? '<' : '"';
    memcpy(at + 1, key, keys);
    memcpy(at + 1 + keys, value, values);
    attributes->bytes = bytes;
    return 0;
}

/* Whether that can be asked of any bytes. */
static bool are_attributes(const char *bytes, size_t count)
{
    while (count > 0) {
        const char *key = bytes + 1, *end;
        if (*bytes != '"' && *bytes != '<')
            return false;
        end = memchr(key, 0, count - 1);
        if (!end)
            return false;
        count -= (size_t)(end + 1 - bytes);
        bytes = end + 1;
        end = memchr(bytes, 0, count);
        if (!end)
            return false;
        count -= (size_t)(end + 1 - bytes);
        bytes = end + 1;
    }
    return true;
}

const char *eventspace_definition_named(uint32_t kind)
{
    switch (kind) {
    case EVENTSPACE_DEFINES_REGION:
        return "region";
    case EVENTSPACE_DEFINES_MARK:
        return "mark";
    case EVENTSPACE_DEFINES_METRIC:
        return "metric";
    default:
        return NULL;
    }
}

const char *eventspace__definition_type(const eventspace_definition *definition)
{
    const char *type;

    switch (definition->kind) {
    case EVENTSPACE_DEFINES_THREAD:
        return "thread";
    case EVENTSPACE_DEFINES_ELEMENT:
        return "element";
    case EVENTSPACE_DEFINES_COLLECTOR:
        return "collector";
    default:
        type = eventspace_definition_get(definition, "kind");
        return type ? type : "";
    }
}

/* --- writing --- */

static size_t text_bytes(const eventspace_definition *definition)
{
    size_t attributes = definition->attribute_bytes;

    return strlen(definition->name) + (attributes ? 1 + attributes : 0);
}

/* Copies bytes [at, at + count) of the text: name, 0, attributes. */
static void text_copy(unsigned char *out, size_t at, size_t count,
                      const eventspace_definition *definition)
{
    size_t name = strlen(definition->name) + 1, from_name = 0;

    if (at < name)
        from_name = count < name - at ? count : name - at;
    memcpy(out, definition->name + at, from_name);
    if (count > from_name)
        memcpy(out + from_name, definition->attributes + at + from_name - name,
               count - from_name);
}

size_t eventspace__definition_encode(void *out, size_t *at,
                                     const eventspace_definition *definition)
{
    size_t left = text_bytes(definition) - *at;
    size_t count = left < PIECE ? left : PIECE;
    head h = {definition->kind | (*at ? CONTINUES : 0), definition->id,
              definition->parent, (uint32_t)(left - count)};

    if (*at == SIZE_MAX || (*at > 0 && left == 0))
        return 0;
    memcpy(out, &h, sizeof(h));
    if (count > 0)
        text_copy((unsigned char *)out + sizeof(h), *at, count, definition);
    *at = count > 0 ? *at + count : SIZE_MAX; /* without a name */
    return sizeof(h) + count;
}

uint64_t eventspace_definition_tuples(const eventspace_definition *definition)
{
    size_t bytes = text_bytes(definition);

    return bytes ? (bytes + PIECE - 1) / PIECE : 1;
}

int eventspace_definition_write(pastset_element *element,
                                const eventspace_definition *definition)
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    size_t at = 0, bytes;
    int err = 0;

    if (text_bytes(definition) > EVENTSPACE_DEFINITION_TEXT_MAX)
        return pastset_fail(PASTSET_ELIMIT,
                            "%.100s: its attributes are longer than %u bytes",
                            definition->name, EVENTSPACE_DEFINITION_TEXT_MAX);
    while (!err &&
           (bytes = eventspace__definition_encode(tuple, &at, definition)) > 0)
        err = pastset_write(element, tuple, bytes, PASTSET_NOWAIT, NULL);
    return err;
}

/* --- reading --- */

void eventspace_definition_damaged(eventspace_definition_reader *reader,
                                   const char *format, ...)
{
    static const char more[] = "; ...";
    size_t used = strlen(reader->problem);
    char text[192];
    va_list arguments;

    reader->damaged++;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (reader->is_full)
        return;
    reader->is_full =
        used + 2 + strlen(text) + sizeof(more) > sizeof(reader->problem);
    snprintf(reader->problem + used, sizeof(reader->problem) - used, "%s%s",
             used && !reader->is_full ? "; " : "",
             reader->is_full ? more : text);
}

/* What it had begun with is of no use. */
static int drop(eventspace_definition_reader *reader)
{
    reader->used = 0;
    reader->rest = 0;
    return PASTSET_EAGAIN;
}

void eventspace__definition_end(eventspace_definition_reader *reader)
{
    if (reader->rest)
        eventspace_definition_damaged(
            reader, "definition %u is cut: %u bytes of it are missing",
            reader->id, reader->rest);
    drop(reader);
}

static bool goes_on(const eventspace_definition_reader *reader, const head *h,
                    size_t count)
{
    return reader->rest && h->kind == (reader->kind | CONTINUES) &&
           h->id == reader->id && h->parent == reader->parent &&
           count <= reader->rest && h->rest == reader->rest - count;
}

static int text_add(eventspace_definition_reader *reader, const void *bytes,
                    size_t count)
{
    if (reader->used + count + 1 > reader->capacity) {
        size_t capacity = 2 * (reader->used + count + 1);
        char *more = realloc(reader->text, capacity);
        if (!more)
            return pastset_no_memory("for a definition");
        reader->text = more;
        reader->capacity = capacity;
    }
    memcpy(reader->text + reader->used, bytes, count);
    reader->used += count;
    reader->text[reader->used] = 0;
    return 0;
}

/* All of its text is there. */
static int finish(eventspace_definition_reader *reader,
                  eventspace_definition *out)
{
    size_t name = strlen(reader->text), used = reader->used;
    eventspace_definition all = {reader->kind, reader->id, reader->parent,
                                 reader->text, NULL,       0};

    drop(reader);
    if (name < used) {
        all.attributes = reader->text + name + 1;
        all.attribute_bytes = used - name - 1;
    }
    if (name < used && (!all.attribute_bytes ||
                        !are_attributes(all.attributes, all.attribute_bytes))) {
        eventspace_definition_damaged(
            reader, "definition %u: its attributes are none", all.id);
        return PASTSET_EAGAIN;
    }
    *out = all;
    return 0;
}

/* Whether a tuple is a piece of a definition, and which: that one has begun
 * with it, or goes on. */
static bool begin(eventspace_definition_reader *reader, const head *h,
                  size_t count)
{
    if (goes_on(reader, h, count)) {
        reader->rest = h->rest;
        reader->pieces++;
        return true;
    }
    eventspace__definition_end(reader);
    if (h->kind & CONTINUES)
        eventspace_definition_damaged(
            reader, "definition %u: its beginning is missing", h->id);
    else if (h->kind == 0 || h->kind >= EVENTSPACE_DEFINITION_KINDS)
        eventspace_definition_damaged(
            reader,
            "definition %u is of kind %u, which this version does not "
            "know",
            h->id, h->kind);
    else if (h->rest > EVENTSPACE_DEFINITION_TEXT_MAX ||
             (h->rest && count < PIECE))
        eventspace_definition_damaged(
            reader, "definition %u: its length cannot be right", h->id);
    else {
        reader->kind = h->kind;
        reader->id = h->id;
        reader->parent = h->parent;
        reader->rest = h->rest;
        reader->pieces = 1;
        return true;
    }
    return false;
}

int eventspace__definition_take(eventspace_definition_reader *reader,
                                const void *tuple, size_t bytes,
                                eventspace_definition *out)
{
    size_t count = bytes - sizeof(head);
    head h;
    int err;

    reader->seen++;
    if (bytes < sizeof(h) || bytes > EVENTSPACE_DEFINITION_BYTES) {
        eventspace__definition_end(reader);
        eventspace_definition_damaged(reader, "a definition of %zu bytes",
                                      bytes);
        return PASTSET_EAGAIN;
    }
    memcpy(&h, tuple, sizeof(h));
    if (!begin(reader, &h, count))
        return PASTSET_EAGAIN;
    err = text_add(reader, (const unsigned char *)tuple + sizeof(h), count);
    if (err) {
        drop(reader);
        return err;
    }
    return reader->rest ? PASTSET_EAGAIN : finish(reader, out);
}

void eventspace_definition_again(eventspace_definition_reader *reader)
{
    reader->cursor.next -= reader->pieces;
    reader->cursor.read -= reader->pieces;
    reader->seen -= reader->pieces;
    reader->pieces = 0;
    drop(reader);
}

int eventspace_definition_next(eventspace_definition_reader *reader,
                               pastset_element *element,
                               eventspace_definition *out)
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    int err;

    do {
        size_t bytes = sizeof(tuple);
        err = pastset_read_next(element, &reader->cursor, tuple, &bytes,
                                PASTSET_NOWAIT);
        if (err == PASTSET_EFORMAT) { /* the cursor is behind it */
            reader->seen++;
            eventspace_definition_damaged(reader, "%s", pastset_error());
        } else if (err) {
            return err;
        } else {
            err = eventspace__definition_take(reader, tuple, bytes, out);
            if (err == PASTSET_ENOMEM)
                eventspace_definition_again(reader);
        }
    } while (err == PASTSET_EAGAIN || err == PASTSET_EFORMAT);
    return err;
}

void eventspace_definition_reader_fini(eventspace_definition_reader *reader)
{
    free(reader->text);
    memset(reader, 0, sizeof(*reader));
}
