/* archive_take.c - what is known of an archive that is open for reading: its
 * streams and blocks, some 90 bytes for each, and what is wrong with it. */
#include "scopes/archive/archive_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

/* --- what is wrong --- */

void scopes__archive_problem_compose(scopes_archive *a)
{
    snprintf(a->problem, sizeof(a->problem), "%s%s%s", a->damage,
             *a->damage && *a->tail ? "; " : "", a->tail);
}

void scopes__archive_damage(scopes_archive *a, const char *format, ...)
{
    static const char more[] = "; and more";
    size_t used = strlen(a->damage),
           capacity = sizeof(a->damage) - sizeof(more);
    va_list arguments;
    int length;

    if (used >= capacity) /* `more` was said */
        return;
    used += (size_t)snprintf(a->damage + used, sizeof(a->damage) - used, "%s",
                             used ? "; " : "");
    va_start(arguments, format);
    length = vsnprintf(a->damage + used, sizeof(a->damage) - used, format,
                       arguments);
    va_end(arguments);
    if (length < 0 || used + (size_t)length >= capacity)
        memcpy(a->damage + capacity, more, sizeof(more));
    scopes__archive_problem_compose(a);
}

/* --- taking in blocks --- */

static int stream_add(scopes_archive *a, const char *name)
{
    uint32_t number = a->names.count;
    archive_stream *more =
        pastset_array_grow(a->streams, number, sizeof(*more));
    int err;

    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for its streams",
                            a->file);
    a->streams = more;
    err = scopes__archive_name_add(&a->names, name);
    if (!err)
        more[number] = (archive_stream){.shown.name = a->names.names[number]};
    return err;
}

static int stream_get(scopes_archive *a, const char *name, archive_stream **out)
{
    uint32_t number = scopes__archive_name_find(&a->names, name);
    int err = 0;

    if (number == UINT32_MAX) {
        number = a->names.count;
        err = stream_add(a, name);
    }
    *out = err ? NULL : &a->streams[number];
    return err;
}

static int block_no_memory(const scopes_archive *a, uint32_t count)
{
    return pastset_fail(PASTSET_ENOMEM, "%s: no memory for %u blocks", a->file,
                        count + 1);
}

/* Makes room for one more block, of the archive and of the stream. */
static int blocks_grow(scopes_archive *a, archive_stream *l)
{
    scopes_archive_block *blocks =
        pastset_array_grow(a->blocks, a->block_count, sizeof(*blocks));
    archive_content *contents;
    uint32_t *of_stream;

    if (!blocks)
        return block_no_memory(a, a->block_count);
    a->blocks = blocks;
    contents =
        pastset_array_grow(a->contents, a->block_count, sizeof(*contents));
    if (!contents)
        return block_no_memory(a, a->block_count);
    a->contents = contents;
    of_stream = pastset_array_grow(l->blocks, l->count, sizeof(*of_stream));
    if (!of_stream)
        return block_no_memory(a, l->count);
    l->blocks = of_stream;
    return 0;
}

/* Tuples from `next` to `to` that are not there and that the writer has not
 * lost stood in blocks that are damaged. `lost`: by the writer, so far. */
static void gap_note(scopes_archive *a, const archive_stream *l, uint64_t to,
                     uint64_t lost)
{
    uint64_t gap = to - l->shown.next;
    uint64_t known = lost > l->lost ? lost - l->lost : 0;

    if (known < gap)
        scopes__archive_damage(
            a, "lost by damage: %llu tuples of stream %s from %llu to %llu",
            (unsigned long long)(gap - known), l->shown.name,
            (unsigned long long)l->shown.next, (unsigned long long)to - 1);
}

static int tuples_take(scopes_archive *a, archive_stream *l,
                       const archive_block *b)
{
    uint64_t index = b->numbers[TUPLES_INDEX];
    int err = blocks_grow(a, l);

    if (err)
        return err;
    if (index < l->shown.next) {
        scopes__archive_damage(
            a, "byte %llu: tuples of stream %s repeated, left out",
            (unsigned long long)b->offset, l->shown.name);
        return 0;
    }
    gap_note(a, l, index, b->numbers[TUPLES_LOST]);
    a->blocks[a->block_count] = (scopes_archive_block){
        .stream = (size_t)(l - a->streams),
        .index = index,
        .count = b->count,
        .from_ticks = b->numbers[TUPLES_FROM_TICKS],
        .to_ticks = b->numbers[TUPLES_TO_TICKS],
        .from_thread = b->from_thread,
        .to_thread = b->to_thread,
        .from_collector = b->from_collector,
        .to_collector = b->to_collector,
        .offset = b->offset,
    };
    a->contents[a->block_count] =
        (archive_content){b->packed, b->raw, b->sum, false};
    l->blocks[l->count++] = a->block_count++;
    l->shown.tuples += b->count;
    l->shown.next = index + b->count;
    l->lost = b->numbers[TUPLES_LOST];
    if (l->shown.written < l->shown.next)
        l->shown.written = l->shown.next;
    return 0;
}

static void end_take(scopes_archive *a, archive_stream *l,
                     const archive_block *b)
{
    uint64_t written = b->numbers[END_WRITTEN];

    if (written > l->shown.next)
        gap_note(a, l, written, b->numbers[END_LOST]);
    if (written > l->shown.written)
        l->shown.written = written;
    if (b->numbers[END_REFUSED] > l->shown.refused)
        l->shown.refused = b->numbers[END_REFUSED];
}

static int block_note(scopes_archive *a, const archive_block *b)
{
    archive_stream *l = NULL;
    int err;

    if (b->kind == ARCHIVE_COST) {
        a->cost = (scopes_archive_cost){
            b->numbers[COST_TUPLES], b->numbers[COST_BYTES],
            b->numbers[COST_PROCESSOR], b->numbers[COST_PULLS],
            b->numbers[COST_ELAPSED]};
        return 0;
    }
    if (b->kind == ARCHIVE_INDEX) {
        a->index = b->offset;
        return 0;
    }
    err = stream_get(a, b->stream, &l);
    if (err)
        return err;
    if (b->kind == ARCHIVE_TUPLES)
        return tuples_take(a, l, b);
    end_take(a, l, b);
    return 0;
}

int scopes__archive_take(scopes_archive *a, const archive_block *b)
{
    int err = block_note(a, b);

    if (!err)
        a->at = b->offset + ARCHIVE_BLOCK_BYTES + b->packed;
    return err;
}
