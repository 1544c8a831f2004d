/* read.c - reading tuples without a lock.
 *
 * A reader copies the slot of an index and then looks at the counters again:
 * when the index is still at or above First, no writer can have begun to use
 * the slot anew, and the copy is whole. The same code reads elements of this
 * process and those of a file. */
#include <stdlib.h>

#include "pastset/element_internal.h"

static uint64_t last_of(const pastset_element *element)
{
    /* Acquire: pairs with the release that publishes a tuple. */
    return atomic_load_explicit(&element->header->last, memory_order_acquire);
}

/* Was `index` still there when all that this thread has read so far was? */
static bool still_there(const pastset_element *element, uint64_t index)
{
    /* Acquire: pairs with the release fence before a slot is filled. */
    pastset__fence(memory_order_acquire);
    return index >= first_given_last(
                        element, atomic_load_explicit(&element->header->last,
                                                      memory_order_relaxed));
}

static slot_header *header_of(const pastset_element *element,
                              unsigned char *slot)
{
    return element->slot_header_bytes ? (slot_header *)(void *)slot : NULL;
}

static bool in_file(const pastset_element *element, const unsigned char *slot)
{
    return pastset__space_readable(element->space,
                                   element->header->data_offset +
                                       (uint64_t)(slot - element->data),
                                   element->stride_bytes);
}

/* The slot of an index, its tuple's length and whether it was taken. */
static int slot_look(pastset_element *element, uint64_t index,
                     unsigned char **tuple, uint32_t *bytes, bool *taken)
{
    unsigned char *slot = slot_at(element, index);
    slot_header *header = header_of(element, slot);

    *tuple = slot + element->slot_header_bytes;
    *bytes = element->type.max_bytes;
    *taken = false;
    if (element->read_only && !in_file(element, slot))
        return pastset_fail(PASTSET_EFORMAT,
                            "element \"%s\": tuple %llu lies outside of the "
                            "file, which is damaged",
                            element->header->name, (unsigned long long)index);
    if (!header)
        return 0;
    *taken = atomic_load_explicit(&header->taken, memory_order_relaxed);
    if (!element->type.variable)
        return 0;
    *bytes = atomic_load_explicit(&header->bytes, memory_order_relaxed);
    if (*bytes > element->type.max_bytes) {
        if (!still_there(element, index))
            *bytes = 0; /* torn by the writer: the caller will find out */
        else
            return pastset_fail(PASTSET_EFORMAT,
                                "element \"%s\": tuple %llu claims %u bytes; "
                                "the file is damaged",
                                element->header->name,
                                (unsigned long long)index, *bytes);
    }
    return 0;
}

static int expired(pastset_element *element, uint64_t index)
{
    return pastset_fail(
        PASTSET_EEXPIRED,
        "element \"%s\": tuple %llu was dropped before it was "
        "read; the oldest is %llu",
        element->header->name, (unsigned long long)index,
        (unsigned long long)first_given_last(element, last_of(element)));
}

int pastset__copy_out(pastset_element *element, uint64_t index,
                      pastset_request *request)
{
    unsigned char *tuple;
    void *to = request->tuple;
    uint32_t bytes;
    bool taken;
    int err = slot_look(element, index, &tuple, &bytes, &taken);

    if (err)
        return err;
    if (taken)
        return PASTSET_EEXPIRED;
    if (request->room) {
        to = request->room(request, bytes);
        if (!to && !still_there(element, index))
            return PASTSET_EEXPIRED;
        if (!to)
            return pastset_fail(PASTSET_EROOM,
                                "element \"%s\": no room for its tuple of %u "
                                "bytes",
                                element->header->name, bytes);
    } else if (request->bytes < bytes) {
        if (!still_there(element, index))
            return PASTSET_EEXPIRED;
        return pastset_fail(PASTSET_EROOM,
                            "element \"%s\": a tuple of %u bytes, and room for "
                            "%zu",
                            element->header->name, bytes, request->bytes);
    }
    slot_copy(to, tuple, bytes);
    if (!still_there(element, index))
        return PASTSET_EEXPIRED;
    request->bytes = bytes;
    request->index = index;
    return 0;
}

static bool matches(const pastset_element *element,
                    const pastset_pattern *pattern, const unsigned char *tuple,
                    uint32_t bytes)
{
    const unsigned char *values = pattern->values;

    if (element->type.variable)
        return !(pattern->fields & 1) ||
               (bytes == pattern->bytes && slot_equal(tuple, values, bytes));
    for (uint32_t i = 0; i < element->type.field_count; i++) {
        const pastset_field *field = &element->type.fields[i];
        if ((pattern->fields >> i & 1) &&
            !slot_equal(tuple + field->offset_bytes,
                        values + field->offset_bytes, field->bytes))
            return false;
    }
    return true;
}

int pastset__find(pastset_element *element, const pastset_pattern *pattern,
                  uint64_t *index)
{
    for (;;) {
        uint64_t last = last_of(element);
        uint64_t first = first_given_last(element, last);
        unsigned char *tuple;
        uint32_t bytes;
        bool taken;
        int err;

        if (*index < first)
            *index = first;
        if (*index >= last)
            return PASTSET_EAGAIN;
        err = slot_look(element, *index, &tuple, &bytes, &taken);
        if (err)
            return err;
        if (!taken && (!pattern || matches(element, pattern, tuple, bytes)) &&
            still_there(element, *index))
            return 0;
        ++*index;
    }
}

static int read_index(pastset_element *element, pastset_request *request)
{
    uint64_t last = last_of(element);
    int err;

    if (request->index >= last)
        return PASTSET_EAGAIN;
    if (request->index < first_given_last(element, last))
        return expired(element, request->index);
    err = pastset__copy_out(element, request->index, request);
    return err == PASTSET_EEXPIRED ? expired(element, request->index) : err;
}

/* The oldest at or above `index` that matches. */
static int read_from(pastset_element *element, uint64_t index,
                     const pastset_pattern *pattern, pastset_request *request)
{
    for (;;) {
        int err = pastset__find(element, pattern, &index);
        if (err)
            return err;
        err = pastset__copy_out(element, index, request);
        if (err != PASTSET_EEXPIRED)
            return err;
    }
}

static int read_newest(pastset_element *element, pastset_request *request)
{
    for (;;) {
        uint64_t last = last_of(element);
        uint64_t first = first_given_last(element, last);
        uint64_t index = last;

        while (index > first) {
            int err = pastset__copy_out(element, --index, request);
            if (err != PASTSET_EEXPIRED)
                return err;
        }
        /* Nothing there, or all of it gone while looking: look again. */
        if (last == last_of(element))
            return PASTSET_EAGAIN;
    }
}

static int read_verb(pastset_element *element, pastset_request *request)
{
    switch (request->verb) {
    case PASTSET_READ:
        return read_index(element, request);
    case PASTSET_READ_FIRST:
        return read_from(element, 0, NULL, request);
    case PASTSET_READ_NEXT:
        return read_from(element, request->index, NULL, request);
    case PASTSET_READ_LAST:
        return read_newest(element, request);
    default:
        /* Tuples below `wanted` were compared while it was held. */
        return read_from(element, request->wanted, request->pattern, request);
    }
}

int pastset__read(pastset_element *element, pastset_request *request)
{
    int err = read_verb(element, request);

    if (!err && !element->read_only)
        atomic_fetch_add_explicit(&element->header->reads, 1,
                                  memory_order_relaxed);
    return err;
}
