/* measured_run.c - what the processes of a run did, for commands. */
#include "viewer/cli/contract/measured_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/profile/profile.h"
#include "viewer/cli/command.h"
#include "viewer/tables/facts.h"

/* A thread of which there is no event in what is looked at is taken to count
 * nothing: so long one may have nothing to add. */
#define SELDOM_NS 10000000000

static int names_find(cli_measured *m)
{
    const paths_map *map = m->snapshot->topology->map;
    size_t length = 0;
    char *to;

    free(m->names);
    free(m->text);
    m->processes = map->process_count;
    for (uint32_t i = 0; i < m->processes; i++)
        length += strlen(map->processes[i].name) + 1;
    m->names = calloc((size_t)m->processes + 1, sizeof(*m->names));
    m->text = to = malloc(length + 1);
    if (!m->names || !m->text)
        return pastset_no_memory("for names");
    for (uint32_t i = 0; i < m->processes; i++) {
        m->names[i] = to;
        to = stpcpy(to, map->processes[i].name) + 1;
    }
    return 0;
}

static int course_take(cli_measured *m, const contracts_contract *contract)
{
    size_t count, histories;
    const char *const *programs =
        contracts_metrics_programs(contract->metrics, &count);
    int err;

    (void)contracts_metrics_histories(contract->metrics, &histories);
    err = contracts_course_take(&m->course, m->snapshot,
                                llround(contract->interval_s * 1e9), programs,
                                count, histories);
    return err ? err
               : cli_measured_histories_fill(&m->histories, m->course, contract,
                                             m->snapshot->run, m->names);
}

static bool is_known(const contracts_course *c, size_t quantity)
{
    for (uint32_t p = 0; p < c->processes; p++)
        for (size_t i = 0; i < c->intervals; i++)
            if (!isnan(contracts_course_at(c, p, i)[quantity]))
                return true;
    return false;
}

static void warn_of_programs(const cli_measured *m, const char *name,
                             const contracts_contract *contract)
{
    size_t count;
    const char *const *programs =
        contracts_metrics_programs(contract->metrics, &count);

    for (size_t i = 0; i < count; i++)
        if (!is_known(m->course, CONTRACTS_QUANTITIES + i))
            fprintf(stderr,
                    "eventspace: %s: no process counts \"%s\" for a whole "
                    "interval: metrics of that are not known\n",
                    name, programs[i]);
}

int cli_measured_take(cli_measured *m, eventspace_run *run, const char *name,
                      const contracts_contract *contract)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    int err;

    *m = (cli_measured){0};
    err = scopes_snapshot_take(&m->snapshot, run, &all);
    if (!err)
        err = viewer_require_events(m->snapshot, name);
    if (!err)
        err = names_find(m);
    if (!err)
        err = course_take(m, contract);
    return err;
}

int cli_measured_begin(cli_measured *m, eventspace_run *run, const char *name,
                       const contracts_contract *contract)
{
    int err = cli_measured_take(m, run, name, contract);

    if (m->snapshot) {
        cli_warn_of_run(run, name);
        cli_warn_of_clocks(run, m->snapshot->clocks);
        if (m->snapshot->event_table->ledger.lost > 0)
            fprintf(stderr,
                    "eventspace: %s has lost %" PRIu64 " events: intervals of "
                    "which some are missing are not known\n",
                    name, m->snapshot->event_table->ledger.lost);
    }
    if (!err)
        warn_of_programs(m, name, contract);
    return err;
}

void cli_measured_forget_events(cli_measured *m)
{
    scopes_snapshot_destroy(m->snapshot);
    m->snapshot = NULL;
}

void cli_measured_end(cli_measured *m)
{
    contracts_course_destroy(m->course);
    free(m->names);
    free(m->text);
    scopes_snapshot_destroy(m->snapshot);
    scopes_scheduling_reader_destroy(m->reader);
    cli_measured_histories_end(&m->histories);
}

int cli_measured_look(cli_measured *m, eventspace_run *run,
                      const contracts_contract *contract, int64_t next_ns,
                      int64_t margin_ns)
{
    scopes_snapshot_options part = SCOPES_SNAPSHOT_ALL;
    size_t programs;
    int err = eventspace_run_refresh(run);

    contracts_course_destroy(m->course);
    scopes_snapshot_destroy(m->snapshot);
    m->course = NULL;
    m->snapshot = NULL;
    (void)contracts_metrics_programs(contract->metrics, &programs);
    if (programs && margin_ns < SELDOM_NS)
        margin_ns = SELDOM_NS;
    if (next_ns != INT64_MIN)
        part.from_ns = next_ns - margin_ns;
    if (!err && !m->reader)
        err = scopes_scheduling_reader_create(&m->reader, margin_ns);
    part.reader = m->reader;
    if (!err)
        err = scopes_snapshot_take(&m->snapshot, run, &part);
    if (!err)
        err = names_find(m);
    return err ? err : course_take(m, contract);
}

const eventspace_run_process *cli_measured_process(const eventspace_run *run,
                                                   const char *name)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *one = eventspace_run_process_at(run, i);
        if (strcmp(one->name, name) == 0)
            return one;
    }
    return NULL;
}

void cli_measured_warn_of_machines(const cli_measured *m,
                                   const contracts_contract *contract)
{
    uint32_t missing = 0, first = 0;

    for (uint32_t p = m->processes; contract->cluster && p-- > 0;) {
        if (predict_cluster_find(contract->cluster, m->names[p]) !=
            PREDICT_NONE)
            continue;
        first = p;
        missing++;
    }
    if (missing)
        fprintf(stderr,
                "eventspace: %u of %u processes, such as %s, are on no machine "
                "of %s: a slow link from them is not named\n",
                missing, m->processes, m->names[first], contract->cluster_file);
}
