/* problem.c - see farm.h. */
#include "apps/farm/farm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pastset/status.h"

void farm_make(farm *f, const program_options *options)
{
    static const struct {
        char size;
        uint32_t rounds, tasks, steps;
    } sizes[] = {{'S', 50, 120, 5000},
                 {'W', 200, 240, 20000},
                 {'A', 1000, 480, 20000},
                 {'B', 4000, 480, 20000},
                 {'C', 16000, 480, 20000}};
    size_t i = 0;

    while (sizes[i].size != options->size)
        i++;
    *f = (farm){options->rounds ? options->rounds : sizes[i].rounds,
                sizes[i].tasks, sizes[i].steps, program_mix(options->seed)};
}

int farm_check(const farm *f, uint32_t threads)
{
    if (threads >= 2 && threads - 1 <= f->tasks)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "%" PRIu32 " threads: there must be a master and 1 to "
                        "%" PRIu32 " workers",
                        threads, f->tasks);
}

uint64_t farm_tasks(const farm *f, uint64_t state, uint64_t first,
                    uint64_t count)
{
    uint64_t sum = 0;

    for (uint64_t task = first; task < first + count; task++) {
        uint64_t x = program_mix(state ^ program_mix(task));
        for (uint32_t i = 0; i < f->steps; i++)
            x = program_mix(x);
        sum += x;
    }
    return sum;
}

uint64_t farm_next(uint64_t state, uint64_t sum)
{
    return program_mix(state ^ sum);
}

/* "320,160" */
static int handed_report(const uint64_t *handed, uint32_t workers,
                         program_result *result)
{
    size_t bytes;
    char *text;
    FILE *out = open_memstream(&text, &bytes);
    int err;

    if (!out)
        return pastset_no_memory("for the results");
    for (uint32_t i = 0; i < workers; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "", handed[i]);
    err = fclose(out) == 0 ? program_text(result, "handed", text)
                           : pastset_no_memory("for the results");
    free(text);
    return err;
}

int farm_report(const farm *f, uint64_t state, const uint64_t *handed,
                uint32_t workers, program_result *result)
{
    char sum[17];

    snprintf(sum, sizeof(sum), "%016" PRIx64, state);
    program_count(result, "tasks", (uint64_t)f->rounds * f->tasks);
    program_text(result, "checksum", sum);
    return handed ? handed_report(handed, workers, result) : 0;
}
