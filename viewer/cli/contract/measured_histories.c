/* measured_histories.c - see measured_histories.h. */
#include "viewer/cli/contract/measured_histories.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/sensors/history.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/cli/command.h"

#define MS_NS 1000000
#define BEFORE_MS 3600000 /* a run begins, its first values were sampled */

struct cli_measured_history {
    char *file;
    struct stat seen; /* when it was read */
    measure_history *history;
    bool is_told; /* that it is not there */
};

/* --- files --- */

static bool has_changed(const struct stat *a, const struct stat *b)
{
    return a->st_ino != b->st_ino || a->st_size != b->st_size ||
           a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
           a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

/* Takes over the name. */
static int history_of(cli_measured_history **out, cli_measured_histories *kept,
                      char *file)
{
    cli_measured_history *items;

    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->items[i].file, file) == 0) {
            free(file);
            *out = &kept->items[i];
            return 0;
        }
    items = pastset_array_grow(kept->items, kept->count, sizeof(*items));
    if (!items) {
        free(file);
        return pastset_no_memory("for histories");
    }
    kept->items = items;
    *out = &items[kept->count++];
    **out = (cli_measured_history){.file = file};
    return 0;
}

/* What is known of it stays if it cannot be read once more. */
static int history_look(cli_measured_history *h, int64_t from_ms)
{
    measure_history *again;
    struct stat now;
    int err;

    if (stat(h->file, &now) == 0 && h->history && !has_changed(&h->seen, &now))
        return 0;
    err = measure_history_read_since(&again, h->file, from_ms);
    if (err == PASTSET_ENOMEM)
        return err;
    if (err) {
        if (!h->is_told)
            fprintf(stderr, "eventspace: %s; metrics of that are not known\n",
                    pastset_error());
        h->is_told = true;
        return 0;
    }
    measure_history_destroy(h->history);
    h->history = again;
    h->seen = now;
    h->is_told = false;
    return 0;
}

/* --- of a process --- */

/* NULL: no memory. */
static char *file_name(const char *folder, const char *kind, const char *place)
{
    char *file;

    return asprintf(&file, "%s/%s%s%s" MEASURE_HISTORY_SUFFIX, folder, kind,
                    *place ? "." : "", place) < 0
               ? NULL
               : file;
}

static char *file_of(const char *folder, const char *name,
                     const eventspace_run_process *process, const char *called)
{
    struct stat about;
    char *file;

    if (strchr(name, '.'))
        return file_name(folder, name, "");
    file = file_name(folder, name, called);
    if (!file || stat(file, &about) == 0 || !process || !process->has_meta ||
        !*process->meta.machine)
        return file;
    free(file);
    return file_name(folder, name, process->meta.machine);
}

/* Since 1970, when the time of a run begins. */
static int64_t begin_ns(const eventspace_run *run)
{
    for (size_t p = 0; p < eventspace_run_process_count(run); p++) {
        const eventspace_run_process *one = eventspace_run_process_at(run, p);
        if (one->has_meta)
            return (int64_t)one->meta.start_wall_ns -
                   eventspace_run_time_ns(run, p, one->meta.start_tick);
    }
    return 0;
}

static void fill(contracts_course *c, uint32_t process, size_t column,
                 const measure_history *history, int64_t begin)
{
    for (size_t i = 0; i < c->intervals; i++) {
        int64_t from_ns = begin + c->from_ns + (int64_t)i * c->interval_ns;
        contracts_course_at(c, process, i)[column] = measure_history_value(
            history, from_ns / MS_NS, (from_ns + c->interval_ns) / MS_NS);
    }
}

static int fill_process(cli_measured_histories *kept, contracts_course *c,
                        const contracts_contract *contract,
                        const eventspace_run *run, uint32_t p, const char *name)
{
    const eventspace_run_process *process =
        p < eventspace_run_process_count(run)
            ? eventspace_run_process_at(run, p)
            : NULL;
    int64_t begin = begin_ns(run);
    size_t count;
    const char *const *series =
        contracts_metrics_histories(contract->metrics, &count);
    int err = 0;

    for (size_t i = 0; i < count && !err; i++) {
        cli_measured_history *h = NULL;
        char *file =
            file_of(contract->histories_path, series[i], process, name);
        err = file ? history_of(&h, kept, file)
                   : pastset_no_memory("for histories");
        if (!err)
            err = history_look(h, (begin + c->from_ns) / MS_NS - BEFORE_MS);
        if (!err && h->history)
            fill(c, p, c->width - count + i, h->history, begin);
    }
    return err;
}

int cli_measured_histories_fill(cli_measured_histories *kept,
                                contracts_course *course,
                                const contracts_contract *contract,
                                const eventspace_run *run,
                                const char *const *names)
{
    size_t count;
    int err = 0;

    (void)contracts_metrics_histories(contract->metrics, &count);
    if (count && !contract->histories_path)
        return pastset_fail(PASTSET_EINVAL,
                            "metrics are of histories, and the contract does "
                            "not say in which folder these are: write "
                            "histories \"DIR\"; in front of them");
    for (uint32_t p = 0; count && p < course->processes && !err; p++)
        err = fill_process(kept, course, contract, run, p, names[p]);
    return err;
}

void cli_measured_histories_end(cli_measured_histories *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        free(kept->items[i].file);
        measure_history_destroy(kept->items[i].history);
    }
    free(kept->items);
}
