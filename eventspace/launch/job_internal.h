/* job_internal.h - between job.c, the servers that it can talk to, and the
 * meeting of launchers in job_meet.c. */
#ifndef EVENTSPACE_JOB_INTERNAL_H
#define EVENTSPACE_JOB_INTERNAL_H

#include <sys/types.h>

#include "eventspace/launch/job.h"

/* --- a kind of server, one file each --- */

/* All functions may wait for the server, or for other tasks, for ever. Errors
 * have a text. */
typedef struct job_server {
    /* Errors: PASTSET_ENOENT (no library), PASTSET_EHOST. */
    int (*open)(uint32_t *rank, uint32_t *size);
    /* Keeps a text of less than EVENTSPACE_JOB_TEXT bytes, which others get
     * after the next fence. */
    int (*put)(uint32_t rank, const char *key, const char *text);
    int (*fence)(void);
    /* What task `rank` has put. */
    int (*get)(uint32_t rank, const char *key, char text[EVENTSPACE_JOB_TEXT]);
    void (*close)(void);
    bool apart; /* the tasks have no files in common */
} job_server;

extern const job_server eventspace__job_pmix, eventspace__job_pmi2;

/* --- job_library.c --- */

/* A function of a library, and the pointer that it is to be stored in. */
typedef struct job_symbol {
    const char *name;
    void *pointer;
} job_symbol;

/* Errors: PASTSET_ENOENT, and what to install. */
int eventspace__job_library_load(const char *library, const char *package,
                                 const job_symbol *symbols, size_t count);

/* --- job.c --- */

/* A job at a server that is not looked for in the environment. */
int eventspace__job_open_at(eventspace_job **out, const job_server *server,
                            uint32_t wait_ms);
/* Whether its tasks have no files in common. */
bool eventspace__job_is_apart(const eventspace_job *job);
/* A round. Longer texts are cut.
 * Errors, of which the job has failed: PASTSET_EAPP (a task cannot go on; the
 * text says which one and why), PASTSET_ETIMEDOUT, PASTSET_EHOST. */
int eventspace__job_exchange(eventspace_job *job, const char *text);
/* What a task said in the last round. */
const char *eventspace__job_text(const eventspace_job *job, uint32_t rank);
/* Besides what a round gives to all: what others get after the next one. */
int eventspace__job_put(eventspace_job *job, const char *key, const char *text);
int eventspace__job_get(eventspace_job *job, uint32_t rank, const char *key,
                        char text[EVENTSPACE_JOB_TEXT]);
/* All tasks have found the same error in what they have heard. Returns `err`.
 */
int eventspace__job_all_fail(eventspace_job *job, int err);
/* Who has started this task: a daemon of the job's launcher, mostly. */
pid_t eventspace__job_parent(const eventspace_job *job);
/* For each round. */
uint32_t eventspace__job_wait_ms(const eventspace_job *job);
/* Nothing more is exchanged: the server expects no more of this task than that
 * it ends. */
void eventspace__job_leave(eventspace_job *job);

#endif
