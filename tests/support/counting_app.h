/* counting_app.h - the file that counting_app counts in. */
#ifndef TESTS_SUPPORT_COUNTING_APP_H
#define TESTS_SUPPORT_COUNTING_APP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COUNTING_THREADS 16

typedef struct counting_thread {
    _Atomic int32_t pid;      /* of its process; 0: it has not begun */
    _Atomic uint64_t out, in; /* operations that have come back */
} counting_thread;

typedef struct counting {
    _Atomic bool stop;
    counting_thread threads[COUNTING_THREADS];
    _Atomic uint64_t limit; /* of operations each way; 0: none */
} counting;

#endif
