/* timeline_json.c - a timeline as a page reads it: one JSON object.
 *
 *   fromNs, toNs  what it tells of
 *   bins          null, or {startNs, binNs, count, and texts of numbers}: of
 *                 each thread `count` bins. In ns: waiting, failed,
 *                 transferring, runnable, sleeping, critical (on the critical
 *                 path, beside the others; the rest of what the thread was
 * there is computing); operations (that begin in the bin), longest (of these,
 * ns), path (of that one, its place among the thread's), for (number of the
 * thread for which the one waited that waited longest, plus 1; 0: none did)
 *   parts         [[fromNs, toNs]]: of these the operations are there, by time
 *   operations    {baseNs, counts, and texts of numbers}: of each thread so
 *                 many. Those that reach into a part, and where there are such
 *                 the one before them, and the one behind:
 *
 *     start       ns since the start of the thread's operation before (of its
 *                 first: since baseNs)
 *     length      ns
 *     path        its place among the thread's paths
 *     step        difference to the operation before; zigzag: 0 -1 1 -2 2 ...
 *     bytes, verb, status
 *     waiting     ns of its length, at its begin, for another thread; 0: none
 *                 is known
 *     for         the number of that thread, if it waited, plus 1
 *     runnable, sleeping  ns that the thread was off the processor, at least,
 *                 between the operation before (its begin) and this one
 *
 *   links         {baseNs, count, thread, gap, length}: the critical path in
 *                 the parts: which thread, ns since the link before ended, ns
 *   inBins        how many operations are in bins only
 *
 * A text of numbers is described in pack_numbers_internal.h. */
#include "viewer/timeline/timeline_internal.h"

#include <stdlib.h>

#include "viewer/timeline/pack_numbers_internal.h"

#define WHOLE_MAX 400000 /* operations of a run that are all told */
#define PARTS_MAX 160000 /* operations of a longer one that are told */
#define BINS_MAX 300000  /* bins of all threads */
#define BINS_MIN 256     /* bins of a thread */

#define COLUMNS_MAX 16384 /* of a thread */

/* What of it is asked for. */
typedef struct levels {
    int64_t from_ns, to_ns; /* to_ns > from_ns */
    uint32_t columns;       /* bins of a thread: from 1 to COLUMNS_MAX */
    const paths_number_list *threads; /* NULL: all */
    uint64_t operations_max; /* if there are no more between these times, they
                                are told, and no bins */
    bool parts; /* and if there are more, those of the parts that matter most,
                   as many as that, beside the bins */
} levels;

typedef struct telling {
    const viewer_timeline *timeline;
    const levels *wanted;
    viewer__part parts[VIEWER__PARTS_MAX];
    int part_count;
} telling;

static bool is_wanted(const telling *t, uint32_t thread)
{
    return !t->wanted->threads ||
           paths_number_list_has(t->wanted->threads, thread);
}

/* Puts the texts into an object; false: memory is out. */
static bool put_texts(json_t *json, const char *const *names,
                      viewer__numbers *numbers, size_t count)
{
    bool ok = json != NULL;

    for (size_t i = 0; i < count; i++) {
        json_t *text = viewer__numbers_take(&numbers[i]);
        if (json_object_set_new(json, names[i], text))
            ok = false;
    }
    return ok;
}

static json_t *whole(json_t *json, bool ok)
{
    if (ok)
        return json;
    json_decref(json);
    return NULL;
}

/* --- bins --- */

enum { OPERATIONS = VIEWER__COMPUTING, LONGEST, PATH, FOR, BIN_TEXTS };

static const char *const bin_names[BIN_TEXTS] = {
    [VIEWER__WAITING] = "waiting",
    [VIEWER__TRANSFERRING] = "transferring",
    [VIEWER__FAILED] = "failed",
    [VIEWER__RUNNABLE] = "runnable",
    [VIEWER__SLEEPING] = "sleeping",
    [VIEWER__CRITICAL] = "critical",
    [OPERATIONS] = "operations",
    [LONGEST] = "longest",
    [PATH] = "path",
    [FOR] = "for"};

static uint32_t first_path(const scopes_communication *view, uint32_t thread)
{
    uint32_t low = 0, high = (uint32_t)view->path_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->paths[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_bin(viewer__numbers texts[BIN_TEXTS], const viewer__bin *bin,
                    const scopes_communication *view, uint32_t path)
{
    for (size_t i = 0; i < VIEWER__COMPUTING; i++)
        viewer__numbers_add(&texts[i], (uint64_t)bin->ns[i]);
    viewer__numbers_add(&texts[OPERATIONS], bin->operations);
    viewer__numbers_add(&texts[LONGEST], (uint64_t)bin->longest_ns);
    viewer__numbers_add(
        &texts[PATH],
        bin->operations ? view->operations[bin->longest].path - path : 0);
    viewer__numbers_add(&texts[FOR],
                        bin->waits_for == PATHS_NONE ? 0 : bin->waits_for + 1u);
}

static json_t *bins_of(const telling *t, const viewer__grid *grid)
{
    const scopes_communication *view = t->timeline->view;
    viewer__numbers texts[BIN_TEXTS] = {0};
    viewer__bin *bins = calloc(grid->count, sizeof(*bins));
    json_t *json = json_pack(
        "{s:I, s:I, s:I}", "startNs", (json_int_t)grid->start_ns, "binNs",
        (json_int_t)grid->bin_ns, "count", (json_int_t)grid->count);
    bool ok;

    for (uint32_t i = 0; i < view->thread_count && bins; i++) {
        if (!is_wanted(t, i))
            continue;
        viewer__bins_fill(bins, grid, t->timeline, i);
        for (size_t k = 0; k < grid->count; k++)
            add_bin(texts, &bins[k], view, first_path(view, i));
    }
    ok = put_texts(json, bin_names, texts, BIN_TEXTS);
    ok = ok && bins;
    free(bins);
    return whole(json, ok);
}

/* --- operations --- */

enum {
    START,
    LENGTH,
    OP_PATH,
    STEP,
    BYTES,
    VERB,
    STATUS,
    WAITING,
    OP_FOR,
    RUNNABLE,
    SLEEPING,
    OP_TEXTS
};

static const char *const op_names[OP_TEXTS] = {
    "start",  "length",  "path", "step",     "bytes",   "verb",
    "status", "waiting", "for",  "runnable", "sleeping"};

typedef struct range {
    size_t first, end;
} range;

/* Those that reach into a part. Before them comes the one that ended last
 * before, as that is where the gap begins; behind them the next one. */
static range range_of(const telling *t, uint32_t thread,
                      const viewer__part *part)
{
    const scopes_thread *about = &t->timeline->view->threads[thread];
    size_t begin = about->operation, end = begin + about->operations;
    range r = {viewer__first_beyond(t->timeline, thread, part->from_ns),
               viewer__first_from(t->timeline, thread, part->to_ns)};

    if (r.first > begin) {
        int64_t reach_ns = t->timeline->reach_ns[--r.first];
        while (r.first > begin &&
               t->timeline->view->operations[r.first].end_ns != reach_ns)
            r.first--;
    }
    if (r.end < end)
        r.end++;
    return r;
}

typedef struct before {
    int64_t start_ns, step;
    uint32_t path; /* the thread's first */
} before;

static void add_operation(viewer__numbers texts[OP_TEXTS], const telling *t,
                          size_t place, before *b)
{
    const scopes_operation *op = &t->timeline->view->operations[place];
    const viewer__wait *wait = &t->timeline->waits.waits[place];
    const scopes_off_time *off = &t->timeline->off[place];
    const uint64_t numbers[OP_TEXTS] = {
        [START] = (uint64_t)(op->start_ns - b->start_ns),
        [LENGTH] = (uint64_t)(op->end_ns - op->start_ns),
        [OP_PATH] = op->path - b->path,
        [STEP] = viewer__zigzag((int64_t)op->step - b->step),
        [BYTES] = op->bytes,
        [VERB] = op->verb,
        [STATUS] = op->status,
        [WAITING] = (uint64_t)wait->ns,
        [OP_FOR] = wait->ns > 0 ? wait->for_thread + 1u : 0,
        [RUNNABLE] = (uint64_t)off->runnable_ns,
        [SLEEPING] = (uint64_t)off->sleeping_ns};

    for (size_t i = 0; i < OP_TEXTS; i++)
        viewer__numbers_add(&texts[i], numbers[i]);
    b->start_ns = op->start_ns;
    b->step = op->step;
}

/* Those of a thread, each once. Gives how many. */
static uint64_t add_thread(viewer__numbers texts[OP_TEXTS], const telling *t,
                           uint32_t thread, int64_t base_ns)
{
    before b = {base_ns, 0, first_path(t->timeline->view, thread)};
    uint64_t count = 0;
    size_t done = 0;

    for (int i = 0; i < t->part_count; i++) {
        range r = range_of(t, thread, &t->parts[i]);
        if (r.first < done)
            r.first = done;
        for (size_t place = r.first; place < r.end; place++, count++)
            add_operation(texts, t, place, &b);
        if (r.end > done)
            done = r.end;
    }
    return count;
}

/* No operation that is told starts before it. */
static int64_t base_of(const telling *t)
{
    const scopes_communication *view = t->timeline->view;
    int64_t base_ns = t->wanted->from_ns;

    for (uint32_t i = 0; i < view->thread_count; i++) {
        const scopes_thread *thread = &view->threads[i];
        if (thread->operations &&
            view->operations[thread->operation].start_ns < base_ns)
            base_ns = view->operations[thread->operation].start_ns;
    }
    return base_ns;
}

static json_t *operations_of(const telling *t)
{
    viewer__numbers texts[OP_TEXTS] = {0};
    int64_t base_ns = base_of(t);
    json_t *counts = json_array();
    json_t *json = json_pack("{s:I}", "baseNs", (json_int_t)base_ns);
    bool ok;

    for (uint32_t i = 0; i < t->timeline->view->thread_count; i++)
        json_array_append_new(
            counts, json_integer(is_wanted(t, i) ? (json_int_t)add_thread(
                                                       texts, t, i, base_ns)
                                                 : 0));
    ok = put_texts(json, op_names, texts, OP_TEXTS);
    ok = json_object_set_new(json, "counts", counts) == 0 && ok;
    return whole(json, ok);
}

/* --- the critical path --- */

enum { LINK_THREAD, LINK_GAP, LINK_LENGTH, LINK_TEXTS };

static const char *const link_names[LINK_TEXTS] = {"thread", "gap", "length"};

static bool is_in_part(const telling *t, const viewer__link *link, int *part)
{
    while (*part < t->part_count && t->parts[*part].to_ns <= link->start_ns)
        ++*part;
    return *part < t->part_count && t->parts[*part].from_ns < link->end_ns;
}

static json_t *links_of(const telling *t)
{
    viewer__numbers texts[LINK_TEXTS] = {0};
    int64_t base_ns =
        t->timeline->link_count ? t->timeline->links[0].start_ns : 0;
    int64_t at_ns = base_ns;
    json_int_t count = 0;
    json_t *json;
    int part = 0;

    for (size_t i = 0; i < t->timeline->link_count; i++) {
        const viewer__link *link = &t->timeline->links[i];
        if (!is_in_part(t, link, &part))
            continue;
        viewer__numbers_add(&texts[LINK_THREAD], link->thread);
        viewer__numbers_add(&texts[LINK_GAP],
                            (uint64_t)(link->start_ns - at_ns));
        viewer__numbers_add(&texts[LINK_LENGTH],
                            (uint64_t)(link->end_ns - link->start_ns));
        at_ns = link->end_ns;
        count++;
    }
    json =
        json_pack("{s:I, s:I}", "baseNs", (json_int_t)base_ns, "count", count);
    return whole(json, put_texts(json, link_names, texts, LINK_TEXTS));
}

/* --- all of it --- */

static json_t *parts_of(const telling *t)
{
    json_t *parts = json_array();

    for (int i = 0; i < t->part_count; i++)
        json_array_append_new(parts, json_pack("[I, I]",
                                               (json_int_t)t->parts[i].from_ns,
                                               (json_int_t)t->parts[i].to_ns));
    return parts;
}

/* Operations of the threads that begin between two times. */
static uint64_t count_between(const telling *t, int64_t from_ns, int64_t to_ns)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->timeline->view->thread_count; i++)
        if (is_wanted(t, i))
            sum += viewer__first_from(t->timeline, i, to_ns) -
                   viewer__first_from(t->timeline, i, from_ns);
    return sum;
}

static json_t *tell(const telling *t, const viewer__grid *grid)
{
    uint64_t there = count_between(t, t->wanted->from_ns, t->wanted->to_ns);

    for (int i = 0; i < t->part_count; i++)
        there -= count_between(t, t->parts[i].from_ns,
                               t->parts[i].to_ns < t->wanted->to_ns
                                   ? t->parts[i].to_ns
                                   : t->wanted->to_ns);
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:I}", "fromNs",
                     (json_int_t)t->wanted->from_ns, "toNs",
                     (json_int_t)t->wanted->to_ns, "bins",
                     grid ? bins_of(t, grid) : json_null(), "parts",
                     parts_of(t), "operations", operations_of(t), "links",
                     links_of(t), "inBins", (json_int_t)there);
}

static json_t *levels_json(const viewer_timeline *timeline,
                           const levels *wanted)
{
    telling t = {.timeline = timeline, .wanted = wanted};
    viewer__grid grid;

    if (count_between(&t, wanted->from_ns, wanted->to_ns) <=
        wanted->operations_max) {
        t.parts[0] = (viewer__part){wanted->from_ns, wanted->to_ns};
        t.part_count = 1;
        return tell(&t, NULL);
    }
    grid = viewer__grid_of(wanted->from_ns, wanted->to_ns, wanted->columns);
    if (wanted->parts)
        t.part_count = viewer__parts_choose(t.parts, timeline, &grid,
                                            wanted->operations_max);
    return t.part_count < 0 ? NULL : tell(&t, &grid);
}

json_t *viewer_timeline_json(const viewer_timeline *timeline, int64_t from_ns,
                             int64_t to_ns, bool full)
{
    bool many = timeline->view->operation_count > WHOLE_MAX;
    size_t columns = BINS_MAX / (timeline->view->thread_count + 1u);
    levels wanted = {.from_ns = from_ns,
                     .to_ns = (to_ns > from_ns ? to_ns : from_ns) +
                              1, /* the last, too */
                     .parts = many && !full,
                     .operations_max = PARTS_MAX};
    telling whole_run = {.timeline = timeline, .wanted = &wanted};
    viewer__grid grid;

    if (columns < BINS_MIN)
        columns = BINS_MIN;
    if (columns > COLUMNS_MAX)
        columns = COLUMNS_MAX;
    wanted.columns = (uint32_t)columns;
    if (wanted.parts)
        return levels_json(timeline, &wanted);
    grid = viewer__grid_of(wanted.from_ns, wanted.to_ns, columns);
    whole_run.parts[whole_run.part_count++] =
        (viewer__part){wanted.from_ns, wanted.to_ns};
    return tell(&whole_run, many ? &grid : NULL);
}
