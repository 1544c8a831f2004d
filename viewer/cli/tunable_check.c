/* tunable_check.c - see tunable_check.h. */
#include "viewer/cli/tunable_check.h"

#include <string.h>

#include "pastset/status.h"

int cli_tunable_check(const eventspace_run_process *process,
                      const eventspace_tunable_seen *seen, double value)
{
    const eventspace_meta *meta = &process->meta;
    eventspace_meta here = {0};

    eventspace_meta_machine(&here);
    if (meta->machine[0] && strcmp(meta->machine, here.machine) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "process %s runs on %s: change %s there",
                            process->name, meta->machine, seen->name);
    if (meta->state != EVENTSPACE_RUNNING)
        return pastset_fail(PASTSET_EINVAL,
                            "process %s has ended: %s cannot be changed",
                            process->name, seen->name);
    if (!eventspace_tunable_may_be(&seen->bounds, value))
        return pastset_fail(PASTSET_EINVAL,
                            "%s=%.10g: %s of process %s is from %g to %g",
                            seen->name, value, seen->name, process->name,
                            seen->bounds.least, seen->bounds.most);
    return 0;
}
