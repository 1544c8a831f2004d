/* main.c - the program `gsum`. */
#include "apps/gsum/gsum.h"

static const char about[] =
    "The global sum benchmark: in each round all threads contribute to a sum, "
    "and each receives it.\vSizes are rounds: S 200, W 10,000, A 100,000, B "
    "500,000, C 2,000,000.\n"
    "\n"
    "Each contributor checks each sum. Results: `checksum` is that of all "
    "sums; `single` with the same --threads gives the same. Thread 0 of a run "
    "measures `round_us_median` and `round_us_mean`, from the end of one round "
    "to that of the next; `sum_us_median` and `sum_us_mean`, the part of it "
    "that it waits for the sum; and `compute_us_median`, the part that it "
    "computes.";

int main(int argc, char **argv)
{
    static const program gsum = {
        .name = "gsum",
        .about = about,
        .single_takes_threads = true,
        .options = gsum_described,
        .parse = gsum_parse,
        .own_bytes = sizeof(gsum_options),
        .own_defaults = &gsum_defaults,
        .mapping = gsum_mapping,
        .single = gsum_single,
        .thread = gsum_thread,
    };
    return program_main(&gsum, argc, argv);
}
