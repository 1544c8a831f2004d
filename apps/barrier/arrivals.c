/* arrivals.c - when each thread came to each barrier, and who was last. */
#include "apps/barrier/barrier.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

struct arrivals {
    const program_options *options;
    uint32_t threads, rounds, late;
    barrier_note *notes; /* of round r and thread t in r * threads + t */
    char (
        *processes)[sizeof(((barrier_notes *)0)->process)]; /* of each thread */
    uint64_t missing; /* notes not yet there */
};

int arrivals_create(arrivals **out, const program_options *o)
{
    const barrier_options *own = o->own;
    arrivals *a = calloc(1, sizeof(*a));

    *out = a;
    if (!a)
        return pastset_no_memory("for arrivals");
    a->options = o;
    a->threads = o->threads;
    a->rounds = barrier_rounds(o);
    a->late = (uint32_t)own->late;
    a->missing = (uint64_t)a->threads * a->rounds;
    a->notes = calloc(a->missing, sizeof(*a->notes));
    a->processes = calloc(a->threads, sizeof(*a->processes));
    if (!a->notes || !a->processes)
        return pastset_no_memory("for arrivals");
    return 0;
}

void arrivals_destroy(arrivals *a)
{
    if (!a)
        return;
    free(a->notes);
    free(a->processes);
    free(a);
}

/* --- taking them in --- */

static barrier_note *note_of(const arrivals *a, uint32_t round, uint32_t thread)
{
    return &a->notes[(size_t)round * a->threads + thread];
}

int arrivals_add(arrivals *a, const barrier_notes *n)
{
    bool fits = n->thread < a->threads && n->count <= BARRIER_NOTES &&
                n->first <= a->rounds && n->count <= a->rounds - n->first &&
                memchr(n->process, 0, sizeof(n->process));

    for (uint32_t i = 0; fits && i < n->count; i++) {
        barrier_note *note = note_of(a, n->first + i, n->thread);
        fits = note->arrived_ns == 0 && n->note[i].arrived_ns != 0;
        *note = n->note[i];
        a->missing--;
    }
    if (!fits)
        return pastset_fail(PASTSET_EAPP,
                            "the notes of thread %" PRIu32
                            " from round %" PRIu32
                            " on are incomplete or given twice",
                            n->thread, n->first);
    memcpy(a->processes[n->thread], n->process, sizeof(n->process));
    return 0;
}

int arrivals_read(arrivals *a, paths_path *path)
{
    barrier_notes notes;

    while (a->missing) {
        int err = paths_observe(path, &notes, sizeof(notes));
        if (!err)
            err = arrivals_add(a, &notes);
        if (err)
            return err;
    }
    return 0;
}

/* --- who was last --- */

/* A round, as planned and as it was. */
typedef struct round_facts {
    uint32_t longest;         /* thread that was to wait longest */
    uint32_t last;            /* thread that came last */
    uint32_t last_on_process; /* of the threads on the late one's process */
    uint64_t longest_ns;
    uint64_t leave_ns; /* from the last arrival to the last leaving */
} round_facts;

static bool is_beside_late(const arrivals *a, uint32_t thread)
{
    return strcmp(a->processes[thread], a->processes[a->late]) == 0;
}

static bool is_later(const arrivals *a, uint32_t round, uint32_t thread,
                     uint32_t than)
{
    return note_of(a, round, thread)->arrived_ns >
           note_of(a, round, than)->arrived_ns;
}

static round_facts round_look(const arrivals *a, uint32_t round)
{
    round_facts f = {.last_on_process = a->late};
    uint64_t left = 0;

    for (uint32_t i = 0; i < a->threads; i++) {
        const barrier_note *note = note_of(a, round, i);
        if (note->wait_ns > note_of(a, round, f.longest)->wait_ns)
            f.longest = i;
        if (is_later(a, round, i, f.last))
            f.last = i;
        if (is_beside_late(a, i) && is_later(a, round, i, f.last_on_process))
            f.last_on_process = i;
        if (note->left_ns > left)
            left = note->left_ns;
    }
    f.longest_ns = note_of(a, round, f.longest)->wait_ns;
    f.leave_ns = left - note_of(a, round, f.last)->arrived_ns;
    return f;
}

/* --- results --- */

static int csv_write(const arrivals *a)
{
    FILE *file;
    int err = program_file_open(&file, a->options, "arrivals.csv");

    if (err)
        return err;
    fprintf(file, "round,thread,process,arrived_ns,left_ns\n");
    for (uint32_t round = 0; round < a->rounds; round++) {
        for (uint32_t i = 0; i < a->threads; i++) {
            const barrier_note *note = note_of(a, round, i);
            fprintf(file,
                    "%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64 "\n",
                    round, i, a->processes[i], note->arrived_ns, note->left_ns);
        }
    }
    return program_file_close(file, "arrivals.csv");
}

/* No round is shorter than its longest wait, if barriers are any. */
static int plan_check(const barrier_plan *plan, uint64_t took_ns)
{
    if (took_ns >= plan->longest_ns)
        return 0;
    return pastset_fail(PASTSET_EAPP,
                        "all rounds took %" PRIu64
                        " ns, but their longest waits add up to %" PRIu64
                        " ns: a thread left a barrier too early",
                        took_ns, plan->longest_ns);
}

int arrivals_report(const arrivals *a, uint64_t took_ns, program_result *r)
{
    barrier_plan plan = {.rounds = a->rounds};
    uint64_t late = 0, late_on_process = 0, process = 0, planned = 0,
             leave_ns = 0;
    int err;

    for (uint32_t round = 0; round < a->rounds; round++) {
        round_facts f = round_look(a, round);
        plan.late_rounds += f.longest == a->late;
        plan.longest_ns += f.longest_ns;
        late += f.last == a->late;
        late_on_process += f.last_on_process == a->late;
        process += is_beside_late(a, f.last);
        planned += f.last == f.longest;
        leave_ns += f.leave_ns;
    }
    err = plan_check(&plan, took_ns);
    barrier_plan_report(&plan, r);
    program_count(r, "last_late", late);
    program_count(r, "last_late_on_process", late_on_process);
    program_count(r, "last_process", process);
    program_count(r, "last_planned", planned);
    program_value(r, "leave_us_mean",
                  (double)(int64_t)leave_ns * 1e-3 / a->rounds);
    program_value(r, "round_us_mean", (double)took_ns * 1e-3 / a->rounds);
    return err ? err : csv_write(a);
}
