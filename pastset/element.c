/* element.c - making, deleting and describing elements. */
#include "pastset/element.h"

#include <stdlib.h>

#include "pastset/element_internal.h"

/* What an element of policy grow gets at a time, in bytes: as much again as it
 * has, within these bounds. Small ones stay small, large ones pause seldom. */
#define GROW_LEAST (64u << 10)
#define GROW_MOST (4u << 20)

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint64_t header_bytes(void)
{
    return round_up(sizeof(element_header), 64);
}

/* Fills in what the handle knows beside its header. */
static int handle_fill(pastset_element *element, pastset_space *space,
                       element_header *header)
{
    int err = pastset_type_parse(&element->type, header->type);

    if (err)
        return err;
    element->space = space;
    element->header = header;
    element->data = pastset__space_at(space, header->data_offset);
    element->slots = header->slots;
    element->capacity = header->capacity;
    element->stride_bytes = header->stride_bytes;
    element->slot_header_bytes = header->slot_header_bytes;
    element->policy = (pastset_policy)header->policy;
    element->one_writer = header->one_writer != 0;
    element->delta = header->capacity;
    element->appender.element = element;
    element->appender.at = element->appender.begin = element->data;
    element->appender.end =
        element->data + element->slots * element->stride_bytes;
    element->appender.stride_bytes = element->stride_bytes;
    element->appender.last = &header->last;
    pthread_mutex_init(&element->lock, NULL);
    return 0;
}

void pastset__element_free(pastset_element *element)
{
    if (!element)
        return;
    pthread_mutex_destroy(&element->lock);
    free(element);
}

static int options_check(const pastset_element_options *options)
{
    if (!options->name || !*options->name)
        return pastset_fail(PASTSET_EINVAL, "an element needs a name");
    if (strlen(options->name) >= PASTSET_NAME_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%.40s...\": its name is longer than %d "
                            "bytes",
                            options->name, PASTSET_NAME_BYTES - 1);
    if (!options->type || options->type->field_count == 0)
        return pastset_fail(PASTSET_EINVAL, "element \"%s\" needs a type",
                            options->name);
    if (options->capacity == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%s\": a capacity of zero tuples",
                            options->name);
    if ((unsigned)options->policy > PASTSET_GROW)
        return pastset_fail(PASTSET_EINVAL, "element \"%s\": unknown policy %d",
                            options->name, (int)options->policy);
    return 0;
}

/* Writes the fixed part of the header. */
static void header_fill(element_header *header, uint64_t offset,
                        const pastset_element_options *options,
                        bool one_writer)
{
    const pastset_type *type = options->type;
    bool bare = one_writer && !type->variable;

    strcpy(header->name, options->name);
    strcpy(header->type, type->text);
    header->policy = options->policy;
    header->one_writer = one_writer;
    header->capacity = options->capacity;
    header->slots = options->capacity + 1;
    header->slot_header_bytes = bare ? 0 : sizeof(slot_header);
    header->stride_bytes =
        bare ? type->max_bytes
             : (uint32_t)round_up(sizeof(slot_header) + type->max_bytes, 8);
    header->data_offset = offset + header_bytes();
    atomic_store_explicit(&header->state, ELEMENT_LIVE, memory_order_relaxed);
}

/* The largest stride that header_fill may give. */
static uint64_t stride_most(const pastset_type *type)
{
    return round_up(sizeof(slot_header) + type->max_bytes, 8);
}

int pastset_element_create(pastset_element **out, pastset_space *space,
                           const pastset_element_options *options)
{
    pastset_element *element = NULL;
    element_header *header;
    uint64_t offset, bytes, now_bytes;
    bool one_writer;
    int err;

    *out = NULL;
    err = options_check(options);
    if (err)
        return err;
    if (pastset__space_read_only(space))
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": the space was opened for reading",
                            options->name);
    if (options->capacity >= (UINT64_MAX >> 8) / stride_most(options->type))
        return pastset_fail(PASTSET_ENOSPC,
                            "element \"%s\": %llu tuples are too many",
                            options->name,
                            (unsigned long long)options->capacity);
    bytes = header_bytes() +
            (options->capacity + 1) * stride_most(options->type);
    now_bytes = options->policy == PASTSET_GROW ? header_bytes() : bytes;
    element = aligned_alloc(64, round_up(sizeof(*element), 64));
    if (!element)
        return pastset_fail(PASTSET_ENOMEM, "no memory for element \"%s\"",
                            options->name);
    memset(element, 0, sizeof(*element));
    err = pastset__space_allocate(space, bytes, now_bytes, &offset);
    if (err) {
        free(element);
        return pastset_fail_while(err, "creating element \"%s\"",
                                  options->name);
    }
    one_writer = options->one_writer && pastset__asymmetric_init();
    header = pastset__space_at(space, offset);
    header_fill(header, offset, options, one_writer);
    err = handle_fill(element, space, header);
    if (err)
        goto fail;
    element->prefault = options->prefault;
    if (options->policy == PASTSET_GROW)
        err = pastset__element_grow(element);
    else if (options->prefault)
        err = pastset__space_commit(space, offset, bytes, true);
    if (err)
        goto fail;
    pastset__element_set_free(element);
    err = pastset__space_publish(space, element, offset);
    if (err)
        goto fail;
    *out = element;
    return 0;
fail:
    pastset__element_free(element);
    return err;
}

/* Does the header describe slots that lie within the space? Everything in it
 * may be garbage. */
static int header_check(pastset_space *space, const element_header *header,
                        pastset_type *type)
{
    uint64_t last, first, present;
    int err;

    if (!memchr(header->name, 0, sizeof(header->name)) ||
        !memchr(header->type, 0, sizeof(header->type)))
        return pastset_fail(PASTSET_EFORMAT, "its name or type does not end");
    err = pastset_type_parse(type, header->type);
    if (err)
        return pastset_fail_while(PASTSET_EFORMAT, "damaged");
    if (header->policy > PASTSET_GROW || header->capacity == 0 ||
        header->slots != header->capacity + 1 ||
        (header->slot_header_bytes != 0 &&
         header->slot_header_bytes != sizeof(slot_header)) ||
        (header->slot_header_bytes == 0 && type->variable) ||
        header->stride_bytes < header->slot_header_bytes + type->max_bytes ||
        header->stride_bytes > stride_most(type) ||
        (header->slot_header_bytes && header->stride_bytes % 8) ||
        header->data_offset % 8)
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its layout contradicts its type");
    if (header->slots > (UINT64_MAX >> 8) / header->stride_bytes ||
        !pastset__space_readable(
            space, pastset__space_at(space, header->data_offset), 0))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its slots lie outside of the file");
    first = atomic_load(&header->first);
    last = atomic_load_explicit(&header->last, memory_order_acquire);
    present = last - first;
    if (first > last ||
        (header->policy != PASTSET_DISCARD && present > header->capacity))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its counters contradict each other");
    return 0;
}

int pastset__element_attach(pastset_element **out, pastset_space *space,
                            uint64_t offset)
{
    element_header *header;
    pastset_element *element;
    pastset_type type;
    int err;

    if (offset % 64 || offset > UINT64_MAX / 2)
        return pastset_fail(PASTSET_EFORMAT, "damaged: offset %llu",
                            (unsigned long long)offset);
    header = pastset__space_at(space, offset);
    if (!pastset__space_readable(space, header, sizeof(*header)))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: offset %llu lies outside of the file",
                            (unsigned long long)offset);
    err = header_check(space, header, &type);
    if (err)
        return err;
    element = aligned_alloc(64, round_up(sizeof(*element), 64));
    if (!element)
        return pastset_fail(PASTSET_ENOMEM, "no memory for an element");
    memset(element, 0, sizeof(*element));
    element->read_only = true;
    err = handle_fill(element, space, header);
    if (err) {
        free(element);
        return err;
    }
    *out = element;
    return 0;
}

int pastset__element_grow(pastset_element *element)
{
    uint64_t bytes = element->slots * element->stride_bytes;
    uint64_t from = element->committed * element->stride_bytes;
    uint64_t step = round_up(from < GROW_LEAST  ? GROW_LEAST
                             : from > GROW_MOST ? GROW_MOST
                                                : from,
                             element->stride_bytes);
    uint64_t more = bytes - from < step ? bytes - from : step;
    int err;

    if (more == 0)
        return 0;
    err = pastset__space_commit(element->space,
                                element->header->data_offset + from, more,
                                element->prefault);
    if (err)
        return pastset_fail_while(err, "growing element \"%s\"",
                                  element->header->name);
    element->committed += more / element->stride_bytes;
    return 0;
}

void pastset__element_set_free(pastset_element *element)
{
    uint64_t first = atomic_load_explicit(&element->header->first,
                                          memory_order_relaxed);
    uint64_t until = UINT64_MAX;

    if (element->policy == PASTSET_BLOCK)
        until = first + element->delta;
    if (element->policy == PASTSET_GROW) {
        until = first + element->capacity;
        if (element->committed < element->slots && element->committed < until)
            until = element->committed;
    }
    if (element->deleted || element->held)
        until = 0;
    atomic_store_explicit(&element->appender.free_until, until,
                          memory_order_relaxed);
}

int pastset_element_delete(pastset_element *element)
{
    if (element->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": the space was opened for reading",
                            element->header->name);
    pthread_mutex_lock(&element->lock);
    if (element->deleted) {
        pthread_mutex_unlock(&element->lock);
        return pastset_fail(PASTSET_EDELETED, "element \"%s\" was deleted",
                            element->header->name);
    }
    element->deleted = true;
    atomic_store_explicit(&element->header->state, ELEMENT_DELETED,
                          memory_order_relaxed);
    pastset__element_set_free(element);
    pthread_mutex_unlock(&element->lock);
    pastset__end_held(element, PASTSET_EDELETED);
    return 0;
}

const char *pastset_element_name(const pastset_element *element)
{
    return element->header->name;
}

const pastset_type *pastset_element_type(const pastset_element *element)
{
    return &element->type;
}

pastset_policy pastset_element_policy(const pastset_element *element)
{
    return element->policy;
}

uint64_t pastset_element_capacity(const pastset_element *element)
{
    return element->capacity;
}

int pastset_element_set_delta(pastset_element *element, uint64_t delta)
{
    request_queue completed = {NULL, NULL};

    if (element->read_only || element->policy != PASTSET_BLOCK)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%s\" has no delta: its policy is not "
                            "block, or it was opened for reading",
                            element->header->name);
    if (delta == 0 || delta > element->capacity)
        return pastset_fail(PASTSET_EINVAL,
                            "element \"%s\": delta %llu is not in 1 ... %llu",
                            element->header->name, (unsigned long long)delta,
                            (unsigned long long)element->capacity);
    pthread_mutex_lock(&element->lock);
    element->delta = delta;
    pastset__settle(element, &completed);
    pthread_mutex_unlock(&element->lock);
    pastset__announce(&completed);
    return 0;
}

void pastset_element_ledger(pastset_element *element, pastset_ledger *out)
{
    element_header *header = element->header;
    uint64_t first, implied;

    if (!element->read_only)
        pthread_mutex_lock(&element->lock);
    out->written =
        atomic_load_explicit(&header->last, memory_order_acquire);
    out->read = atomic_load_explicit(&header->reads, memory_order_relaxed);
    out->consumed =
        atomic_load_explicit(&header->consumed, memory_order_relaxed);
    out->truncated =
        atomic_load_explicit(&header->truncated, memory_order_relaxed);
    out->refused =
        atomic_load_explicit(&header->refused, memory_order_relaxed);
    first = atomic_load_explicit(&header->first, memory_order_relaxed);
    out->first = first_given_last(element, out->written);
    implied = out->first > first ? out->first - first : 0;
    out->dropped =
        atomic_load_explicit(&header->dropped, memory_order_relaxed) + implied;
    out->present =
        out->written - out->consumed - out->truncated - out->dropped;
    if (!element->read_only)
        pthread_mutex_unlock(&element->lock);
}
