/* read.c - reading tuples without a lock.
 *
 * A reader copies the slot of an index and then looks at the counters again:
 * when the index is still at or above First, no writer can have begun to use
 * the slot anew, and the copy is whole. The same code reads elements of this
 * process and those of a file.
 *
 * The model of it is element.pml.
 *
 * Many tuples are copied in the same way: a block of slots, then one look at
 * the counters, which says how many of the block's first tuples may have been
 * overwritten meanwhile. Those are thrown away. So a block is short enough that
 * a writer who discards is seldom faster. */
#include <stdlib.h>

#include "pastset/element_internal.h"
#include "pastset/schedule.h"

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

/* In a file, was the tuple just taken by who was killed before he could mark
 * its slot? In this process the mark is there before anybody looks. */
static bool is_hole(const pastset_element *element, uint64_t index)
{
    const element_header *header = element->header;

    /* Acquire: pairs with the release in ledger_store(). */
    return element->read_only &&
           atomic_load_explicit(
               &header->holes[atomic_load_explicit(&header->version,
                                                   memory_order_acquire) %
                              2],
               memory_order_relaxed) == index + 1;
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
    *taken = !element->single_writer &&
             (is_hole(element, index) ||
              atomic_load_explicit(&header->taken, memory_order_relaxed));
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

/* By `capacity`: the tuple is larger than was told, or there is no memory. */
static int refused(const pastset_element *element,
                   const pastset_request *request, uint32_t bytes)
{
    bool fits = bytes <= request->bytes;

    return pastset_fail(fits ? PASTSET_ENOMEM : PASTSET_EROOM,
                        "element \"%s\": no %s for its tuple of %u bytes",
                        element->header->name, fits ? "memory" : "room", bytes);
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
    if (request->capacity) {
        to = request->capacity(request, bytes);
        if (!to && !still_there(element, index))
            return PASTSET_EEXPIRED;
        if (!to)
            return refused(element, request, bytes);
    } else if (request->bytes < bytes) {
        if (!still_there(element, index))
            return PASTSET_EEXPIRED;
        return pastset_fail(
            PASTSET_EROOM,
            "element \"%s\": a tuple of %u bytes, but room for %zu",
            element->header->name, bytes, request->bytes);
    }
    PASTSET_POINT("read.copy");
    slot_copy(to, tuple, bytes);
    PASTSET_POINT("read.check");
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

/* --- many at once --- */

/* Most bytes of a block: they stay in the nearest caches, and a writer that
 * discards overwrites some hundred tuples while they are copied. */
#define BLOCK_BYTES (128u << 10)

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many of `count` slots from that of `index` on are in the file; they do
 * not go around its end. */
static uint64_t slots_in_file(const pastset_element *element, uint64_t index,
                              uint64_t count)
{
    uint64_t offset = element->header->data_offset +
                      (uint64_t)(slot_at(element, index) - element->data);
    uint64_t stride = element->stride_bytes, few = 0;

    if (!element->read_only ||
        pastset__space_readable(element->space, offset, count * stride))
        return count;
    while (few < count) { /* the first that is not */
        uint64_t middle = few + (count - few + 1) / 2;
        if (pastset__space_readable(element->space, offset, middle * stride))
            few = middle;
        else
            count = middle - 1;
    }
    return few;
}

/* Sets the cursor behind the slots that are not in the file. */
static int pass_over(pastset_element *element, pastset_cursor *cursor,
                     uint64_t index, uint64_t last)
{
    uint64_t next = index + element->slots - index % element->slots;

    next = min(next, last);
    cursor->lost += next - cursor->next;
    cursor->next = next;
    return pastset_fail(PASTSET_EFORMAT,
                        "element \"%s\": tuples %llu to %llu lie outside of "
                        "the file, which is damaged",
                        element->header->name, (unsigned long long)index,
                        (unsigned long long)next - 1);
}

void pastset__pass_damaged(pastset_element *element, pastset_cursor *cursor,
                           uint64_t index)
{
    uint64_t last = last_of(element), first = first_given_last(element, last);

    if (index < first)
        index = first;
    if (index < last && slots_in_file(element, index, 1) == 0) {
        pass_over(element, cursor, index, last);
        return;
    }
    cursor->lost += index + 1 - cursor->next;
    cursor->next = index + 1;
}

/* Copies up to `max` tuples from the cursor on. As many as are whole come
 * back in `*count`: 0 when the writer was faster. */
static int block_copy(pastset_element *element, pastset_cursor *cursor,
                      unsigned char *to, uint64_t max, uint64_t *count)
{
    uint64_t last = last_of(element), stride = element->stride_bytes;
    uint64_t first = first_given_last(element, last);
    uint64_t index = cursor->next > first ? cursor->next : first;
    uint64_t wanted, there, gone;

    *count = 0;
    if (index >= last)
        return PASTSET_EAGAIN;
    wanted = min(min(max, last - index), BLOCK_BYTES / stride + 1);
    wanted = min(wanted, element->slots - index % element->slots);
    there = slots_in_file(element, index, wanted);
    if (there == 0)
        return pass_over(element, cursor, index, last);
    slot_copy(to, slot_at(element, index), there * stride);
    PASTSET_POINT("read.check_block");
    /* Acquire: as in still_there(). */
    pastset__fence(memory_order_acquire);
    first =
        first_given_last(element, atomic_load_explicit(&element->header->last,
                                                       memory_order_relaxed));
    gone = first > index ? min(first - index, there) : 0;
    if (gone)
        memmove(to, to + gone * stride, (there - gone) * stride);
    if (gone < there) {
        *count = there - gone;
        cursor->lost += index + gone - cursor->next;
        cursor->next = index + there;
        cursor->read += *count;
    }
    return 0;
}

const void *pastset_borrow_many(pastset_element *element, uint64_t index,
                                uint64_t max, uint64_t *count)
{
    uint64_t last = last_of(element);

    *count = 0;
    if (element->slot_header_bytes || element->type.variable ||
        index < first_given_last(element, last) || index >= last)
        return NULL;
    *count =
        min(min(max, last - index), element->slots - index % element->slots);
    *count = slots_in_file(element, index, *count);
    return *count ? slot_at(element, index) : NULL;
}

bool pastset_is_there(const pastset_element *element, uint64_t index)
{
    return still_there(element, index);
}

/* Where slots have headers. */
static int one_by_one(pastset_element *element, pastset_cursor *cursor,
                      unsigned char *to, size_t max, size_t *count)
{
    while (*count < max) {
        uint64_t index = cursor->next;
        pastset_request request = {.tuple = to, .bytes = (size_t)-1};
        int err = pastset__find(element, NULL, &index);
        if (*count && (err || index != cursor->next))
            return 0;
        if (!err)
            err = pastset__copy_out(element, index, &request);
        if (*count && err)
            return 0;
        if (err == PASTSET_EEXPIRED)
            continue;
        if (err == PASTSET_EFORMAT) /* behind it, lest it come again */
            pastset__pass_damaged(element, cursor, index);
        if (err)
            return err;
        cursor->lost += index - cursor->next;
        cursor->next = index + 1;
        cursor->read++;
        ++*count;
        to += element->type.max_bytes;
    }
    return 0;
}

static int by_blocks(pastset_element *element, pastset_cursor *cursor,
                     unsigned char *to, size_t max, size_t *count)
{
    do {
        pastset_cursor before = *cursor;
        uint64_t copied;
        int err =
            block_copy(element, cursor, to + *count * element->stride_bytes,
                       max - *count, &copied);
        if (*count && (err || cursor->lost != before.lost)) {
            *cursor = before; /* behind a gap: the next call gives it */
            return 0;
        }
        if (err)
            return err;
        *count += copied;
    } while (*count < max);
    return 0;
}

int pastset_read_many(pastset_element *element, pastset_cursor *cursor,
                      void *tuples, size_t max, size_t *count)
{
    int err;

    *count = 0;
    if (element->type.variable)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": tuples without a fixed length can "
                            "only be read one by one",
                            element->header->name);
    if (atomic_load_explicit(&element->header->state, memory_order_relaxed) !=
        ELEMENT_LIVE)
        return pastset__deleted(element);
    if (max == 0)
        return 0;
    err = element->slot_header_bytes
              ? one_by_one(element, cursor, tuples, max, count)
              : by_blocks(element, cursor, tuples, max, count);
    if (err == PASTSET_EAGAIN)
        return pastset_fail(err, "element \"%s\": nothing to read at %llu",
                            element->header->name,
                            (unsigned long long)cursor->next);
    if (*count && !element->read_only)
        atomic_fetch_add_explicit(&element->header->reads, *count,
                                  memory_order_relaxed);
    return err;
}
