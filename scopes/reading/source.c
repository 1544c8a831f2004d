/* source.c - reading streams from archives and spaces as if they were one.
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
 * operation comes up. So the first tuple of a window is found by bisecting; its
 * last is not, as an operation that came up late may have begun within it:
 * what follows is looked through. In an archive, heads of blocks say that. */
#include "scopes/reading/source.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/archive/archive.h"
#include "scopes/reading/reading_internal.h"

/* Tuples that are read from a stream at a time: 144 KiB, which stay in the
 * cache until they have been looked at. */
#define STREAM_TUPLES 4096

struct scopes_source {
    eventspace_run *run;
    scopes_archive **archives; /* by process; NULL: it has none */
    eventspace_trace *buffer;  /* SCOPES_ARCHIVE_BLOCK tuples */
};

/* One walk through a process. */
typedef struct walk {
    scopes_source *source;
    size_t process;
    const scopes_filter *filter;
    uint64_t from, to; /* ticks; 0 and UINT64_MAX: at any time */
    bool all;          /* every tuple is wanted */
    uint32_t collectors;
    scopes_archive *archive; /* NULL: none */
    bool *visited;           /* streams of the archive; NULL: none */
    size_t archived;         /* how many these are */
    scopes_each *each;
    void *context;
    scopes_ledger ledger;

    /* The stream that it is in. */
    eventspace_stream stream; /* both elements NULL: the archive's only */
    eventspace_stream_counts counts;
    size_t in_archive; /* SIZE_MAX: it is not */
    size_t block;      /* the next of its blocks */
    uint64_t index;    /* the next tuple */
    uint64_t end, read, filtered;
} walk;

/* --- opening --- */

static scopes_archive *archive_open(eventspace_run *run, size_t process)
{
    const char *name = eventspace_run_process_at(run, process)->name;
    scopes_archive *archive;
    char file[4096];
    int err =
        eventspace_run_file(file, sizeof(file), eventspace_run_directory(run),
                            name, SCOPES_ARCHIVE_SUFFIX);
    if (!err)
        err = scopes_archive_open(&archive, file);
    if (!err)
        return archive;
    if (err != PASTSET_ENOENT)
        eventspace_run_note(run, process, "%s", pastset_error());
    return NULL;
}

static void archive_note(eventspace_run *run, size_t process,
                         const scopes_archive *archive)
{
    const char *problem = scopes_archive_problem(archive);
    if (*problem)
        eventspace_run_note(run, process, "%s", problem);
}

/* Opens the archives that are there now, or takes in what came to them. */
static void archives_look(scopes_source *source)
{
    size_t processes = eventspace_run_process_count(source->run);

    for (size_t i = 0; i < processes; i++) {
        scopes_archive **archive = &source->archives[i];
        if (!*archive)
            *archive = archive_open(source->run, i);
        else if (scopes_archive_refresh(*archive) != 0)
            eventspace_run_note(source->run, i, "%s", pastset_error());
        if (*archive)
            archive_note(source->run, i, *archive);
    }
}

int scopes_source_open(scopes_source **out, eventspace_run *run)
{
    size_t processes = eventspace_run_process_count(run);
    scopes_source *source = calloc(1, sizeof(*source));

    *out = NULL;
    if (source) {
        source->run = run;
        source->archives = calloc(processes + 1, sizeof(scopes_archive *));
        source->buffer = malloc(SCOPES_ARCHIVE_BLOCK * sizeof(*source->buffer));
    }
    if (!source || !source->archives || !source->buffer) {
        scopes_source_close(source);
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to read it",
                            eventspace_run_directory(run));
    }
    archives_look(source);
    *out = source;
    return 0;
}

void scopes_source_close(scopes_source *source)
{
    if (!source)
        return;
    for (size_t i = 0;
         source->archives && i < eventspace_run_process_count(source->run); i++)
        scopes_archive_close(source->archives[i]);
    free(source->archives);
    free(source->buffer);
    free(source);
}

int scopes_source_refresh(scopes_source *source)
{
    int err = eventspace_run_refresh(source->run);

    if (err)
        return err;
    archives_look(source);
    return 0;
}

eventspace_run *scopes_source_run(const scopes_source *source)
{
    return source->run;
}

bool scopes_source_at_rest(const scopes_source *source)
{
    for (size_t i = 0; i < eventspace_run_process_count(source->run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(source->run, i);
        if (source->archives[i] || (process->has_space && !process->has_meta) ||
            (process->has_meta && process->meta.state == EVENTSPACE_RUNNING))
            return false;
    }
    return true;
}

/* --- giving --- */

static bool is_wanted(const walk *w, const eventspace_trace *event)
{
    const scopes_filter *filter = w->filter;

    return event->end >= w->from && event->start <= w->to &&
           (!filter->threads ||
            paths_number_list_has(filter->threads, event->thread)) &&
           (!filter->collectors || (event->collector < w->collectors &&
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

/* Gives what is wanted of tuples without a gap that begin at the walk's index,
 * and goes on behind them. */
static int give(walk *w, eventspace_trace *events, size_t count)
{
    size_t first = 0;
    size_t kept = w->all ? count : sift(w, events, count, &first);
    scopes_batch batch = {.process = w->process,
                          .stream = w->stream.name,
                          .index = w->index + first,
                          .events = events,
                          .count = kept};

    w->index += count;
    w->read += kept;
    w->filtered += count - kept;
    return kept ? w->each(&batch, w->context) : 0;
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

/* Goes on to the first tuple that ended when the window had begun, or to
 * `stop`. */
static void window_find(walk *w, uint64_t stop)
{
    uint64_t low = w->index, high = stop;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2, at = middle;
        eventspace_trace event;
        size_t count;
        int err = eventspace_stream_read(&w->stream, &at, &event, 1, &count);
        if (err && err != PASTSET_EAGAIN)
            return; /* without help from damaged files */
        if (err || at >= high || event.end >= w->from)
            high = middle;
        else
            low = at + 1;
    }
    w->filtered += stream_has(w, w->index, low);
    w->index = low;
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

/* Gives what the stream itself has up to `stop`. Ends early where the archive
 * has more. */
static int stream_give(walk *w, uint64_t stop)
{
    if (!w->stream.present && !w->stream.drained) {
        w->index = stop;
        return 0;
    }
    if (w->from > 0) {
        if (is_gap(w) && is_archived(w))
            return 0;
        window_find(w, stop);
    }
    while (w->index < stop) {
        uint64_t at = w->index;
        size_t count;
        int err =
            eventspace_stream_read(&w->stream, &at, w->source->buffer,
                                   smaller(STREAM_TUPLES, stop - at), &count);
        if (err && err != PASTSET_EAGAIN)
            eventspace_run_note(w->source->run, w->process,
                                "trace element %s: %s", w->stream.name,
                                pastset_error());
        if ((err || at > w->index) && is_archived(w))
            return 0;
        if (err && err != PASTSET_EFORMAT)
            at = stop;
        w->index = smaller(at, stop);
        err = give(w, w->source->buffer, smaller(count, stop - w->index));
        if (err)
            return err;
    }
    return 0;
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
         i <= block->to_collector && i < w->collectors; i++) {
        if (filter->collectors[i])
            return true;
    }
    return false;
}

/* Gives a block's tuples from the walk's index on. */
static int block_give(walk *w, const scopes_archive_block *block)
{
    uint64_t stop = smaller(block->index + block->count, w->end);

    w->block++;
    if (!block_filter(w, block)) {
        w->filtered += stop - w->index;
        w->index = stop;
        return 0;
    }
    const uint32_t *blocks;
    size_t count;
    blocks = scopes_archive_stream_blocks(w->archive, w->in_archive, &count);
    if (scopes_archive_read(w->archive, blocks[w->block - 1],
                            w->source->buffer) != 0) {
        eventspace_run_note(w->source->run, w->process, "%s", pastset_error());
        return stream_give(w, stop); /* it may still be there */
    }
    return give(w, w->source->buffer + (w->index - block->index),
                stop - w->index);
}

/* --- walking --- */

/* Puts the stream's counts into the walk's ledger: `all` of it, or as far as it
 * was walked. */
static void stream_account(walk *w, bool all)
{
    uint64_t lost = w->end - w->read - w->filtered + w->counts.refused;

    w->ledger.read += w->read;
    w->ledger.filtered += w->filtered;
    w->ledger.lost += all ? lost : 0;
    w->ledger.recorded += w->read + w->filtered + (all ? lost : 0);
}

static int stream_walk(walk *w)
{
    int err = 0;

    w->index = w->read = w->filtered = 0;
    w->block = 0;
    while (!err && w->index < w->end) {
        scopes_archive_block block;
        bool some = block_next(w, &block);
        if (some && block.index <= w->index)
            err = block_give(w, &block);
        else
            err = stream_give(w, some ? smaller(block.index, w->end) : w->end);
    }
    stream_account(w, !err);
    return err;
}

/* What the archive says of a stream counts as well as what the stream does. */
static void stream_archived(walk *w, size_t in_archive)
{
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

static int stream_of_run(const eventspace_stream *stream, void *context)
{
    walk *w = context;
    size_t in_archive = SIZE_MAX;

    w->stream = *stream;
    eventspace_stream_count(&w->stream, &w->counts);
    w->end = w->counts.written;
    if (w->archive)
        in_archive = scopes_archive_find(w->archive, stream->name);
    stream_archived(w, in_archive);
    return stream_walk(w);
}

/* Streams of which only the archive knows. */
static int streams_of_archive(walk *w)
{
    int err = 0;

    for (size_t i = 0; i < w->archived && !err; i++) {
        if (w->visited[i])
            continue;
        w->stream = (eventspace_stream){
            .name = scopes_archive_stream_at(w->archive, i)->name};
        w->counts = (eventspace_stream_counts){0};
        w->end = 0;
        stream_archived(w, i);
        err = stream_walk(w);
    }
    return err;
}

static int visits_begin(walk *w)
{
    if (w->archive)
        w->archived = scopes_archive_streams(w->archive);
    if (w->archived == 0)
        return 0;
    w->visited = calloc(w->archived, sizeof(*w->visited));
    if (!w->visited)
        return pastset_no_memory("for %zu streams", w->archived);
    return 0;
}

static void ledger_add(scopes_ledger *ledger, const scopes_ledger *more)
{
    ledger->recorded += more->recorded;
    ledger->read += more->read;
    ledger->lost += more->lost;
    ledger->filtered += more->filtered;
}

int scopes_source_each(scopes_source *source, size_t process,
                       const scopes_filter *filter, scopes_each *each,
                       void *context, scopes_ledger *ledger)
{
    static const scopes_filter everything;
    walk w = {.source = source,
              .process = process,
              .filter = filter ? filter : &everything,
              .to = UINT64_MAX,
              .collectors = eventspace_run_collectors(source->run),
              .each = each,
              .context = context};
    int err;

    if (process >= eventspace_run_process_count(source->run))
        return pastset_fail(PASTSET_EINVAL, "%s: no process number %zu",
                            eventspace_run_directory(source->run), process);
    if (w.filter->from_ticks)
        w.from = w.filter->from_ticks[process];
    if (w.filter->to_ticks)
        w.to = w.filter->to_ticks[process];
    w.all = w.from == 0 && w.to == UINT64_MAX && !w.filter->collectors &&
            !w.filter->threads;
    w.archive = source->archives[process];
    err = visits_begin(&w);
    if (!err)
        err = eventspace_run_streams_each(source->run, process, stream_of_run,
                                          &w);
    if (!err)
        err = streams_of_archive(&w);
    free(w.visited);
    if (ledger)
        ledger_add(ledger, &w.ledger);
    return err;
}

static int pass_over(const scopes_batch *batch, void *context)
{
    (void)batch;
    (void)context;
    return 0;
}

int scopes_source_count(scopes_source *source, size_t process,
                        scopes_ledger *out)
{
    size_t processes = eventspace_run_process_count(scopes_source_run(source));
    uint64_t *never = malloc((processes + 1) * sizeof(*never));
    scopes_filter filter = {.from_ticks = never};
    int err;

    *out = (scopes_ledger){0};
    if (!never)
        return pastset_no_memory("for the processes");
    for (size_t i = 0; i < processes; i++)
        never[i] = UINT64_MAX;
    err = scopes_source_each(source, process, &filter, pass_over, NULL, out);
    free(never);
    out->read += out->filtered;
    out->filtered = 0;
    return err;
}
