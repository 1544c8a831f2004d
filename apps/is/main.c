/* main.c - the program `is`. */
#include "apps/is/sort.h"

#include <inttypes.h>
#include <stdio.h>

static const char about[] =
    "Integer sort: ranks keys again and again while some of them change.\v"
    "Sizes: S 2^17 keys below 2^13, 10 rounds; W 2^22 below 2^18, 500; A 2^24 "
    "below 2^20, 400; B 2^25 below 2^21, 1000; C 2^26 below 2^22, 1000. There "
    "can "
    "be as many threads as buckets: 512 for size S, else 1024.\n"
    "\n"
    "Threads exchange their keys by buckets, so that each ranks a range of "
    "them. "
    "Each round compares the ranks of five keys with the number of smaller "
    "keys, "
    "counted without buckets. At the end all keys are sorted, and their order "
    "is "
    "checked within and between threads.\n"
    "\n"
    "Results: `keys`; `rank_0` to `rank_4`, the ranks of the five keys in the "
    "last "
    "round; `rank_sum` of all rounds; `checksum` of each key and its rank. All "
    "are "
    "the same for any number of threads.";

int sort_tell(const sort_outcome *outcome, program_result *result)
{
    char text[24];
    int err = program_count(result, "keys", outcome->keys);

    for (int i = 0; i < SORT_PROBES && !err; i++) {
        snprintf(text, sizeof(text), "rank_%d", i);
        err = program_count(result, text, outcome->ranks[i]);
    }
    if (!err)
        err = program_count(result, "rank_sum", outcome->rank_sum);
    snprintf(text, sizeof(text), "%016" PRIx64, outcome->checksum);
    return err ? err : program_text(result, "checksum", text);
}

static int single(const program_options *options, program_result *result)
{
    sort_problem problem;
    sort_outcome outcome;
    int err = sort_problem_set(&problem, options);

    if (!err)
        err = sort_single(&problem, &outcome);
    return err ? err : sort_tell(&outcome, result);
}

int main(int argc, char **argv)
{
    static const program is = {
        .name = "is",
        .about = about,
        .mapping = sort_mapping,
        .single = single,
        .thread = sort_thread,
    };

    return program_main(&is, argc, argv);
}
