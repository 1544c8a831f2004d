/* main.c - the program `barrier`. */
#include "apps/barrier/barrier.h"

static const char about[] =
    "The barrier benchmark: threads wait for random times before each barrier, "
    "and one of them longer than the others.\vA size sets the number of rounds "
    "and the longest wait of the other threads: S 20 and 2ms, W 400 and 2ms, A "
    "300 and 20ms, B 300 and 200ms, C 100 and 2s. How long a thread waits in a "
    "round depends on --seed, thread and round only.\n"
    "\n"
    "Results: `planned_late` is the number of rounds in which the late thread "
    "waits longest, `planned_ns` the sum of the longest waits of all rounds; "
    "`single` with the same --threads has the same values. A run takes at "
    "least that long, and fails when a thread leaves a barrier before all have "
    "arrived, unless --unchecked is given. It measures `last_late`, the number "
    "of rounds in which the late thread arrived last of all; "
    "`last_late_on_process`, in which it arrived last of its process; "
    "`last_process`, in which the last thread was of its process; "
    "`last_planned`, in which the thread that waited longest arrived last; and "
    "`leave_us_mean`, the mean time from the last arrival until the last "
    "thread has left.\n"
    "\n"
    "arrivals.csv has a line for each thread and round: round, thread, "
    "process, arrived_ns, left_ns. Times are read from CLOCK_REALTIME; between "
    "machines they are only as accurate as the synchronization of the clocks.";

int main(int argc, char **argv)
{
    static const program barrier = {
        .name = "barrier",
        .about = about,
        .single_takes_threads = true,
        .options = barrier_described,
        .parse = barrier_parse,
        .own_bytes = sizeof(barrier_options),
        .mapping = barrier_mapping,
        .single = barrier_single,
        .thread = barrier_thread,
    };
    return program_main(&barrier, argc, argv);
}
