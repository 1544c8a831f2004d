/* fence.c - membarrier. */
#include "pastset/fence.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pastset__fence_asymmetric;

static void ask(void)
{
    pastset__fence_asymmetric =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
}

bool pastset_fence_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, ask);
    return pastset__fence_asymmetric;
}

void pastset_fence_rarely(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (pastset__fence_asymmetric)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
