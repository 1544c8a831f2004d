/* main.c - the program `farm`. */
#include "apps/farm/farm.h"

static const char about[] =
    "A master hands out tasks to workers, in rounds.\v"
    "Thread 0 is the master. Each round has 120 (S), 240 (W), 480 (A, B, C) "
    "tasks of some 10 (S) or 40 us, and there are 50, 200, 1000, 4000 or 16000 "
    "rounds. All workers get equally many tasks, unless the share of a "
    "process is changed: 'eventspace tune RUN share=0.5 --process=h1'.\n"
    "\n"
    "Results: the number of tasks, a checksum of what they gave, which is the "
    "same for any number of workers and for `single`, and how many tasks each "
    "worker has had.";

int main(int argc, char **argv)
{
    static const program it = {
        .name = "farm",
        .about = about,
        .mapping = farm_mapping,
        .single = farm_single,
        .thread = farm_thread,
    };

    return program_main(&it, argc, argv);
}
