/* wakeup_internal.h - other threads ask a process's loop to look at what they
 * left for it. Any thread, from when the loop was made until all are joined. */
#ifndef PATHS_WAKEUP_INTERNAL_H
#define PATHS_WAKEUP_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

typedef struct paths_process paths_process;

typedef struct wakeup {
    uv_poll_t poll;
    int fd;           /* -1: none */
    atomic_bool told; /* the loop has not looked yet */
    void (*look)(paths_process *process);
} wakeup;

/* 0, or what libuv or the kernel says (negative). `look` is called in the loop,
 * once at least for what was left before each paths__wake. */
int paths__wakeup_open(wakeup *w, uv_loop_t *loop, paths_process *process,
                       void (*look)(paths_process *process));

/* After the handle is closed. */
void paths__wakeup_close(wakeup *w);

void paths__wake(wakeup *w);

#endif
