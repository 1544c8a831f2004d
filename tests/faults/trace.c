/* trace.c - makes a small trace of an MPI program: messages that are received
 * in another order than they were sent, and collectives.
 *
 *     faults_trace DIRECTORY */
#include "tests/viewer/otf2_make.h"

#define US INT64_C(1000)
#define MESSAGES 20

static void messages(otf2_make *m)
{
    for (uint32_t i = 0; i < MESSAGES; i++) {
        otf2_enter(m, 1, (10 + 2 * i) * US, "MPI_Irecv");
        otf2_request(m, 1, (10 + 2 * i) * US, i);
        otf2_leave(m, 1, (11 + 2 * i) * US, "MPI_Irecv");
        otf2_make_bytes(m, i);
        otf2_call_send(m, 0, (100 + 10 * i) * US, (101 + 10 * i) * US, 1,
                       i % 2 ? i : 3);
    }
    for (uint32_t n = 0; n < MESSAGES; n++) {
        uint32_t i = n ^ 1;
        otf2_make_bytes(m, i);
        otf2_call_wait(m, 1, (500 + 10 * n) * US, (501 + 10 * n) * US, 0,
                       i % 2 ? i : 3, i);
    }
}

int main(int argc, char **argv)
{
    otf2_make *m;

    if (argc != 2)
        return 2;
    m = otf2_make_begin(argv[1], 2, NULL);
    otf2_enter(m, 0, 1 * US, "solve");
    otf2_leave(m, 0, 2 * US, "solve");
    messages(m);
    for (uint32_t rank = 0; rank < 2; rank++) {
        otf2_call_collective(m, rank, 1000 * US, 1010 * US, "MPI_Barrier",
                             OTF2_COLLECTIVE_OP_BARRIER,
                             OTF2_COLLECTIVE_ROOT_NONE);
        otf2_call_collective(m, rank, 1020 * US, 1030 * US, "MPI_Bcast",
                             OTF2_COLLECTIVE_OP_BCAST, 0);
    }
    otf2_call_send(m, 0, 2000 * US, 2001 * US, 1, 9); /* nobody receives it */
    otf2_make_end(m);
    return 0;
}
