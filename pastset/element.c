/* element.c - an element: its layout, its handle, and what is counted. */
#include "pastset/element.h"

#include <stdlib.h>

#include "pastset/element_internal.h"
#include "pastset/fence.h"
#include "pastset/line.h"
#include "pastset/space_internal.h"

/* What an element of policy grow gets at a time, in bytes: as much again as it
 * has, within these bounds, and up to the end of a block. Small ones stay
 * small, large ones pause seldom. */
#define GROW_MIN (64u << 10)
#define GROW_MAX (4u << 20)

/* Pages are touched before tuples are written there, more of them each time, as
 * many together cost less: of pages that are touched in vain no more is lost
 * than there is in use, or a first block. Beyond a block these are whole
 * blocks, where the file system can keep one together: it is mapped at once
 * then, and nothing traps for its pages one by one. */
#define TOUCH_MIN (4u << 10)
#define TOUCH_MAX (256u << 10) /* of what is no block */
#define FIRST_BLOCK_MIN                                                        \
    (8u * PASTSET__BLOCK) /* of the data: else no first one */

/* Far beyond any space, and far from where sums of sizes overflow. */
#define SLOT_BYTES_MAX (UINT64_MAX >> 8)

static const char *const policies[] = {[PASTSET_BLOCK] = "block",
                                       [PASTSET_DISCARD] = "discard",
                                       [PASTSET_GROW] = "grow"};

#define POLICIES (sizeof(policies) / sizeof(policies[0]))

const char *pastset_policy_name(pastset_policy policy)
{
    return (unsigned)policy < POLICIES ? policies[policy] : "?";
}

int pastset_policy_parse(pastset_policy *out, const char *name)
{
    for (size_t i = 0; i < POLICIES; i++) {
        if (strcmp(policies[i], name) == 0) {
            *out = (pastset_policy)i;
            return 0;
        }
    }
    return pastset_fail(
        PASTSET_EINVAL,
        "\"%.60s\" is not a policy: choose grow, discard or block", name);
}

uint64_t pastset__element_header_bytes(void)
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
    element->single_writer = header->single_writer != 0;
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

void pastset__element_destroy(pastset_element *element)
{
    if (!element)
        return;
    pastset__saved_fini(element);
    pthread_mutex_destroy(&element->lock);
    free(element);
}

/* Are its slots the tuples and nothing else? */
static bool is_bare(const pastset_type *type, bool single_writer)
{
    return single_writer && !type->variable;
}

/* From slot to slot: the bare tuple where one writer writes tuples of one
 * length. */
static uint32_t stride_of(const pastset_type *type, bool single_writer)
{
    if (is_bare(type, single_writer))
        return type->max_bytes;
    return (uint32_t)round_up(sizeof(slot_header) + type->max_bytes, 8);
}

static uint32_t slot_header_of(const pastset_type *type, bool single_writer)
{
    return is_bare(type, single_writer) ? 0 : sizeof(slot_header);
}

/* Where the kernel has no membarrier, several may write. */
static bool has_one_writer(const pastset_element_options *options)
{
    return options->single_writer && pastset_fence_init();
}

int pastset__element_check(const pastset_element_options *options)
{
    uint32_t stride;

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
    stride = stride_of(options->type, has_one_writer(options));
    if (options->capacity >= SLOT_BYTES_MAX / stride)
        return pastset_fail(
            PASTSET_ENOSPC, "element \"%s\": %llu tuples are too many",
            options->name, (unsigned long long)options->capacity);
    return 0;
}

/* Writes the fixed part of the header. */
static void header_fill(element_header *header, uint64_t data_offset,
                        const pastset_element_options *options)
{
    const pastset_type *type = options->type;
    bool single_writer = has_one_writer(options);

    strcpy(header->name, options->name);
    strcpy(header->type, type->text);
    header->policy = options->policy;
    header->single_writer = single_writer;
    header->capacity = options->capacity;
    header->slots = options->capacity + 1;
    header->slot_header_bytes = slot_header_of(type, single_writer);
    header->stride_bytes = stride_of(type, single_writer);
    header->data_offset = data_offset;
    atomic_store_explicit(&header->state, ELEMENT_LIVE, memory_order_relaxed);
}

static pastset_element *handle_new(void)
{
    pastset_element *element =
        aligned_alloc(64, round_up(sizeof(*element), 64));

    if (element)
        memset(element, 0, sizeof(*element));
    return element;
}

static bool is_on_demand(const pastset_element_options *options)
{
    return options->policy == PASTSET_GROW ||
           (options->on_demand && !options->prefault);
}

/* Without one the element grows as others do. */
static void first_block_take(pastset_element *element)
{
    uint64_t data_offset = element->header->data_offset;

    if (!pastset__space_has_blocks(element->space) ||
        pastset__space_commit(element->space, data_offset, PASTSET__BLOCK,
                              false) != 0)
        return;
    pastset__space_touch(element->space, data_offset, PASTSET__BLOCK);
    element->committed_bytes = element->touched_bytes = PASTSET__BLOCK;
    element->committed = element->touched =
        PASTSET__BLOCK / element->stride_bytes;
}

/* Lays the element out at `offset`, where it has memory. */
static int element_init(pastset_element *element, pastset_space *space,
                        const pastset_element_options *options, uint64_t offset,
                        uint64_t data_offset, bool has_first_block)
{
    element_header *header = pastset__space_at(space, offset);
    int err;

    header_fill(header, data_offset, options);
    err = handle_fill(element, space, header);
    if (err)
        return err;
    element->prefault = options->prefault;
    if (has_first_block)
        first_block_take(element);
    if (is_on_demand(options) && element->committed == 0) {
        element->touched = TOUCH_MIN / element->stride_bytes + 1;
        err = pastset__element_grow(element);
        if (element->touched > element->committed)
            element->touched = element->committed;
        element->touched_bytes = element->touched * element->stride_bytes;
    } else if (!is_on_demand(options)) {
        element->committed = element->touched = element->slots;
        element->committed_bytes = element->touched_bytes =
            element->slots * element->stride_bytes;
    }
    if (!is_on_demand(options) && options->prefault)
        err = pastset__space_commit(space, offset,
                                    pastset__element_header_bytes() +
                                        element->slots * element->stride_bytes,
                                    true);
    if (!err)
        pastset__element_set_free(element);
    return err;
}

/* Of an element that is large anyway. */
static bool wants_first_block(const pastset_element_options *options,
                              uint64_t data_bytes)
{
    return options->first_block && is_on_demand(options) &&
           data_bytes >= FIRST_BLOCK_MIN;
}

int pastset__element_create(pastset_element **out, pastset_space *space,
                            const pastset_element_options *options)
{
    uint64_t header_bytes = pastset__element_header_bytes(), offset, data;
    uint64_t bytes =
        header_bytes + (options->capacity + 1) *
                           stride_of(options->type, has_one_writer(options));
    bool has_block = wants_first_block(options, bytes - header_bytes);
    uint64_t now_bytes = is_on_demand(options) ? header_bytes : bytes;
    int err = PASTSET_ENOSPC;

    *out = handle_new();
    if (!*out)
        return pastset_no_memory("for an element");
    if (has_block) /* the data may begin so much later */
        err = pastset__space_allocate(space, bytes + PASTSET__BLOCK, now_bytes,
                                      &offset);
    if (err) {
        has_block = false;
        err = pastset__space_allocate(space, bytes, now_bytes, &offset);
    }
    if (err)
        return err;
    data = offset + header_bytes;
    if (has_block)
        data = round_up(data, PASTSET__BLOCK);
    return element_init(*out, space, options, offset, data, has_block);
}

/* Does the header describe slots that lie within what is mapped of the space?
 * Everything in it may be garbage. */
static int layout_check(pastset_space *space, const element_header *header,
                        const pastset_type *type)
{
    bool single_writer = header->single_writer != 0;
    uint64_t used = pastset_space_used_bytes(space);

    if (used > space->mapped_bytes)
        used = space->mapped_bytes;
    if (header->policy > PASTSET_GROW ||
        header->slot_header_bytes != slot_header_of(type, single_writer) ||
        header->stride_bytes != stride_of(type, single_writer) ||
        header->data_offset % 8)
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its layout contradicts its type");
    if (header->capacity == 0 ||
        header->capacity >= SLOT_BYTES_MAX / header->stride_bytes ||
        header->slots != header->capacity + 1 || header->data_offset > used ||
        header->slots * header->stride_bytes > used - header->data_offset ||
        !pastset__space_readable(space, header->data_offset, 0))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its slots lie outside of the file");
    return 0;
}

/* Can it have come to these counts? */
static int counts_check(const element_header *header)
{
    ledger_values values;
    uint64_t last, gone = 0;

    pastset__ledger_load(header, &values, &last);
    for (int i = 0; i < GONE_REASONS; i++) {
        if (values.gone[i] > last - gone)
            goto damaged;
        gone += values.gone[i];
    }
    /* Above First only takes leave holes, where slots can be marked. Beyond the
     * capacity writes only a writer that takes no lock. */
    if ((header->single_writer ? values.first == gone : values.first <= gone) &&
        ((header->single_writer && header->policy == PASTSET_DISCARD) ||
         last - values.first <= header->capacity))
        return 0;
damaged:
    return pastset_fail(PASTSET_EFORMAT,
                        "damaged: its counters contradict each other");
}

static int header_check(pastset_space *space, const element_header *header)
{
    pastset_type type;
    int err;

    if (!memchr(header->name, 0, sizeof(header->name)) ||
        !memchr(header->type, 0, sizeof(header->type)))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: its name or type does not end");
    if (pastset_type_parse(&type, header->type) != 0)
        return pastset_fail_while(PASTSET_EFORMAT, "damaged");
    err = layout_check(space, header, &type);
    return err ? err : counts_check(header);
}

int pastset__element_attach(pastset_element **out, pastset_space *space,
                            uint64_t offset)
{
    element_header *header;
    pastset_element *element;
    int err;

    if (offset % 64 || !pastset__space_readable(space, offset, sizeof(*header)))
        return pastset_fail(PASTSET_EFORMAT,
                            "damaged: offset %llu lies outside of the file",
                            (unsigned long long)offset);
    header = pastset__space_at(space, offset);
    err = header_check(space, header);
    if (err)
        return err;
    element = handle_new();
    if (!element)
        return pastset_no_memory("for an element");
    element->read_only = true;
    err = handle_fill(element, space, header);
    if (err) {
        pastset__element_destroy(element);
        return err;
    }
    *out = element;
    return 0;
}

/* How much of the data is before the first block that begins at `from` or
 * behind it. */
static uint64_t block_from(const pastset_element *element, uint64_t from)
{
    uint64_t data_offset = element->header->data_offset;

    return round_up(data_offset + from, PASTSET__BLOCK) - data_offset;
}

int pastset__element_grow(pastset_element *element)
{
    uint64_t bytes = element->slots * element->stride_bytes;
    uint64_t from = element->committed_bytes;
    uint64_t until = from + (from < GROW_MIN   ? GROW_MIN
                             : from > GROW_MAX ? GROW_MAX
                                               : from);
    int err;

    if (until - from >= PASTSET__BLOCK)
        until = block_from(element, until);
    if (until > bytes)
        until = bytes;
    if (until == from)
        return 0;
    err = pastset__space_commit(element->space,
                                element->header->data_offset + from,
                                until - from, element->prefault);
    if (err)
        return pastset_fail_while(err, "growing element \"%s\"",
                                  element->header->name);
    element->committed_bytes = until;
    element->committed = until / element->stride_bytes;
    if (element->prefault) {
        element->touched = element->committed;
        element->touched_bytes = element->committed_bytes;
    }
    return 0;
}

void pastset__element_touch(pastset_element *element)
{
    uint64_t from = element->touched_bytes;
    uint64_t until = from + (from < TOUCH_MIN   ? TOUCH_MIN
                             : from > TOUCH_MAX ? TOUCH_MAX
                                                : from);

    if (from >= PASTSET__BLOCK && pastset__space_has_blocks(element->space)) {
        uint64_t block = block_from(element, from);
        if (block == from && from + PASTSET__BLOCK <= element->committed_bytes)
            until = from + PASTSET__BLOCK;
        else if (block != from && until > block)
            until = block;
    }
    if (until > element->committed_bytes)
        until = element->committed_bytes;
    pastset__space_touch(element->space, element->header->data_offset + from,
                         until - from);
    element->touched_bytes = until;
    element->touched = until / element->stride_bytes;
}

void pastset__element_set_free(pastset_element *element)
{
    uint64_t first = first_of(element->header);
    uint64_t until = UINT64_MAX;

    if (element->policy == PASTSET_BLOCK)
        until = first + element->delta;
    if (element->policy == PASTSET_GROW)
        until = first + element->capacity;
    if (element->touched < element->slots && element->touched < until)
        until = element->touched;
    if (element->deleted || element->held)
        until = 0;
    /* Release: pairs with the acquire in pastset_append_begin(). */
    atomic_store_explicit(&element->appender.free_until, until,
                          memory_order_release);
}

int pastset__deleted(const pastset_element *element)
{
    return pastset_fail(PASTSET_EDELETED, "element \"%s\" was deleted",
                        element->header->name);
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

void pastset__ledger_load(const element_header *header, ledger_values *out,
                          uint64_t *last)
{
    uint64_t version;

    do {
        /* Acquire: pairs with the release in ledger_store(). */
        version = atomic_load_explicit(&header->version, memory_order_acquire);
        const element_ledger *from = &header->ledgers[version % 2];
        out->first = atomic_load_explicit(&from->first, memory_order_relaxed);
        out->hole = 0; /* marked by now, or none of the caller's business */
        for (int i = 0; i < GONE_REASONS; i++)
            out->gone[i] =
                atomic_load_explicit(&from->gone[i], memory_order_relaxed);
        *last = atomic_load_explicit(&header->last, memory_order_acquire);
        /* Acquire: pairs with the release fence in ledger_store(). */
        pastset__fence(memory_order_acquire);
    } while (atomic_load_explicit(&header->version, memory_order_relaxed) !=
             version);
}

void pastset_element_ledger(pastset_element *element, pastset_ledger *out)
{
    const element_header *header = element->header;
    ledger_values values;
    uint64_t last;

    pastset__ledger_load(header, &values, &last);
    out->written = last;
    out->read = atomic_load_explicit(&header->reads, memory_order_relaxed);
    out->refused = atomic_load_explicit(&header->refused, memory_order_relaxed);
    out->starved = atomic_load_explicit(&header->starved, memory_order_relaxed);
    out->blocked_ns =
        atomic_load_explicit(&header->blocked_ns, memory_order_relaxed);
    out->consumed = values.gone[GONE_CONSUMED];
    out->truncated = values.gone[GONE_TRUNCATED];
    out->dropped = values.gone[GONE_DROPPED];
    out->first = values.first;
    if (last > element->capacity && last - element->capacity > values.first) {
        /* Discarded by a writer that takes no lock. */
        out->first = last - element->capacity;
        out->dropped += out->first - values.first;
    }
    out->present = last - out->consumed - out->truncated - out->dropped;
}

void pastset_element_set_remark(pastset_element *element, uint64_t remark)
{
    atomic_store_explicit(&element->header->remark, remark,
                          memory_order_relaxed);
}

uint64_t pastset_element_remark(const pastset_element *element)
{
    return atomic_load_explicit(&element->header->remark, memory_order_relaxed);
}

void pastset_element_refuse(pastset_element *element, int64_t writes,
                            int status)
{
    if (status == PASTSET_ENOSPC)
        atomic_fetch_add_explicit(&element->header->starved, (uint64_t)writes,
                                  memory_order_relaxed);
    atomic_fetch_add_explicit(&element->header->refused, (uint64_t)writes,
                              memory_order_relaxed);
}

void pastset_element_expect(pastset_element *element)
{
    pastset_line_expect(&element->appender);
    pastset_line_expect(&element->header->last);
    if (element->single_writer)
        return; /* that is all it writes, but for the slot */
    pastset_line_expect(&element->lock);
    pastset_line_expect(&element->held);
    pastset_line_expect(&element->header->version);
    pastset_line_expect(&element->header->ledgers[0]);
    pastset_line_expect(&element->header->ledgers[1]);
}
