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
/* What is read of a history begins so long before the run: its first value may
 * be that of a sample before. */
#define BEFORE_MS 3600000

struct cli_measured_history {
    char *name;               /* of the file, by the process's name */
    char *file;               /* the same, or that of its machine */
    struct stat seen;         /* when it was read */
    measure_history *history; /* NULL: it was not there so far */
    bool is_told;             /* that it cannot be read */
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
                      char *name)
{
    cli_measured_history *items;

    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->items[i].name, name) == 0) {
            free(name);
            *out = &kept->items[i];
            return 0;
        }
    items = pastset_array_grow(kept->items, kept->count, sizeof(*items));
    if (!items) {
        free(name);
        return pastset_no_memory("for histories");
    }
    kept->items = items;
    *out = &items[kept->count++];
    **out = (cli_measured_history){.name = name};
    return 0;
}

/* What is known of it stays if it cannot be read once more. */
static int history_look(cli_measured_history *h, int64_t from_ms)
{
    measure_history *again;
    struct stat now = {0};
    int err;

    if (stat(h->file, &now) == 0 && h->history && !has_changed(&h->seen, &now))
        return 0;
    err = measure_history_read_since(&again, h->file, from_ms);
    if (err == PASTSET_ENOMEM)
        return err;
    if (err) {
        if (!h->is_told)
            fprintf(stderr, "eventspace: %s; %s\n", pastset_error(),
                    h->history ? "what was known of it before stays"
                               : "metrics of that are not known");
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

/* Where it is looked for, until it has been there once: at the name of the
 * process, or at that of its machine if that is there. */
static int file_choose(cli_measured_history *h, const char *folder,
                       const char *name, const eventspace_run_process *process)
{
    struct stat about;
    char *other = NULL;

    if (h->history)
        return 0;
    free(h->file);
    h->file = strdup(h->name);
    if (stat(h->name, &about) != 0 && !strchr(name, '.') && process &&
        process->has_meta && *process->meta.machine)
        other = file_name(folder, name, process->meta.machine);
    if (other && stat(other, &about) == 0) {
        free(h->file);
        h->file = other;
    } else {
        free(other);
    }
    return h->file ? 0 : pastset_no_memory("for histories");
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
        char *file = file_name(contract->histories_path, series[i],
                               strchr(series[i], '.') ? "" : name);
        err = file ? history_of(&h, kept, file)
                   : pastset_no_memory("for histories");
        if (!err)
            err = file_choose(h, contract->histories_path, series[i], process);
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
                            "histories \"DIR\";");
    for (uint32_t p = 0; count && p < course->processes && !err; p++)
        err = fill_process(kept, course, contract, run, p, names[p]);
    return err;
}

void cli_measured_histories_end(cli_measured_histories *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        free(kept->items[i].name);
        free(kept->items[i].file);
        measure_history_destroy(kept->items[i].history);
    }
    free(kept->items);
}
