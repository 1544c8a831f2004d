/* job.c - the rounds of a job: see job.h.
 *
 * A text stands in the server below "eventspace.N", N being the number of the
 * round, with '+' in front, or with '-' if it says why its task cannot go on.
 *
 * Neither PMIx nor PMI-2 promises that a fence ends when a task never comes. So
 * whatever waits is called on a thread, and the thread is waited for until the
 * deadline. After that it may still be in the library: both, and the job, are
 * left alone until the process ends. */
#include "eventspace/launch/job_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pastset/status.h"

#define LEAVE_MS 5000 /* for tasks to leave together */
#define KEY_BYTES 40

struct eventspace_job {
    const job_server *server;
    uint32_t rank, size, wait_ms;
    pid_t parent;
    unsigned round;
    char mine[EVENTSPACE_JOB_TEXT];
    char (*texts)[EVENTSPACE_JOB_TEXT]; /* by rank */
    int err;                            /* of the thread, with its text */
    char error[1000];
    bool open;   /* the server knows of this task */
    bool lost;   /* a thread is left behind */
    bool failed; /* all tasks know that it does not go on */
};

/* --- which job --- */

/* Tasks of srun, if it has started several. */
static const char *srun_tasks(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

    return getenv("SLURM_PROCID") && tasks && atoi(tasks) > 1 ? tasks : NULL;
}

bool eventspace_job_is_there(void)
{
    return getenv("PMIX_NAMESPACE") || getenv("PMI_FD") || srun_tasks();
}

static int server_choose(const job_server **out)
{
    if (getenv("PMIX_NAMESPACE"))
        *out = &eventspace__job_pmix;
    else if (getenv("PMI_FD"))
        *out = &eventspace__job_pmi2;
    else
        return pastset_fail(
            PASTSET_ENOTSUP,
            "this is task %s of %s tasks, which cannot find each other: start "
            "them by `srun --mpi=pmix` or `srun --mpi=pmi2`; `srun --mpi=list` "
            "shows what there is",
            getenv("SLURM_PROCID"), srun_tasks());
    return 0;
}

/* --- waiting with a deadline --- */

/* Errors of the thread become those of the job. */
static void error_keep(eventspace_job *job, int err)
{
    job->err = err;
    if (err)
        snprintf(job->error, sizeof(job->error), "%s", pastset_error());
}

static int time_out(eventspace_job *job, uint32_t wait_ms)
{
    job->lost = true;
    if (!job->open)
        return pastset_fail(PASTSET_ETIMEDOUT,
                            "the launcher of this job has not answered within "
                            "%g s",
                            wait_ms / 1000.0);
    return pastset_fail(PASTSET_ETIMEDOUT,
                        "task %u of %u tasks has waited %g s for the others: "
                        "one of them has not started, or was killed",
                        job->rank, job->size, wait_ms / 1000.0);
}

/* Has a thread do it. No signal is for that thread. */
static int call(eventspace_job *job, void *(*what)(void *), uint32_t wait_ms)
{
    struct timespec end;
    sigset_t all, before;
    pthread_t thread;
    int error;

    if (job->lost)
        return pastset_fail(PASTSET_EHOST, "the job's tasks have lost each "
                                           "other");
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += wait_ms / 1000;
    end.tv_nsec += wait_ms % 1000 * 1000000L;
    if (end.tv_nsec >= 1000000000) {
        end.tv_nsec -= 1000000000;
        end.tv_sec++;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, what, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return pastset_fail(PASTSET_ELIMIT, "cannot start a thread: %s",
                            strerror(error));
    if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end) != 0) {
        pthread_detach(thread);
        return time_out(job, wait_ms);
    }
    return job->err ? pastset_fail(job->err, "%s", job->error) : 0;
}

/* --- a round --- */

static void key_make(char key[KEY_BYTES], unsigned round)
{
    snprintf(key, KEY_BYTES, "eventspace.%u", round);
}

static void *meet(void *context)
{
    eventspace_job *job = context;
    char key[KEY_BYTES];
    int err;

    key_make(key, job->round++);
    err = job->server->put(job->rank, key, job->mine);
    if (!err)
        err = job->server->fence();
    for (uint32_t i = 0; i < job->size && !err; i++)
        err = job->server->get(i, key, job->texts[i]);
    error_keep(job, err);
    return NULL;
}

static int round_make(eventspace_job *job, char sign, const char *text)
{
    job->mine[0] = sign;
    snprintf(job->mine + 1, sizeof(job->mine) - 1, "%.*s",
             (int)sizeof(job->mine) - 2, text);
    return call(job, meet, job->wait_ms);
}

int eventspace__job_exchange(eventspace_job *job, const char *text)
{
    int err = round_make(job, '+', text);

    for (uint32_t i = 0; i < job->size && !err; i++) {
        if (job->texts[i][0] == '+')
            continue;
        job->failed = true;
        err = pastset_fail(PASTSET_EAPP, "task %u of %u tasks: %s", i,
                           job->size, eventspace__job_text(job, i));
    }
    return err;
}

int eventspace_job_fail(eventspace_job *job, int err)
{
    char text[1500];

    snprintf(text, sizeof(text), "%s", pastset_error());
    if (!job->failed && !job->lost && round_make(job, '-', text) == 0)
        job->failed = true;
    return pastset_fail(err, "%s", text);
}

int eventspace__job_all_fail(eventspace_job *job, int err)
{
    job->failed = true;
    return err;
}

const char *eventspace__job_text(const eventspace_job *job, uint32_t rank)
{
    const char *text = job->texts[rank];

    return *text ? text + 1 : text;
}

int eventspace__job_put(eventspace_job *job, const char *key, const char *text)
{
    return job->server->put(job->rank, key, text);
}

int eventspace__job_get(eventspace_job *job, uint32_t rank, const char *key,
                        char text[EVENTSPACE_JOB_TEXT])
{
    return job->server->get(rank, key, text);
}

/* --- coming and leaving --- */

static void *come(void *context)
{
    eventspace_job *job = context;

    error_keep(job, job->server->open(&job->rank, &job->size));
    return NULL;
}

static void *leave(void *context)
{
    eventspace_job *job = context;

    if (job->failed)
        job->server->fence();
    job->server->close();
    job->err = 0;
    return NULL;
}

/* Open MPI's mpirun has been seen to hang for ever when a task died while it
 * connected: of these signals it dies a moment later. */
static int undisturbed_come(eventspace_job *job)
{
    sigset_t signals, before;
    int err;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    err = call(job, come, job->wait_ms);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

int eventspace_job_open(eventspace_job **out, uint32_t wait_ms)
{
    const job_server *server = NULL;
    int err = server_choose(&server);

    *out = NULL;
    return err ? err : eventspace__job_open_at(out, server, wait_ms);
}

int eventspace__job_open_at(eventspace_job **out, const job_server *server,
                            uint32_t wait_ms)
{
    eventspace_job *job = calloc(1, sizeof(*job));
    int err;

    *out = NULL;
    if (!job)
        return pastset_no_memory("for a job");
    job->server = server;
    job->wait_ms = wait_ms ? wait_ms : EVENTSPACE_JOB_WAIT;
    job->parent = getppid();
    err = undisturbed_come(job);
    job->open = !err;
    if (!err) {
        job->texts = calloc(job->size, sizeof(job->texts[0]));
        if (!job->texts)
            err = pastset_no_memory("for a job of %u tasks", job->size);
    }
    if (err)
        eventspace_job_close(job);
    else
        *out = job;
    return err;
}

uint32_t eventspace_job_rank(const eventspace_job *job)
{
    return job->rank;
}

uint32_t eventspace_job_size(const eventspace_job *job)
{
    return job->size;
}

uint32_t eventspace__job_wait_ms(const eventspace_job *job)
{
    return job->wait_ms;
}

bool eventspace__job_is_apart(const eventspace_job *job)
{
    return job->server->apart;
}

pid_t eventspace__job_parent(const eventspace_job *job)
{
    return job->parent;
}

bool eventspace_job_is_hushed(const eventspace_job *job)
{
    if (job)
        return job->failed && job->rank != 0;
    return !getenv("PMIX_NAMESPACE") && !getenv("PMI_FD") && srun_tasks() &&
           atoi(getenv("SLURM_PROCID")) != 0;
}

void eventspace__job_leave(eventspace_job *job)
{
    if (job->open && !job->lost)
        call(job, leave, LEAVE_MS);
    job->open = false;
}

void eventspace_job_close(eventspace_job *job)
{
    if (!job)
        return;
    eventspace__job_leave(job);
    if (job->lost)
        return; /* a thread may still write to it */
    free(job->texts);
    free(job);
}
