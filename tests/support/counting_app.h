/* counting_app.h - the file that counting_app counts in. */
#ifndef TESTS_SUPPORT_COUNTING_APP_H
#define TESTS_SUPPORT_COUNTING_APP_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Makes the file, in which nothing is counted yet, and maps it; NULL: it cannot
 * be made. */
static inline counting *counting_make(const char *file)
{
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *all = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(counting)) == 0)
        all = mmap(NULL, sizeof(counting), PROT_READ | PROT_WRITE, MAP_SHARED,
                   fd, 0);
    if (fd >= 0)
        close(fd);
    return all == MAP_FAILED ? NULL : all;
}

#endif
