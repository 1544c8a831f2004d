/* cursor.c - reading streams from archives and spaces as if they were one.
 *
 * A walk goes through the indexes of a stream from 0 to its end, which is fixed
 * when it begins. Where a block of the archive begins, it is read, or passed
 * over by what its head says; everything between blocks is asked of the space.
 * What neither has is lost: so recorded = read + lost + filtered holds by
 * construction, whatever else goes on.
 *
 * While a run goes on, a tuple may leave its trace element after the archive
 * was looked at and before the walk comes to it. It was archived before, so at
 * a gap behind the last block known the archive is looked at again.
 *
 * Streams are in the order of the ends, since a tuple is written when its
 * operation comes up. So the first tuple of a window is found by bisecting. Its
 * last need not be the last that ended within it, as an operation that came up
 * late may have begun within it; but none that ended later than the longest of
 * the stream takes has, and the first of these is found by bisecting, too.
 * Where nobody has said how long that is, what follows is looked through. In an
 * archive, heads of blocks say that.
 *
 * The walk moves its index before it gives a batch, so it can stop there and go
 * on later. Where it stands is all in the struct: in which process (`process`),
 * in which of its streams (`stream_next`), at which tuple (`index`), and how
 * far the space is to be asked (`stop`). */
#include "scopes/reading/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/archive/archive.h"
#include "scopes/reading/reading_internal.h"

/* Tuples that are read from a stream at a time: 144 KiB, which stay in the
 * cache until they have been looked at. */
#define STREAM_TUPLES 4096

struct scopes_cursor {
    scopes_source *source;
    const scopes_filter *filter;
    eventspace_trace *buffer; /* SCOPES_ARCHIVE_BLOCK tuples */
    bool borrows;             /* batches may be borrowed */
    size_t process_next, process_end;
    scopes_ledger ledger; /* of the streams that are behind it */

    /* The process that it is in. */
    size_t process;
    uint64_t from, to;          /* ticks; 0 and UINT64_MAX: at any time */
    bool all;                   /* every tuple is wanted */
    scopes_archive *archive;    /* NULL: none */
    eventspace_stream *streams; /* of its spaces; NULL: none */
    size_t stream_count;
    size_t stream_next; /* those of the archive only follow */
    bool *visited;      /* streams of the archive; NULL: none */
    size_t archived;    /* how many these are */

    /* The stream that it is in. */
    bool in_stream;
    eventspace_stream stream; /* both elements NULL: the archive's only */
    eventspace_stream_counts counts;
    size_t in_archive; /* SIZE_MAX: it is not */
    size_t block;      /* the next of its blocks */
    uint64_t index;    /* the next tuple */
    uint64_t stop;     /* up to here the stream itself is read */
    uint64_t end, read, filtered;
};

typedef struct scopes_cursor walk;

/* --- giving --- */

static bool is_wanted(const walk *w, const eventspace_trace *event)
{
    const scopes_filter *filter = w->filter;

    return event->end >= w->from && event->start <= w->to &&
           (!filter->threads ||
            paths_number_list_has(filter->threads, event->thread)) &&
           (!filter->collectors ||
            (event->collector < filter->collector_count &&
             filter->collectors[event->collector]));
}

/* Moves what is wanted to the front; gives how many these are, and where the
 * first of them was. */
static size_t sift(const walk *w, eventspace_trace *events, size_t count,
                   size_t *first)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(w, &events[i]))
            continue;
        if (kept == 0)
            *first = i;
        events[kept++] = events[i];
    }
    return kept;
}

/* Tells a batch without a gap that begins at the walk's index, of which `kept`
 * are wanted, and goes on behind it. */
static void told(walk *w, scopes_batch *out, const eventspace_trace *events,
                 size_t count, size_t kept, size_t first)
{
    *out = (scopes_batch){.process = w->process,
                          .stream = w->stream.name,
                          .index = w->index + first,
                          .events = events,
                          .count = kept};
    w->index += count;
    w->read += kept;
    w->filtered += count - kept;
}

/* Gives what is wanted of tuples in the buffer. */
static void give(walk *w, scopes_batch *out, eventspace_trace *events,
                 size_t count)
{
    size_t first = 0;
    size_t kept = w->all ? count : sift(w, events, count, &first);

    told(w, out, events, count, kept, first);
}

/* Gives what is wanted of tuples that were borrowed. If that is all that
 * is between the first and the last of them, they need not be copied. */
static void give_borrowed(walk *w, scopes_batch *out,
                          const eventspace_trace *events, size_t count)
{
    size_t first = 0, last = count, kept = count;

    if (!w->all) {
        while (first < count && !is_wanted(w, &events[first]))
            first++;
        for (last = first; last < count && is_wanted(w, &events[last]);)
            last++;
        kept = last - first;
        while (last < count && !is_wanted(w, &events[last]))
            last++;
    }
    if (last < count) {
        memcpy(w->buffer, events, count * sizeof(*events));
        give(w, out, w->buffer, count);
        return;
    }
    told(w, out, events + first, count, kept, first);
    out->borrowed = &w->stream;
}

/* --- from spaces --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How many tuples with an index from `from` to below `to` the stream has. */
static uint64_t stream_has(const walk *w, uint64_t from, uint64_t to)
{
    uint64_t drained = smaller(to, w->counts.drained);
    uint64_t begin = larger(from, larger(w->counts.first, w->counts.drained));
    uint64_t end = smaller(to, w->counts.written);

    return (drained > from ? drained - from : 0) +
           (end > begin ? end - begin : 0);
}

/* The first tuple from the walk's index on, and below `stop`, that ended at
 * `ticks` or later, or `stop`. False: the file is damaged. */
static bool find(walk *w, uint64_t ticks, uint64_t stop, uint64_t *found)
{
    uint64_t low = w->index, high = stop;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2, at = middle;
        eventspace_trace event;
        size_t count;
        int err = eventspace_stream_read(&w->stream, &at, &event, 1, &count);
        if (err && err != PASTSET_EAGAIN)
            return false;
        if (err || at >= high || event.end >= ticks)
            high = middle;
        else
            low = at + 1;
    }
    *found = low;
    return true;
}

/* Passes over what no tuple of the window can be in. */
static void skip(walk *w, uint64_t to)
{
    w->filtered += stream_has(w, w->index, to);
    w->index = to;
}

/* Goes on to the first tuple that ended when the window had begun, and gives
 * the first of those that began, and therefore ended, too late for it. */
static uint64_t window_find(walk *w, uint64_t stop)
{
    uint64_t longest = eventspace_stream_longest(&w->stream), found;

    if (w->from > 0 && find(w, w->from, stop, &found))
        skip(w, found);
    if (w->to >= UINT64_MAX - longest ||
        !find(w, w->to + longest + 1, stop, &found))
        return stop;
    if (found > w->index)
        return found;
    skip(w, stop);
    return stop;
}

static bool block_next(walk *w, scopes_archive_block *block);

/* The walk is at a gap behind the last block: has the archive come by now? */
static bool is_archived(walk *w)
{
    scopes_archive_block block;

    if (!w->archive || block_next(w, &block))
        return false;
    if (scopes_archive_refresh(w->archive) != 0)
        return false;
    if (w->in_archive == SIZE_MAX)
        w->in_archive = scopes_archive_find(w->archive, w->stream.name);
    return block_next(w, &block) && block.index < w->end;
}

/* The stream does not have what the walk has come to. */
static bool is_gap(const walk *w)
{
    eventspace_stream_counts counts;

    eventspace_stream_count(&w->stream, &counts);
    return w->index >= counts.drained && w->index < counts.first;
}

/* From the walk's index up to `stop` the stream itself is to be read, but for
 * what the archive has after all. */
static void stream_begin(walk *w, uint64_t stop)
{
    if (!w->stream.present && !w->stream.drained) {
        w->index = stop;
        return;
    }
    if (w->from > 0 || w->to < UINT64_MAX) {
        if (is_gap(w) && is_archived(w))
            return;
        stop = window_find(w, stop);
    }
    w->stop = stop;
}

/* Gives what is next in the stream without copying it, if that can be and there
 * is no archive to be asked. */
static bool stream_borrow(walk *w, scopes_batch *out)
{
    uint64_t max = w->stop - w->index, count;
    const eventspace_trace *events;

    if (!w->borrows || w->archive)
        return false;
    if (!w->all)
        max = smaller(STREAM_TUPLES, max);
    events = eventspace_stream_borrow(&w->stream, w->index, max, &count);
    if (events)
        give_borrowed(w, out, events, count);
    return events;
}

/* Reads on in the stream itself. Stops there where the archive has more. */
static void stream_read(walk *w, scopes_batch *out)
{
    uint64_t at = w->index;
    size_t count;
    int err;

    if (stream_borrow(w, out))
        return;
    err = eventspace_stream_read(&w->stream, &at, w->buffer,
                                 smaller(STREAM_TUPLES, w->stop - at), &count);

    if (err && err != PASTSET_EAGAIN)
        eventspace_run_note(w->source->run, w->process, "trace element %s: %s",
                            w->stream.name, pastset_error());
    if ((err || at > w->index) && is_archived(w)) {
        w->stop = w->index;
        return;
    }
    if (err && err != PASTSET_EFORMAT)
        at = w->stop;
    w->index = smaller(at, w->stop);
    give(w, out, w->buffer, smaller(count, w->stop - w->index));
}

/* --- from archives --- */

/* The first block of the stream that is not behind the walk. */
static bool block_next(walk *w, scopes_archive_block *block)
{
    const uint32_t *blocks;
    size_t count;

    if (w->in_archive == SIZE_MAX)
        return false;
    blocks = scopes_archive_stream_blocks(w->archive, w->in_archive, &count);
    for (; w->block < count; w->block++) {
        *block = *scopes_archive_block_at(w->archive, blocks[w->block]);
        if (block->index + block->count > w->index)
            return true;
    }
    return false;
}

static bool block_filter(const walk *w, const scopes_archive_block *block)
{
    const scopes_filter *filter = w->filter;

    if (block->to_ticks < w->from || block->from_ticks > w->to)
        return false;
    if (filter->threads &&
        !paths_number_list_meets(filter->threads, block->from_thread,
                                 block->to_thread))
        return false;
    if (!filter->collectors)
        return true;
    for (uint32_t i = block->from_collector;
         i <= block->to_collector && i < filter->collector_count; i++) {
        if (filter->collectors[i])
            return true;
    }
    return false;
}

/* Gives a block's tuples from the walk's index on. */
static void block_give(walk *w, scopes_batch *out,
                       const scopes_archive_block *block)
{
    uint64_t stop = smaller(block->index + block->count, w->end);
    const uint32_t *blocks;
    size_t count;

    w->block++;
    if (!block_filter(w, block)) {
        w->filtered += stop - w->index;
        w->index = stop;
        return;
    }
    blocks = scopes_archive_stream_blocks(w->archive, w->in_archive, &count);
    if (scopes_archive_read(w->archive, blocks[w->block - 1], w->buffer) != 0) {
        eventspace_run_note(w->source->run, w->process, "%s", pastset_error());
        stream_begin(w, stop); /* it may still be there */
        return;
    }
    give(w, out, w->buffer + (w->index - block->index), stop - w->index);
}

/* --- a stream --- */

/* Adds the stream's counts: `all` of it, or as far as it was walked. */
static void stream_account(const walk *w, bool all, scopes_ledger *ledger)
{
    uint64_t lost = w->end - w->read - w->filtered + w->counts.refused;

    ledger->read += w->read;
    ledger->filtered += w->filtered;
    ledger->lost += all ? lost : 0;
    ledger->recorded += w->read + w->filtered + (all ? lost : 0);
}

/* What the archive says of a stream counts as well as what the stream does. */
static void stream_enter(walk *w, size_t in_archive)
{
    w->index = w->stop = w->read = w->filtered = 0;
    w->block = 0;
    w->in_stream = true;
    w->in_archive = in_archive;
    if (in_archive != SIZE_MAX) {
        const scopes_archive_stream *stream =
            scopes_archive_stream_at(w->archive, in_archive);
        w->end = larger(w->end, larger(stream->written, stream->next));
        w->counts.refused = larger(w->counts.refused, stream->refused);
        if (in_archive < w->archived)
            w->visited[in_archive] = true;
    }
}

/* One step: to the next tuples, or to the end of the stream. */
static void stream_walk(walk *w, scopes_batch *out)
{
    scopes_archive_block block;
    bool some;

    if (w->index >= w->end) {
        stream_account(w, true, &w->ledger);
        w->in_stream = false;
        return;
    }
    if (w->index < w->stop) {
        stream_read(w, out);
        return;
    }
    some = block_next(w, &block);
    if (some && block.index <= w->index)
        block_give(w, out, &block);
    else
        stream_begin(w, some ? smaller(block.index, w->end) : w->end);
}

/* --- a process --- */

/* The next stream of the spaces. */
static void stream_of_run(walk *w)
{
    size_t in_archive = SIZE_MAX;

    w->stream = w->streams[w->stream_next++];
    eventspace_stream_count(&w->stream, &w->counts);
    w->end = w->counts.written;
    if (w->archive)
        in_archive = scopes_archive_find(w->archive, w->stream.name);
    stream_enter(w, in_archive);
}

/* The next of those that only the archive knows. */
static void stream_of_archive(walk *w)
{
    size_t i = w->stream_next++ - w->stream_count;

    if (w->visited[i])
        return;
    w->stream = (eventspace_stream){
        .name = scopes_archive_stream_at(w->archive, i)->name};
    w->counts = (eventspace_stream_counts){0};
    w->end = 0;
    stream_enter(w, i);
}

static int stream_keep(const eventspace_stream *stream, void *context)
{
    walk *w = context;
    eventspace_stream *more =
        pastset_array_grow(w->streams, w->stream_count, sizeof(*more));

    if (!more)
        return pastset_no_memory("for %zu streams", w->stream_count);
    w->streams = more;
    w->streams[w->stream_count++] = *stream;
    return 0;
}

static int process_enter(walk *w)
{
    const scopes_filter *filter = w->filter;

    w->process = w->process_next++;
    w->from = filter->from_ticks ? filter->from_ticks[w->process] : 0;
    w->to = filter->to_ticks ? filter->to_ticks[w->process] : UINT64_MAX;
    w->all = w->from == 0 && w->to == UINT64_MAX && !filter->collectors &&
             !filter->threads;
    w->archive = w->source->archives[w->process];
    w->archived = w->archive ? scopes_archive_streams(w->archive) : 0;
    w->stream_count = w->stream_next = 0;
    free(w->visited);
    w->visited = NULL;
    if (w->archived > 0) {
        w->visited = calloc(w->archived, sizeof(*w->visited));
        if (!w->visited)
            return pastset_no_memory("for %zu streams", w->archived);
    }
    return eventspace_run_streams_each(w->source->run, w->process, stream_keep,
                                       w);
}

/* --- the cursor --- */

int scopes_cursor_next(scopes_cursor *cursor, scopes_batch *out)
{
    int err = 0;

    *out = (scopes_batch){0};
    while (!err && out->count == 0) {
        if (cursor->in_stream)
            stream_walk(cursor, out);
        else if (cursor->stream_next < cursor->stream_count)
            stream_of_run(cursor);
        else if (cursor->stream_next < cursor->stream_count + cursor->archived)
            stream_of_archive(cursor);
        else if (cursor->process_next < cursor->process_end)
            err = process_enter(cursor);
        else
            err = PASTSET_EAGAIN;
    }
    return err;
}

void scopes_cursor_ledger(const scopes_cursor *cursor, scopes_ledger *ledger)
{
    ledger->recorded += cursor->ledger.recorded;
    ledger->read += cursor->ledger.read;
    ledger->lost += cursor->ledger.lost;
    ledger->filtered += cursor->ledger.filtered;
    if (cursor->in_stream)
        stream_account(cursor, false, ledger);
}

/* A buffer that a cursor before this one has left, or a new one. */
static eventspace_trace *buffer_take(scopes_source *source)
{
    eventspace_trace *buffer = atomic_exchange(&source->spare, NULL);

    return buffer ? buffer : malloc(SCOPES_ARCHIVE_BLOCK * sizeof(*buffer));
}

static void buffer_leave(scopes_source *source, eventspace_trace *buffer)
{
    free(atomic_exchange(&source->spare, buffer));
}

int scopes__cursor_open(scopes_cursor **out, scopes_source *source,
                        const scopes_filter *filter, size_t process,
                        size_t count)
{
    static const scopes_filter everything;
    size_t processes = eventspace_run_process_count(source->run);
    scopes_cursor *cursor;

    *out = NULL;
    if (process > processes || count > processes - process)
        return pastset_fail(PASTSET_EINVAL, "%s: no process number %zu",
                            eventspace_run_directory(source->run), process);
    cursor = calloc(1, sizeof(*cursor));
    if (cursor) {
        cursor->source = source;
        cursor->filter = filter ? filter : &everything;
        cursor->process_next = process;
        cursor->process_end = process + count;
        cursor->buffer = buffer_take(source);
    }
    if (!cursor || !cursor->buffer) {
        free(cursor);
        return pastset_no_memory("to read events");
    }
    *out = cursor;
    return 0;
}

void scopes__cursor_borrow(scopes_cursor *cursor)
{
    cursor->borrows = true;
}

int scopes_cursor_open(scopes_cursor **out, scopes_source *source,
                       const scopes_filter *filter)
{
    return scopes__cursor_open(out, source, filter, 0,
                               eventspace_run_process_count(source->run));
}

void scopes_cursor_close(scopes_cursor *cursor)
{
    if (!cursor)
        return;
    buffer_leave(cursor->source, cursor->buffer);
    free(cursor->streams);
    free(cursor->visited);
    free(cursor);
}
