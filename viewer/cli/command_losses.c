/* command_losses.c - see command_losses.h. */
#include "viewer/cli/command_losses.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/run/disk.h"
#include "eventspace/run/run.h"
#include "viewer/cli/command.h"

#define LOOK_NS 500000000 /* a full disk is told within a second */

/* Adds up the events of the processes that are meant. */
static void count(eventspace_run *run, const command_losses *losses,
                  eventspace_events *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        eventspace_events of;
        if (losses->process &&
            strcmp(losses->process, eventspace_run_process_at(run, i)->name) !=
                0)
            continue;
        if (eventspace_run_events(run, i, &of) != 0)
            continue;
        out->recorded += of.recorded;
        out->lost += of.lost;
        out->starved += of.starved;
        out->unmade += of.unmade;
    }
}

/* --- while it runs --- */

static void full_tell(const char *directory, bool patient)
{
    char where[2048];

    eventspace_disk_name(where, sizeof(where), directory);
    fprintf(stderr,
            "eventspace: %s: its file system%s%s is full: %s until there is "
            "room again\n",
            directory, *where ? " " : "", where,
            patient ? "the program waits" : "events are lost, and counted,");
}

/* Who is patient waits for room for a stream, too. */
static bool is_full(const command_losses *losses,
                    const eventspace_events *events)
{
    return events->starved || (losses->patient && events->unmade);
}

static void *watch(void *context)
{
    command_losses *losses = context;
    eventspace_events events = {0};
    eventspace_run *run;
    bool stopped;

    if (eventspace_run_open(&run, losses->directory) != 0)
        return NULL;
    do { /* once more after it was stopped: that may have been at once */
        stopped = atomic_load(&losses->stopped);
        if (!stopped)
            pastset_waiter_wait(&losses->waiter, pastset_now_ns() + LOOK_NS);
        if (eventspace_run_refresh(run) == 0)
            count(run, losses, &events);
    } while (!stopped && !is_full(losses, &events));
    if (is_full(losses, &events))
        full_tell(losses->directory, losses->patient);
    eventspace_run_close(run);
    return NULL;
}

void cli_losses_watch(command_losses *losses)
{
    sigset_t all, before;

    pastset_waiter_reset(&losses->waiter);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    losses->running = pthread_create(&losses->thread, NULL, watch, losses) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- in the end --- */

static void events_tell(const char *directory, const eventspace_events *events)
{
    fprintf(stderr,
            "eventspace: %s: %" PRIu64 " of %" PRIu64 " events are lost",
            directory, events->lost, events->recorded);
    if (events->starved)
        fprintf(stderr, ", %" PRIu64 " of them because the disk was full\n",
                events->starved);
    else if (events->unmade)
        fprintf(stderr,
                ", %" PRIu64 " of them as no trace element could be made for "
                "them\n",
                events->unmade);
    else
        fputs(": trace elements were full. `eventspace run --archive` saves "
              "all, and `eventspace map instrument --trace-size` makes "
              "them larger\n",
              stderr);
}

/* What processes that ended well have noted. False: some have lost events whose
 * trace element could not be made. */
static bool notes_tell(eventspace_run *run, const command_losses *losses,
                       bool *joined)
{
    bool well = true;

    *joined = false;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (losses->process && strcmp(losses->process, process->name) != 0)
            continue;
        if (eventspace_run_is_damaged(process))
            fprintf(stderr, "eventspace: process %s: %s\n", process->name,
                    process->problem);
        if (process->has_meta && process->meta.state == EVENTSPACE_FINISHED &&
            process->meta.text[0])
            fprintf(stderr, "eventspace: process %s: %s\n", process->name,
                    process->meta.text);
        *joined |= process->has_meta;
        well &=
            !process->has_meta || !strstr(process->meta.text, "events lost");
    }
    return well;
}

int cli_losses_end(command_losses *losses, bool archived)
{
    eventspace_events events = {0};
    eventspace_run *run;
    bool joined, well;

    if (losses->running) {
        atomic_store(&losses->stopped, true);
        pastset_waiter_wake(&losses->waiter);
        pthread_join(losses->thread, NULL);
        losses->running = false;
    }
    if (eventspace_run_open(&run, losses->directory) != 0)
        return cli_fail();
    count(run, losses, &events);
    if (events.lost && !archived)
        events_tell(losses->directory, &events);
    well = notes_tell(run, losses, &joined);
    eventspace_run_close(run);
    if (!joined && !losses->signal && !*losses->failure)
        fprintf(stderr,
                "eventspace: the program did not join the run: %s ended "
                "without calling eventspace_start. Does it use EventSpace?\n",
                losses->program);
    return joined && well && !events.starved ? COMMAND_OK : COMMAND_FAILED;
}
