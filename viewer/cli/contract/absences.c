/* absences.c - see absences.h. */
#include "viewer/cli/contract/absences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/cli/contract/measured_run.h"

#define LONG 6 /* intervals of which nothing is known, one after the other, */
#define LONG_NS INT64_C(3000000000) /* and they last so long at least */
#define TIMES 3 /* what happens again and again is nothing new */

struct cli_absence {
    bool was_known, has_ended, is_told;
    unsigned unknown, times; /* intervals; told */
    int64_t since_ns;
};

static int fit(cli_absences *a, uint32_t count)
{
    cli_absence *grown;

    if (count <= a->count)
        return 0;
    grown = realloc(a->list, count * sizeof(*grown));
    if (!grown)
        return pastset_no_memory("for who is not there");
    memset(grown + a->count, 0, (count - a->count) * sizeof(*grown));
    a->list = grown;
    a->count = count;
    return 0;
}

/* One that has finished is nothing to tell of. */
static void end_tell(cli_absence *one, const eventspace_run_process *process)
{
    one->has_ended = process && process->has_meta &&
                     process->meta.state != EVENTSPACE_RUNNING;
    if (one->has_ended && process->meta.state != EVENTSPACE_FINISHED)
        fprintf(stderr, "eventspace: %s %s%s%s: it is not judged any more\n",
                process->name,
                process->meta.state == EVENTSPACE_FAILED ? "has failed"
                                                         : "was killed",
                process->meta.text[0] ? ", " : "", process->meta.text);
}

static void unknown_add(cli_absence *one, const char *name, int64_t start_ns)
{
    if (one->unknown++ == 0)
        one->since_ns = start_ns;
    if (one->unknown < LONG || start_ns - one->since_ns < LONG_NS ||
        one->is_told || !one->was_known || one->times == TIMES)
        return;
    one->is_told = true;
    one->times++;
    fprintf(stderr,
            "eventspace: %s is not judged since %.3f s: it is in one "
            "operation, has lost events, or no longer counts what the contract "
            "is about\n",
            name, 1e-9 * (double)one->since_ns);
}

int cli_absences_take(cli_absences *a, const eventspace_run *run,
                      const char *name, uint32_t process, uint32_t count,
                      bool is_known, int64_t start_ns)
{
    int err = fit(a, count);
    cli_absence *one;

    if (err)
        return err;
    one = &a->list[process];
    if (is_known) {
        if (one->is_told)
            fprintf(stderr, "eventspace: %s is judged again from %.3f s on\n",
                    name, 1e-9 * (double)start_ns);
        *one = (cli_absence){.was_known = true,
                             .has_ended = one->has_ended,
                             .times = one->times};
        return 0;
    }
    if (!one->has_ended)
        end_tell(one, cli_measured_process(run, name));
    if (!one->has_ended)
        unknown_add(one, name, start_ns);
    return 0;
}

void cli_absences_fini(cli_absences *a)
{
    free(a->list);
    *a = (cli_absences){0};
}
