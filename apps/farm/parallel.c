/* parallel.c - a thread of a run: the master, or a worker.
 *
 * The master writes to each worker which tasks it has, and reads who has done
 * them and what they gave. Each worker also says how much it shall have of the
 * next round: the tunable `share` of its process, 1 at first. No tasks are the
 * end. */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/farm/farm.h"
#include "eventspace/tunable.h"
#include "pastset/status.h"

#define SHARE_MOST 100

/* Tuples, as mapping.c has them. */
typedef struct farm_order {
    uint64_t state, first, count;
} farm_order;

typedef struct farm_answer {
    uint64_t worker, sum;
    double share;
} farm_answer;

/* --- the master --- */

typedef struct farm_master {
    farm problem;
    uint32_t workers;
    paths_path *done, **tasks; /* of each worker */
    double *shares;
    uint32_t *starts;
    uint64_t *handed;
} farm_master;

static int master_open(farm_master *m, paths_thread *self)
{
    char name[32];
    int err = farm_check(&m->problem, paths_thread_count(self));

    if (!err)
        err = paths_open(&m->done, self, "done");
    if (err)
        return err;
    m->workers = paths_thread_count(self) - 1;
    m->tasks = calloc(m->workers, sizeof(*m->tasks));
    m->shares = calloc(m->workers, sizeof(*m->shares));
    m->handed = calloc(m->workers, sizeof(*m->handed));
    m->starts = calloc(m->workers + (size_t)1, sizeof(*m->starts));
    if (!m->tasks || !m->shares || !m->handed || !m->starts)
        return pastset_no_memory("for the workers");
    for (uint32_t i = 0; i < m->workers && !err; i++) {
        snprintf(name, sizeof(name), "tasks_%" PRIu32, i + 1);
        err = paths_open(&m->tasks[i], self, name);
        m->shares[i] = 1;
    }
    return err;
}

static void master_close(farm_master *m)
{
    free(m->tasks);
    free(m->shares);
    free(m->handed);
    free(m->starts);
}

static int orders_write(farm_master *m, uint64_t state)
{
    int err = 0;

    division_starts(m->starts, m->shares, m->problem.tasks, m->workers);
    for (uint32_t i = 0; i < m->workers && !err; i++) {
        farm_order order = {state, m->starts[i],
                            m->starts[i + 1] - m->starts[i]};
        m->handed[i] += order.count;
        err = paths_write(m->tasks[i], &order, sizeof(order));
    }
    return err;
}

static int answers_read(farm_master *m, uint64_t *sum)
{
    farm_answer answer = {0};
    int err = 0;

    for (uint32_t i = 0; i < m->workers && !err; i++) {
        err = paths_observe(m->done, &answer, sizeof(answer));
        if (err)
            return err;
        if (answer.worker >= m->workers ||
            !(answer.share > 0 && answer.share <= SHARE_MOST))
            return pastset_fail(PASTSET_EAPP, "%s: there is no worker %" PRIu64,
                                paths_describe(m->done), answer.worker);
        *sum += answer.sum;
        m->shares[answer.worker] = answer.share;
    }
    return 0;
}

static int workers_end(const farm_master *m)
{
    farm_order none = {0};
    int err = 0;

    for (uint32_t i = 0; i < m->workers && !err; i++)
        err = paths_write(m->tasks[i], &none, sizeof(none));
    return err;
}

static int master_run(paths_thread *self, const program_run *run)
{
    farm_master m = {.done = NULL};
    uint64_t state;
    int err;

    farm_make(&m.problem, run->options);
    err = master_open(&m, self);
    state = m.problem.state;
    for (uint32_t round = 0; round < m.problem.rounds && !err; round++) {
        uint64_t sum = 0;
        err = orders_write(&m, state);
        if (!err)
            err = answers_read(&m, &sum);
        state = farm_next(state, sum);
    }
    if (!err)
        err = workers_end(&m);
    if (!err)
        err = farm_report(&m.problem, state, m.handed, m.workers, run->result);
    master_close(&m);
    return err;
}

/* --- a worker --- */

static int worker_run(paths_thread *self, const program_run *run)
{
    eventspace_tunable *share;
    paths_path *tasks, *done;
    farm_answer answer = {.worker = paths_thread_number(self) - 1};
    farm_order order = {0};
    farm f;
    int err = paths_open(&tasks, self, "tasks");

    if (!err)
        err = paths_open(&done, self, "done");
    if (!err)
        err =
            eventspace_tunable_open(&share, self, "share", 1, 0.01, SHARE_MOST);
    farm_make(&f, run->options);
    while (!err) {
        err = paths_observe(tasks, &order, sizeof(order));
        if (err || order.count == 0)
            break;
        answer.sum = farm_tasks(&f, order.state, order.first, order.count);
        answer.share = eventspace_tunable_get(share);
        err = paths_write(done, &answer, sizeof(answer));
    }
    return err;
}

int farm_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;

    return paths_thread_number(self) == 0 ? master_run(self, run)
                                          : worker_run(self, run);
}
