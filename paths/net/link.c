/* link.c - the connections of a thread to other processes, and how it waits on
 * them.
 *
 * The reply to a request is read by the thread that waits for it, so a remote
 * operation wakes two threads, as a bare ping-pong does: the server's loop and
 * this one. What waiting takes is made with a thread's first link, so that
 * waiting cannot fail. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/connect_internal.h"
#include "paths/net/link_internal.h"
#include "paths/wrappers/collectives_internal.h"
#include "pastset/schedule.h"

/* What waiting on links takes. */
static int waiting_make(paths_thread *thread)
{
    if (thread->event_fd < 0)
        thread->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (thread->event_fd < 0)
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot make a descriptor to wait with: %s",
                            strerror(errno));
    if (!thread->poll_fds)
        thread->poll_fds = calloc((size_t)thread->process->process_count + 1,
                                  sizeof(*thread->poll_fds));
    if (!thread->poll_fds)
        return pastset_no_memory("for a link");
    return 0;
}

int paths__link_open(paths_thread *thread, uint32_t process)
{
    thread_link *link = calloc(1, sizeof(*link));
    int err;

    if (!link)
        return pastset_no_memory("for a link");
    link->thread = thread;
    link->process = process;
    link->channel.fd = -1;
    paths__executor_connects(&thread->executor, process);
    err = waiting_make(thread);
    if (!err)
        err = paths__connect(thread->process, process, ROLE_THREAD,
                             &link->channel);
    paths__executor_goes_on(&thread->executor);
    if (err) {
        free(link);
        return err;
    }
    /* The loop walks the links when the run fails. */
    pthread_mutex_lock(&thread->process->failure_lock);
    thread->links[process] = link;
    pthread_mutex_unlock(&thread->process->failure_lock);
    if (atomic_load(&thread->process->failed))
        return paths__process_failure(thread->process);
    return 0;
}

void paths__link_close(thread_link *link)
{
    paths__channel_close(&link->channel);
    free(link->rest);
    free(link);
}

void paths__link_interrupt(thread_link *link)
{
    shutdown(link->channel.fd, SHUT_RDWR);
}

/* --- deadlines --- */

/* Takes those of paths_start that are due off a link, into a list. */
static void overdue_take(thread_link *link, int64_t now, operation **list)
{
    operation *next;

    for (operation *o = link->pending.first; o; o = next) {
        next = o->pending_next;
        if (!o->asynchronous || !link_due_of(o))
            continue;
        if (link_due_of(o) > now) {
            link_watch(link, o);
            continue;
        }
        paths__link_drop(link, o);
        o->pending_next = *list;
        *list = o;
    }
}

/* Those of paths_start that wait on links: nobody else looks at the clock for
 * them. */
static void overdue_end(paths_thread *thread)
{
    operation *list = NULL;
    int64_t now;

    if (!thread->links_due_ns)
        return;
    now = pastset_now_ns();
    if (now < thread->links_due_ns)
        return;
    thread->links_due_ns = 0;
    for (uint32_t i = 0; i < thread->process->process_count; i++) {
        if (thread->links[i])
            overdue_take(thread->links[i], now, &list);
    }
    while (list) {
        operation *o = list;
        list = o->pending_next;
        paths__link_give_up(o);
    }
}

void paths__link_give_up(operation *o)
{
    if (o->on_link)
        paths__link_drop(o->on_link, o);
    o->op.status = pastset_fail(PASTSET_ETIMEDOUT, "%s",
                                pastset_status_text(PASTSET_ETIMEDOUT));
    paths__keep_text(o, PASTSET_ETIMEDOUT);
    paths__collective_lost_step(o->stage, o, PASTSET_ETIMEDOUT);
    paths__bring_up(o);
}

/* --- waiting --- */

static bool satisfied(const paths_thread *thread, const operation *o)
{
    if (o ? o->done : thread->finished != NULL)
        return true;
    return atomic_load(&thread->mailbox) != NULL;
}

/* Waits on all links with pending operations and on the mailbox's bell. */
static void poll_all(paths_thread *thread, const operation *o,
                     int64_t deadline_ns)
{
    uint32_t processes = thread->process->process_count;
    struct pollfd *fds = thread->poll_fds;
    int64_t due = thread->links_due_ns;
    uint64_t rings;
    int ready = 0;

    fds[processes] = (struct pollfd){.fd = thread->event_fd, .events = POLLIN};
    for (uint32_t i = 0; i < processes; i++) {
        thread_link *link = thread->links[i];
        fds[i] = (struct pollfd){
            .fd = link && link->pending.first ? link->channel.fd : -1,
            .events = POLLIN};
    }
    if (!due || (deadline_ns && deadline_ns < due))
        due = deadline_ns;
    atomic_store(&thread->in_poll, true);
    PASTSET_POINT("link.polls");
    if (!satisfied(thread, o))
        ready = paths__link_poll(fds, processes + 1, due);
    atomic_store(&thread->in_poll, false);
    for (uint32_t i = 0; i < processes && ready > 0; i++) {
        if (fds[i].revents)
            paths__link_read(thread->links[i], false);
    }
    if (fds[processes].revents &&
        read(thread->event_fd, &rings, sizeof(rings)) < 0)
        rings = 0;
    overdue_end(thread);
}

static bool links_wait(paths_thread *thread, const operation *o,
                       int64_t deadline_ns)
{
    while (!satisfied(thread, o)) {
        if (thread->pending == 0)
            return true; /* it is not a link that it waits for any more */
        if (o && o->on_link && !deadline_ns && !thread->under_way) {
            /* the common case: one reply, one recv */
            paths__link_read(o->on_link, true);
            continue;
        }
        poll_all(thread, o, deadline_ns);
        if (deadline_ns && !satisfied(thread, o) &&
            pastset_now_ns() >= deadline_ns)
            return false;
    }
    return true;
}

void paths__links_look(paths_thread *thread)
{
    for (uint32_t i = 0; i < thread->process->process_count; i++) {
        thread_link *link = thread->links[i];
        if (link && link->pending.first)
            paths__link_read(link, false);
    }
    overdue_end(thread);
}

bool paths__links_wait(paths_thread *thread, const operation *o)
{
    return links_wait(thread, o, link_due_of(o));
}

bool paths__links_wait_any(paths_thread *thread, int64_t deadline_ns)
{
    return links_wait(thread, NULL, deadline_ns);
}
