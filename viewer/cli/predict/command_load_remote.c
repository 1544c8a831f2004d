/* command_load_remote.c - eventspace load --remote: other machines, asked by a
 * command of the user's, such as ssh. All at the same time, so that what they
 * tell belongs together. */
#include "viewer/cli/predict/command_load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "pastset/status.h"
#include "predict/cluster/cluster.h"

/* Names come from a file and go to a shell. */
static bool is_plain(const char *name)
{
    return *name && *name != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == 0;
}

static FILE *ask(const load *l, const char *machine)
{
    const char *at = strstr(l->a.remote, "{machine}");
    char *line;
    FILE *answer;
    if (!is_plain(machine)) {
        pastset_fail(
            PASTSET_EINVAL,
            "the name has characters with a special meaning to a shell");
        return NULL;
    }
    if (asprintf(&line,
                 "%.*s%s%s eventspace load --format json "
                 "--duration %gs%s </dev/null",
                 (int)(at - l->a.remote), l->a.remote, machine,
                 at + strlen("{machine}"), l->a.seconds_s,
                 l->a.scheduler ? " --detect-law" : "") < 0) {
        pastset_no_memory("for the command");
        return NULL;
    }
    fflush(stdout);
    answer = popen(line, "re");
    if (!answer)
        pastset_fail(PASTSET_EIO, "%s: %s", line, strerror(errno));
    free(line);
    return answer;
}

/* Only a name as measure/load/load.h gives it: it goes into the file. */
static void take_place(measure_load *out, const char *place)
{
    if (place && strlen(place) < sizeof(out->place) &&
        strncmp(place, MEASURE_PLACE_BEGINS, strlen(MEASURE_PLACE_BEGINS)) ==
            0 &&
        place[strspn(place, "abcdefghijklmnopqrstuvwxyz0123456789,-")] == 0)
        strcpy(out->place, place);
}

static int take_answer(load_machine *row, const json_t *answer)
{
    const json_t *machine =
        json_array_get(json_object_get(answer, "machines"), 0);
    const char *scheduler = json_string_value(json_object_get(machine, "law"));
    double its = json_number_value(json_object_get(machine, "load"));
    json_int_t processors =
        json_integer_value(json_object_get(machine, "processors"));
    if (!json_is_number(json_object_get(machine, "load")) || its < 0 ||
        processors < 1 || processors > UINT32_MAX)
        return pastset_fail(
            PASTSET_EFORMAT,
            "it does not answer as `eventspace load --format json` does");
    row->load = (measure_load){
        .load = its,
        .running = json_number_value(json_object_get(machine, "running")),
        .average = json_number_value(json_object_get(machine, "average")),
        .busy = json_number_value(json_object_get(machine, "busy")),
        .processors = (uint32_t)processors};
    take_place(&row->load,
               json_string_value(json_object_get(machine, "place")));
    row->has_scheduler =
        scheduler && predict_scheduler_parse(&row->scheduler, scheduler) == 0;
    if (json_is_number(json_object_get(machine, "law_error")))
        row->scheduler_error =
            json_number_value(json_object_get(machine, "law_error"));
    return 0;
}

static int hear(load *l, const char *machine, FILE *from)
{
    load_machine row = {.scheduler_error = NAN}, *added;
    json_t *answer;
    int ended, err;
    if (!from)
        return PASTSET_EIO; /* the text is there already */
    answer = json_loadf(from, JSON_DISABLE_EOF_CHECK, NULL);
    ended = pclose(from);
    err = answer ? take_answer(&row, answer)
                 : pastset_fail(PASTSET_EIO,
                                ended ? "it failed, see above"
                                      : "it does not answer as `eventspace "
                                        "load --format json` does");
    json_decref(answer);
    if (err)
        return err;
    added = cli_load_add(l, machine);
    if (!added)
        return PASTSET_ENOMEM;
    row.name = added->name;
    *added = row;
    return 0;
}

/* So many at a time: each is two processes here. */
enum { AT_ONCE = 64 };

int cli_load_remote(load *l)
{
    predict_cluster *cluster;
    FILE *answers[AT_ONCE];
    unsigned failed = 0;
    int err = predict_cluster_read(&cluster, l->a.cluster);
    if (err)
        return err;
    for (uint32_t i = 0; i < cluster->machine_count; i += AT_ONCE) {
        uint32_t end = i + AT_ONCE < cluster->machine_count
                           ? i + AT_ONCE
                           : cluster->machine_count;
        for (uint32_t k = i; k < end; k++)
            if (!(answers[k - i] = ask(l, cluster->machines[k].name)))
                fprintf(stderr, "eventspace: machine %s: %s\n",
                        cluster->machines[k].name, pastset_error());
        for (uint32_t k = i; k < end; k++) {
            if (answers[k - i] &&
                !hear(l, cluster->machines[k].name, answers[k - i]))
                continue;
            if (answers[k - i])
                fprintf(stderr, "eventspace: machine %s: %s\n",
                        cluster->machines[k].name, pastset_error());
            failed++;
        }
    }
    if (failed)
        err = pastset_fail(PASTSET_EHOST, "cannot measure %u of %u machines",
                           failed, cluster->machine_count);
    predict_cluster_destroy(cluster);
    return err;
}
