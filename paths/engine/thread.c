/* thread.c - paths.h for the threads of an application.
 *
 * A thread runs the down pass of its operation itself. If that comes back
 * held it waits: for the reply, on its link, or for its mailbox, in a futex.
 * With operations of paths_start under way it may have to wait for both, in
 * poll. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "paths/net/link_internal.h"
#include "paths/wrappers/collectives_internal.h"
#include "pastset/schedule.h"

uint32_t paths_thread_number(const paths_thread *self)
{
    return self->number;
}

uint32_t paths_thread_count(const paths_thread *self)
{
    return self->process->map_threads;
}

const char *paths_thread_name(const paths_thread *self)
{
    return self->node->name;
}

const char *paths_thread_host(const paths_thread *self)
{
    return paths_process_name(self->process);
}

const char *paths_thread_attribute(const paths_thread *self, const char *key)
{
    return paths_node_get(self->node, key);
}

/* --- waiting --- */

/* Brings up what others have completed, in the order in which they did. True
 * when there was something. */
static bool mailbox_take(paths_thread *self)
{
    /* Acquire: pairs with the release in post(). */
    operation *o =
        atomic_exchange_explicit(&self->mailbox, NULL, memory_order_seq_cst);
    operation *ordered = NULL;
    bool some = o != NULL;

    while (o) {
        operation *next = o->mail;
        o->mail = ordered;
        ordered = o;
        o = next;
    }
    while (ordered) {
        operation *next = ordered->mail;
        paths__bring_up(ordered);
        ordered = next;
    }
    return some;
}

/* Waits at the gate of a collective. False: the deadline passed. */
static bool gate_pass(paths_thread *self, operation *o, int64_t deadline)
{
    paths_stage *stage = o->stage;

    if (!paths_gate_look(o->gate, o->gate_value, &o->timeout)) {
        paths__executor_waits(&self->executor, o);
        if (!paths_gate_wait(o->gate, o->gate_value, deadline))
            return false;
    }
    o->gate = NULL;
    o->op.status = paths__collective_opened(stage, o);
    if (__builtin_expect(o->op.status < 0, 0))
        paths__keep_text(o, o->op.status);
    paths__bring_up(o);
    return true;
}

/* The deadline passed: takes the operation back from where it is held. */
static void give_up(operation *o)
{
    PASTSET_POINT("thread.gives_up");
    pastset_fail(PASTSET_ETIMEDOUT, "%s",
                 pastset_status_text(PASTSET_ETIMEDOUT));
    if (o->gate) {
        /* Else its round is complete, and the gate about to open. */
        if (o->stage->type->drop(o->stage, &o->op)) {
            o->gate = NULL;
            paths_resume(&o->op, PASTSET_ETIMEDOUT);
        }
        return;
    }
    if (o->left) {
        paths__end(o, PASTSET_ETIMEDOUT);
        return;
    }
    paths__link_give_up(o);
}

/* Until this operation is at the top. `deadline` is its own: what stands in it
 * is for whoever has it now. */
static void wait_for(paths_thread *self, operation *o, int64_t deadline)
{
    while (!o->done) {
        bool in_time = true;

        if (o->late)
            deadline = 0;
        if (o->gate) {
            in_time = gate_pass(self, o, o->late ? 0 : o->op.deadline_ns);
        } else if (!o->left) {
            mailbox_take(self); /* of others that are under way */
            paths__executor_waits(&self->executor, o);
            in_time = paths__links_wait(self, o);
        } else {
            pastset_waiter_rearm(&self->waiter);
            PASTSET_POINT("thread.rearmed");
            if (!mailbox_take(self)) {
                paths__executor_waits(&self->executor, o);
                in_time = pastset_waiter_wait(&self->waiter, deadline);
            }
        }
        if (!in_time) {
            o->late = true; /* the loop ends it, where it is held from now on */
            give_up(o);
        }
    }
    paths__executor_goes_on(&self->executor);
}

/* --- one operation --- */

/* The error of an operation, as the application shall read it. */
static int report(operation *o)
{
    paths_path *path = o->path;
    int status = o->op.status;

    if (status == PASTSET_EAGAIN)
        return status;
    /* Without a text there was no memory for it: the one of this thread is of
     * something else. */
    pastset_fail(status, "%s", o->text ? o->text : pastset_status_text(status));
    free(o->text);
    o->text = NULL;
    return pastset_fail_while(status, "%s over path \"%s\" (%s)",
                              pastset_verb_name(o->op.verb), path->name,
                              path->description);
}

static void cursor_move(paths_path *path, const operation *o)
{
    uint16_t verb = o->op.verb;

    if (verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE)
        return;
    path->cursor.read++;
    if (verb == PASTSET_READ_NEXT) {
        path->cursor.lost += o->op.lost;
        if (o->op.index >= path->cursor.next)
            path->cursor.next = o->op.index + 1;
    }
}

static void results(paths_arguments *arguments, const operation *o)
{
    arguments->bytes = o->op.bytes;
    arguments->capacity = o->op.capacity;
    arguments->index = o->op.index;
}

/* A read_next of paths_start has failed: its place is read again, rather than
 * passed over. */
static void cursor_back(paths_path *path, const operation *o)
{
    if (o->op.verb == PASTSET_READ_NEXT && o->asked < path->cursor.next)
        path->cursor.next = o->asked;
}

static void begin(operation *o, paths_path *path, paths_arguments *arguments)
{
    o->op.verb = (uint16_t)arguments->verb;
    o->op.nowait = arguments->timeout_ms == PASTSET_NOWAIT;
    o->op.status = 0;
    o->op.sequence = ++path->thread->sequence;
    o->op.tuple = arguments->tuple;
    o->op.bytes = arguments->bytes;
    o->op.result = arguments->result;
    o->op.capacity = arguments->capacity;
    o->op.index = arguments->index;
    o->op.lost = 0;
    o->op.pattern = arguments->pattern;
    o->op.deadline_ns = 0;
    if (__builtin_expect(arguments->timeout_ms > 0, 0))
        o->op.deadline_ns = pastset_deadline_ns(arguments->timeout_ms);
    o->stage = path->first;
    o->depth = 0;
    o->carry_depth = PATHS_STAGES_MAX + 1;
    o->gate = NULL;
    o->rising = false;
    o->left = false;
    o->late = false;
    o->done = false;
    if (__builtin_expect(o->text != NULL, 0)) { /* of a failure not reported */
        free(o->text);
        o->text = NULL;
    }
}

/* May the operation begin? Only with what the map allows; and reads of fixed
 * types must have room before they go, since an observe that does not fit would
 * be lost. */
static int check(const paths_path *path, const paths_arguments *arguments)
{
    bool allowed = is_allowed(path->verbs, arguments->verb);

    if (__builtin_expect(allowed && (arguments->verb == PASTSET_WRITE ||
                                     arguments->verb == PASTSET_EXCHANGE ||
                                     path->type->variable ||
                                     arguments->bytes >= path->read_bytes),
                         1))
        return 0;
    if (!allowed)
        return paths__uses_refuse(path, arguments->verb);
    return pastset_fail(PASTSET_EROOM,
                        "path \"%s\" (%s): a result of type \"%s\" has %u "
                        "bytes, but there is room for %zu",
                        path->name, path->description, path->type->text,
                        path->read_bytes, arguments->bytes);
}

/* The run has failed: nothing is begun any more. */
static int refuse(const paths_path *path, const paths_arguments *arguments)
{
    return pastset_fail_while(paths__process_failure(path->thread->process),
                              "%s over path \"%s\" (%s)",
                              pastset_verb_name(arguments->verb), path->name,
                              path->description);
}

static bool run_failed(const paths_path *path)
{
    return __builtin_expect(atomic_load_explicit(&path->thread->process->failed,
                                                 memory_order_relaxed) != 0,
                            0);
}

int paths_call(paths_path *path, paths_arguments *arguments)
{
    operation *o = &path->call;
    int64_t deadline;
    int err = check(path, arguments);

    if (err)
        return err;
    if (run_failed(path))
        return refuse(path, arguments);
    begin(o, path, arguments);
    if (arguments->verb == PASTSET_READ_NEXT)
        o->op.index = path->cursor.next;
    deadline = o->op.deadline_ns;
    if (paths__run(o) != RUN_DONE) {
        o->arguments = arguments;
        wait_for(path->thread, o, deadline);
    }
    if (__builtin_expect(o->op.status != 0, 0))
        return report(o);
    results(arguments, o);
    cursor_move(path, o);
    return 0;
}

int paths_write(paths_path *path, const void *tuple, size_t bytes)
{
    union {
        const void *from;
        void *to;
    } pointer = {.from = tuple}; /* a write reads it only */
    paths_arguments arguments = {.verb = PASTSET_WRITE,
                                 .tuple = pointer.to,
                                 .bytes = bytes,
                                 .timeout_ms = PASTSET_FOREVER};
    return paths_call(path, &arguments);
}

int paths_exchange(paths_path *path, const void *tuple, size_t bytes,
                   void *result, size_t capacity)
{
    union {
        const void *from;
        void *to;
    } pointer = {.from = tuple};
    paths_arguments arguments = {.verb = PASTSET_EXCHANGE,
                                 .tuple = pointer.to,
                                 .bytes = bytes,
                                 .result = result,
                                 .capacity = capacity,
                                 .timeout_ms = PASTSET_FOREVER};
    return paths_call(path, &arguments);
}

int paths_barrier(paths_path *path)
{
    return paths_write(path, "", 0);
}

static int read_simple(paths_path *path, pastset_verb verb, uint64_t index,
                       const pastset_pattern *pattern, void *tuple,
                       size_t capacity)
{
    paths_arguments arguments = {.verb = verb,
                                 .tuple = tuple,
                                 .bytes = capacity,
                                 .index = index,
                                 .pattern = pattern,
                                 .timeout_ms = PASTSET_FOREVER};
    return paths_call(path, &arguments);
}

int paths_read(paths_path *path, uint64_t index, void *tuple, size_t capacity)
{
    return read_simple(path, PASTSET_READ, index, NULL, tuple, capacity);
}

int paths_read_first(paths_path *path, void *tuple, size_t capacity)
{
    return read_simple(path, PASTSET_READ_FIRST, 0, NULL, tuple, capacity);
}

int paths_read_last(paths_path *path, void *tuple, size_t capacity)
{
    return read_simple(path, PASTSET_READ_LAST, 0, NULL, tuple, capacity);
}

int paths_read_next(paths_path *path, void *tuple, size_t capacity)
{
    return read_simple(path, PASTSET_READ_NEXT, 0, NULL, tuple, capacity);
}

int paths_observe(paths_path *path, void *tuple, size_t capacity)
{
    return read_simple(path, PASTSET_OBSERVE, 0, NULL, tuple, capacity);
}

int paths_take(paths_path *path, const pastset_pattern *pattern, void *tuple,
               size_t capacity)
{
    return read_simple(path, PASTSET_TAKE, 0, pattern, tuple, capacity);
}

/* --- operations that go on while the thread does something else --- */

static void started_add(paths_thread *self, operation *o)
{
    self->under_way++;
    o->younger = NULL;
    o->older = self->youngest;
    *(o->older ? &o->older->younger : &self->oldest) = o;
    self->youngest = o;
}

static void started_remove(paths_thread *self, operation *o)
{
    self->under_way--;
    *(o->older ? &o->older->younger : &self->oldest) = o->younger;
    *(o->younger ? &o->younger->older : &self->youngest) = o->older;
}

int paths_start(paths_path *path, paths_arguments *arguments, paths_done *done,
                void *context)
{
    paths_thread *self = path->thread;
    operation *o;
    int err = check(path, arguments);

    if (err)
        return err;
    if (run_failed(path))
        return refuse(path, arguments);
    o = calloc(1, sizeof(*o) + ROUTE_ENTRIES * sizeof(route_entry));
    if (!o)
        return pastset_no_memory("for an operation");
    o->route = (route_entry *)(void *)(o + 1);
    o->home = self;
    o->path = path;
    o->op.thread = self->number;
    o->asynchronous = true;
    o->arguments = arguments;
    o->callback = done;
    o->context = context;
    begin(o, path, arguments);
    /* Each is given the cursor's place in turn, as if the ones before it had
     * been read already. */
    if (arguments->verb == PASTSET_READ_NEXT)
        o->op.index = o->asked = path->cursor.next++;
    if (self->executor.notes)
        o->begun = self->process->ticks();
    started_add(self, o);
    if (paths__run(o) == RUN_DONE)
        paths__finished(o); /* paths_poll calls back */
    else
        paths__executor_is(&self->executor, PATHS_COMPUTING);
    return 0;
}

/* Calls back for one that is at the top. */
static void asynchronous_end(paths_thread *self, operation *o)
{
    int status = o->op.status;

    started_remove(self, o);
    if (status) {
        report(o);
        cursor_back(o->path, o);
    } else {
        results(o->arguments, o);
        cursor_move(o->path, o);
    }
    o->callback(o->arguments, status, o->context);
    free(o->text);
    free(o);
}

/* Those that are finished now; what their callbacks start and finish is for
 * the next time, so that this ends. */
static int finished_end(paths_thread *self)
{
    operation *o = self->finished;
    int count = 0;

    self->finished = self->finished_last = NULL;
    if (o)
        self->executor.noted = true; /* fewer than it says are under way */
    while (o) {
        operation *next = o->mail;
        asynchronous_end(self, o);
        count++;
        o = next;
    }
    return count;
}

static int poll_once(paths_thread *self, int timeout_ms, int64_t deadline,
                     bool *again)
{
    int count;

    *again = false;
    pastset_waiter_rearm(&self->waiter);
    PASTSET_POINT("thread.polls");
    mailbox_take(self);
    /* Others may finish each time, as local ones do when they are started. */
    if (self->finished && self->pending)
        paths__links_look(self);
    count = finished_end(self);
    if (count || (timeout_ms == PASTSET_NOWAIT && !self->pending))
        return count;
    if (timeout_ms != PASTSET_NOWAIT)
        paths__executor_waits(&self->executor, self->oldest);
    if (self->pending)
        *again = paths__links_wait_any(self, deadline);
    else
        *again = pastset_waiter_wait(&self->waiter, deadline);
    return 0;
}

int paths_poll(paths_thread *self, int timeout_ms)
{
    int64_t deadline = pastset_deadline_ns(timeout_ms);
    bool again = self->under_way > 0;
    int count = 0;

    while (again)
        count = poll_once(self, timeout_ms, deadline, &again);
    paths__executor_goes_on(&self->executor);
    return count;
}

/* --- life --- */

/* Collectives wait for each thread that the map gives a way to them. */
static void leave(paths_thread *self)
{
    char text[300];

    snprintf(text, sizeof(text), "thread %s (process %s) has ended",
             self->node->name, paths_process_name(self->process));
    for (uint32_t i = 0; i < self->node->out_count; i++)
        paths__collective_left(self->process->entries[self->node->out[i]],
                               text);
}

void *paths__thread_run(void *argument)
{
    paths_thread *self = argument;
    paths_process *process = self->process;
    char name[16]; /* what the kernel keeps, for ps, gdb and perf */

    snprintf(name, sizeof(name), "%s", self->node->name);
    pthread_setname_np(pthread_self(), name);
    paths__current_set(&self->executor);
    paths__executor_is(&self->executor, PATHS_COMPUTING);
    if (process->thread_begins)
        process->thread_begins(self->number);
    self->status = self->program(self, self->argument);
    if (self->status == 0 && self->under_way)
        self->status =
            pastset_fail(PASTSET_EAPP, "it ended with %u operations under way",
                         self->under_way);
    if (self->status) {
        int status = self->status < 0 ? self->status : PASTSET_EAPP;
        if (!*pastset_error())
            pastset_fail(status, "its program returned %d (%s)", self->status,
                         pastset_status_name(self->status));
        pastset_fail_while(status, "thread %s", self->node->name);
        paths__process_fail_thread(process, status);
    }
    while (self->under_way) /* the failure ends them */
        paths_poll(self, PASTSET_FOREVER);
    if (process->thread_ends)
        process->thread_ends(self->number, self->sequence);
    if (!atomic_load(&process->failed))
        leave(self);
    atomic_store(&self->ended, true); /* member.c tells it where it matters */
    paths__executor_is(&self->executor, PATHS_ENDED);
    paths__current_set(NULL);
    /* Release: pairs with the acquire in process.c; what the thread wrote is
     * visible when its end is. */
    atomic_fetch_sub_explicit(&process->threads_running, 1,
                              memory_order_release);
    paths__wake(&process->wakeup);
    return NULL;
}

void paths__thread_interrupt(paths_thread *thread)
{
    /* The lock is the one under which the thread adds links. */
    pthread_mutex_lock(&thread->process->failure_lock);
    for (uint32_t i = 0; i < thread->process->process_count; i++) {
        if (thread->links[i])
            paths__link_interrupt(thread->links[i]);
    }
    pthread_mutex_unlock(&thread->process->failure_lock);
    if (atomic_load(&thread->in_poll)) {
        uint64_t one = 1;
        ssize_t r = write(thread->event_fd, &one, sizeof(one));
        (void)r;
    }
}

void paths__thread_fini(paths_thread *thread)
{
    if (!thread->process)
        return; /* it was not made */
    paths__commits_fini(thread);
    while (thread->paths) {
        paths_path *path = thread->paths;
        thread->paths = path->next;
        paths__path_destroy(path);
    }
    for (uint32_t i = 0; thread->links && i < thread->process->process_count;
         i++) {
        if (thread->links[i])
            paths__link_close(thread->links[i]);
    }
    free(thread->links);
    free(thread->poll_fds);
    if (thread->event_fd >= 0)
        close(thread->event_fd);
}
