/* otf2_make.h - traces in OTF2 made by hand: MPI ranks 0 to n-1, each a process
 * with one thread. Times are nanoseconds. */
#ifndef TESTS_VIEWER_OTF2_MAKE_H
#define TESTS_VIEWER_OTF2_MAKE_H

#include <otf2/otf2.h>

typedef struct otf2_make otf2_make;

/* Makes DIRECTORY/trace.otf2. By the clock of rank r all is stamped
 * ahead_ns[r] later; NULL: by one clock. */
otf2_make *otf2_make_begin(const char *directory, uint32_t ranks,
                           const int64_t *ahead_ns);

/* Another thread of a rank's process, to be used as a rank below. */
uint32_t otf2_make_helper(otf2_make *m, uint32_t rank);
/* What all processes are called, and the
 * communicator of all, which is then derived from another. Borrowed until the
 * end; NULL: as usual. */
void otf2_make_name(otf2_make *m, const char *processes,
                    const char *communicator);

/* A region; those of MPI are called "MPI_...". */
void otf2_enter(otf2_make *m, uint32_t rank, int64_t ns, const char *region);
void otf2_leave(otf2_make *m, uint32_t rank, int64_t ns, const char *region);

/* How long messages are from now on; the usual: 8 bytes. */
void otf2_make_bytes(otf2_make *m, uint64_t bytes);

/* In MPI_COMM_WORLD. */
void otf2_send(otf2_make *m, uint32_t rank, int64_t ns, uint32_t to,
               uint32_t tag);
void otf2_receive(otf2_make *m, uint32_t rank, int64_t ns, uint32_t from,
                  uint32_t tag);
/* MPI_Irecv begins; the call of MPI_Wait in which it ends. */
void otf2_request(otf2_make *m, uint32_t rank, int64_t ns, uint64_t id);
void otf2_call_wait(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns,
                    uint32_t from, uint32_t tag, uint64_t id);
void otf2_collective(otf2_make *m, uint32_t rank, int64_t ns,
                     OTF2_CollectiveOp operation, uint32_t root);
void otf2_thread(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns);
/* Of a kind that has no place in a run. */
void otf2_other(otf2_make *m, uint32_t rank, int64_t ns);

/* A whole call: it is entered, does that, and is left. */
void otf2_call_send(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns,
                    uint32_t to, uint32_t tag);
void otf2_call_receive(otf2_make *m, uint32_t rank, int64_t from_ns,
                       int64_t to_ns, uint32_t from, uint32_t tag);
void otf2_call_collective(otf2_make *m, uint32_t rank, int64_t from_ns,
                          int64_t to_ns, const char *region,
                          OTF2_CollectiveOp operation, uint32_t root);

/* Ticks of a second; the usual: 10^9. */
void otf2_make_ticks(otf2_make *m, uint64_t a_second);

/* Events of each rank must have come in order. */
void otf2_make_end(otf2_make *m);

#endif
