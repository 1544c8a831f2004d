/* main.c - the program `barrier`. */
#include "apps/barrier/barrier.h"

static const char about[] =
    "The barrier benchmark: threads wait for random times before each barrier, "
    "and one of them longer than the others.\v"
    "Sizes are rounds and the longest wait of the others: S 20 of 2ms, W 400 "
    "of 2ms, A 300 of 20ms, B 300 of 200ms, C 100 of 2s. How long a thread "
    "waits in a round depends only on --seed, thread and round.\n"
    "\n"
    "Results: `planned_late` is the number of rounds in which the late thread "
    "waits longest, `planned_ns` what the longest waits make together; both "
    "are those of `single --threads N`. A run takes no less than that, and "
    "unless --unchecked it fails when a thread leaves a barrier before all "
    "have come. What the threads measured: `last_late`, in how many rounds "
    "the late thread was the last of all, `last_late_on_process`, of those of "
    "its process, `last_process`, in how many the last one was of its process; "
    "`last_planned`, in how many the last one was the one that waited longest; "
    "`leave_us_mean`, from the last arrival to the last leaving.\n"
    "\n"
    "arrivals.csv has a line for each thread and round: round, thread, "
    "process, arrived_ns, left_ns. Times are of CLOCK_REALTIME, for processes "
    "on several machines as good as these are synchronized.";

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
