/* off_processor.c - reading what processes recorded of their threads'
 * scheduling; see off_processor.h. A damaged file may say anything: threads,
 * kinds and times that there cannot be are left out. */
#include "scopes/causality/off_processor.h"

#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/scheduling.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define BLOCK 1024 /* tuples that are read at once */

/* One tuple of a thread, until they are put in order. */
typedef struct found {
    uint32_t thread;
    scopes_off off;
} found;

/* What has been read of a process. */
typedef struct read_part {
    const pastset_element *element; /* of which: another one is read anew */
    pastset_cursor cursor;
    eventspace_scheduling *offs;  /* as far back as is asked for */
    eventspace_scheduling *facts; /* all else; one sum of each thread */
    size_t off_count, fact_count;
    uint32_t *known; /* threads whose `offs` have been dropped */
    size_t known_count;
} read_part;

struct scopes_scheduling_reader {
    read_part *parts; /* by process */
    uint32_t count;
    int64_t back_ns;
};

typedef struct reading {
    const scopes_topology *topology;
    const scopes_clocks *clocks;
    int64_t from_ns, kept_ns; /* what is told; what is kept, from then on */
    scopes_scheduling *scheduling;
    found *all;
    size_t count;
    uint32_t process;
} reading;

static int no_memory(void)
{
    return pastset_no_memory("for the threads' scheduling");
}

/* --- one process --- */

static bool is_here(const reading *r, uint32_t thread)
{
    const scopes_topology *topology = r->topology;

    return thread < topology->thread_count &&
           topology->threads[thread] != PATHS_NONE &&
           topology->map->nodes[topology->threads[thread]].process ==
               r->process;
}

/* Its part of a time, when that was so many ticks of as many; of long times it
 * is rounded, but never more than is left. */
static int64_t part_ns(int64_t ns, uint64_t ticks, uint64_t all,
                       int64_t left_ns)
{
    double part = (double)ns * ((double)ticks / (double)all);

    return part < (double)left_ns ? (int64_t)part : left_ns;
}

/* False: it is damaged. */
static bool off_of(scopes_off *off, const reading *r,
                   const eventspace_scheduling *tuple)
{
    uint64_t ticks = tuple->end - tuple->start;
    int64_t all_ns;

    *off = (scopes_off){
        .start_ns = scopes_clocks_ns(r->clocks, r->process, tuple->start),
        .end_ns = scopes_clocks_ns(r->clocks, r->process, tuple->end),
        .preemptions = tuple->preemptions,
        .sleeps = tuple->sleeps,
        .unknown = tuple->kind == EVENTSPACE_THREAD_UNKNOWN};
    if (tuple->end <= tuple->start || off->end_ns <= off->start_ns ||
        tuple->runnable > ticks || tuple->sleeping > ticks - tuple->runnable)
        return false;
    all_ns = off->end_ns - off->start_ns;
    off->runnable_ns = part_ns(all_ns, tuple->runnable, ticks, all_ns);
    off->sleeping_ns =
        part_ns(all_ns, tuple->sleeping, ticks, all_ns - off->runnable_ns);
    return true;
}

/* --- keeping --- */

static bool is_off(const eventspace_scheduling *tuple)
{
    return tuple->kind != EVENTSPACE_THREAD_BEGAN &&
           tuple->kind != EVENTSPACE_THREAD_ENDED &&
           tuple->kind != EVENTSPACE_THREAD_SUM;
}

static int tuple_add(eventspace_scheduling **all, size_t *count,
                     const eventspace_scheduling *tuple)
{
    eventspace_scheduling *more =
        pastset_array_grow(*all, *count, sizeof(*more));

    if (!more)
        return no_memory();
    *all = more;
    more[(*count)++] = *tuple;
    return 0;
}

/* Of sums the last one counts. */
static int fact_keep(read_part *p, const eventspace_scheduling *tuple)
{
    for (size_t i = p->fact_count;
         tuple->kind == EVENTSPACE_THREAD_SUM && i > 0; i--) {
        eventspace_scheduling *fact = &p->facts[i - 1];
        if (fact->kind == tuple->kind && fact->thread == tuple->thread) {
            *fact = *tuple;
            return 0;
        }
    }
    return tuple_add(&p->facts, &p->fact_count, tuple);
}

static int keep(read_part *p, const eventspace_scheduling *tuple)
{
    if (tuple->kind >= EVENTSPACE_THREAD_KINDS)
        return 0;
    return is_off(tuple) ? tuple_add(&p->offs, &p->off_count, tuple)
                         : fact_keep(p, tuple);
}

static int known_keep(read_part *p, uint32_t thread)
{
    uint32_t *more;

    for (size_t i = 0; i < p->known_count; i++)
        if (p->known[i] == thread)
            return 0;
    more = pastset_array_grow(p->known, p->known_count, sizeof(*more));
    if (!more)
        return no_memory();
    p->known = more;
    more[p->known_count++] = thread;
    return 0;
}

static void part_forget(read_part *p)
{
    free(p->offs);
    free(p->facts);
    free(p->known);
    *p = (read_part){0};
}

static int read_element(read_part *p, pastset_element *element)
{
    eventspace_scheduling tuples[BLOCK];
    size_t count;
    int err = 0;

    if (p->element != element)
        part_forget(p);
    p->element = element;
    while (err == 0 || err == PASTSET_EFORMAT) {
        err = pastset_read_many(element, &p->cursor, tuples, BLOCK, &count);
        for (size_t i = 0; i < count && !err; i++)
            err = keep(p, &tuples[i]);
    }
    return err == PASTSET_ENOMEM ? err : 0;
}

/* --- telling --- */

static void fact_tell(const reading *r, const eventspace_scheduling *tuple)
{
    scopes_thread_life *life;

    if (!is_here(r, tuple->thread))
        return;
    life = &r->scheduling->threads[tuple->thread];
    life->is_known = true;
    switch ((eventspace_scheduling_kind)tuple->kind) {
    case EVENTSPACE_THREAD_BEGAN:
        life->has_begun = true;
        life->begin_ns = scopes_clocks_ns(r->clocks, r->process, tuple->start);
        break;
    case EVENTSPACE_THREAD_ENDED:
        life->has_ended = true;
        life->end_ns = scopes_clocks_ns(r->clocks, r->process, tuple->start);
        life->operations = tuple->operations;
        break;
    default:
        life->is_summed = true;
        life->yields = tuple->operations;
        if (!off_of(&life->sum, r, tuple))
            life->sum = (scopes_off){0};
    }
}

static int off_tell(reading *r, uint32_t thread, const scopes_off *off)
{
    found *more = pastset_array_grow(r->all, r->count, sizeof(*more));

    if (!more)
        return no_memory();
    r->all = more;
    r->all[r->count++] = (found){thread, *off};
    return 0;
}

/* What ended before anything that may be asked for is dropped. */
static int offs_tell(reading *r, read_part *p)
{
    size_t kept = 0;
    int err = 0;

    for (size_t i = 0; i < p->off_count && !err; i++) {
        const eventspace_scheduling *tuple = &p->offs[i];
        scopes_off off;
        if (is_here(r, tuple->thread)) {
            r->scheduling->threads[tuple->thread].is_known = true;
            if (off_of(&off, r, tuple)) {
                if (off.end_ns < r->kept_ns) {
                    err = known_keep(p, tuple->thread);
                    continue;
                }
                if (off.end_ns >= r->from_ns)
                    err = off_tell(r, tuple->thread, &off);
            }
        }
        p->offs[kept++] = *tuple;
    }
    if (!err)
        p->off_count = kept;
    return err;
}

static int part_tell(reading *r, read_part *p)
{
    for (size_t i = 0; i < p->fact_count; i++)
        fact_tell(r, &p->facts[i]);
    for (size_t i = 0; i < p->known_count; i++)
        if (is_here(r, p->known[i]))
            r->scheduling->threads[p->known[i]].is_known = true;
    return offs_tell(r, p);
}

static int read_process(reading *r, read_part *p, eventspace_run *run)
{
    const eventspace_run_process *process =
        eventspace_run_process_at(run, r->process);
    pastset_space *space = process->side;
    pastset_element *element =
        process->has_meta && space
            ? pastset_space_find(space, EVENTSPACE_SCHEDULING_NAME)
            : NULL;
    int err;

    if (!element || strcmp(pastset_element_type(element)->text,
                           EVENTSPACE_SCHEDULING_TYPE) != 0)
        return 0;
    err = read_element(p, element);
    return err ? err : part_tell(r, p);
}

/* --- all of them --- */

static int by_start(const void *left, const void *right)
{
    const scopes_off *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Mostly they are in order already. */
static void sort(scopes_off *offs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (offs[i].start_ns < offs[i - 1].start_ns) {
            qsort(offs, count, sizeof(*offs), by_start);
            return;
        }
}

/* A thread's, without what overlaps. */
static void thread_order(scopes_thread_life *life, scopes_off *offs,
                         size_t count)
{
    sort(offs, count);
    for (size_t i = 0; i < count; i++)
        if (!life->off_count ||
            offs[i].start_ns >= offs[life->off_count - 1].end_ns)
            offs[life->off_count++] = offs[i];
    life->offs = life->off_count ? offs : NULL;
}

/* Hands each thread its part. */
static int order(reading *r)
{
    scopes_scheduling *s = r->scheduling;
    size_t *ends = calloc((size_t)s->thread_count + 2, sizeof(*ends));
    size_t from = 0;

    s->offs = calloc(r->count + 1, sizeof(*s->offs));
    if (!s->offs || !ends) {
        free(ends);
        return no_memory();
    }
    for (size_t i = 0; i < r->count; i++)
        ends[r->all[i].thread + 1]++;
    for (uint32_t t = 0; t < s->thread_count; t++)
        ends[t + 1] += ends[t];
    for (size_t i = 0; i < r->count; i++)
        s->offs[ends[r->all[i].thread]++] = r->all[i].off;
    for (uint32_t t = 0; t < s->thread_count; t++) {
        thread_order(&s->threads[t], &s->offs[from], ends[t] - from);
        from = ends[t];
    }
    free(ends);
    return 0;
}

static int parts_fit(scopes_scheduling_reader *reader, uint32_t count)
{
    read_part *more;

    if (count <= reader->count)
        return 0;
    more = realloc(reader->parts, count * sizeof(*more));
    if (!more)
        return no_memory();
    memset(more + reader->count, 0, (count - reader->count) * sizeof(*more));
    reader->parts = more;
    reader->count = count;
    return 0;
}

int scopes_scheduling_read_on(scopes_scheduling **out,
                              scopes_scheduling_reader *reader,
                              eventspace_run *run,
                              const scopes_topology *topology,
                              const scopes_clocks *clocks, int64_t from_ns)
{
    reading r = {.topology = topology,
                 .clocks = clocks,
                 .from_ns = from_ns,
                 .kept_ns = from_ns < INT64_MIN + reader->back_ns
                                ? INT64_MIN
                                : from_ns - reader->back_ns};
    int err = parts_fit(reader, topology->map->process_count);

    *out = NULL;
    if (err)
        return err;
    r.scheduling = calloc(1, sizeof(*r.scheduling));
    if (!r.scheduling)
        return no_memory();
    r.scheduling->thread_count = topology->thread_count;
    r.scheduling->threads = calloc((size_t)topology->thread_count + 1,
                                   sizeof(*r.scheduling->threads));
    if (!r.scheduling->threads)
        err = no_memory();
    for (; r.process < topology->map->process_count && !err; r.process++)
        err = read_process(&r, &reader->parts[r.process], run);
    if (!err)
        err = order(&r);
    free(r.all);
    if (err)
        scopes_scheduling_destroy(r.scheduling);
    else
        *out = r.scheduling;
    return err;
}

int scopes_scheduling_read(scopes_scheduling **out, eventspace_run *run,
                           const scopes_topology *topology,
                           const scopes_clocks *clocks)
{
    scopes_scheduling_reader *reader;
    int err = scopes_scheduling_reader_create(&reader, 0);

    *out = NULL;
    if (!err)
        err = scopes_scheduling_read_on(out, reader, run, topology, clocks,
                                        INT64_MIN);
    scopes_scheduling_reader_destroy(reader);
    return err;
}

int scopes_scheduling_reader_create(scopes_scheduling_reader **out,
                                    int64_t back_ns)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return no_memory();
    (*out)->back_ns = back_ns;
    return 0;
}

void scopes_scheduling_reader_destroy(scopes_scheduling_reader *reader)
{
    if (!reader)
        return;
    for (uint32_t i = 0; i < reader->count; i++)
        part_forget(&reader->parts[i]);
    free(reader->parts);
    free(reader);
}

void scopes_scheduling_destroy(scopes_scheduling *scheduling)
{
    if (!scheduling)
        return;
    free(scheduling->threads);
    free(scheduling->offs);
    free(scheduling);
}

/* --- asking --- */

/* What is certain of an amount, when a part of the time is not asked for. */
static int64_t at_least(int64_t amount_ns, int64_t outside_ns)
{
    return amount_ns > outside_ns ? amount_ns - outside_ns : 0;
}

scopes_off_time scopes_off_between(const scopes_thread_life *life, size_t *at,
                                   int64_t from_ns, int64_t to_ns)
{
    scopes_off_time sum = {0};

    while (*at < life->off_count && life->offs[*at].end_ns <= from_ns)
        ++*at;
    for (size_t i = *at; i < life->off_count; i++) {
        const scopes_off *off = &life->offs[i];
        int64_t outside_ns = 0;
        if (off->start_ns >= to_ns)
            break;
        if (off->start_ns < from_ns)
            outside_ns += from_ns - off->start_ns;
        if (off->end_ns > to_ns)
            outside_ns += off->end_ns - to_ns;
        sum.runnable_ns += at_least(off->runnable_ns, outside_ns);
        sum.sleeping_ns += at_least(off->sleeping_ns, outside_ns);
    }
    return sum;
}

scopes_off_time scopes_off_within(const scopes_thread_life *life,
                                  int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = life->off_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (life->offs[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return scopes_off_between(life, &low, from_ns, to_ns);
}
