/* lacking.c - see lacking.h. */
#include "viewer/tables/lacking.h"

#include <math.h>
#include <stdio.h>

#include "scopes/tables/say.h"

#define LITTLE 0.01 /* of the time of threads: nobody needs to know less */

/* What is known of one thread. False: nothing is. */
static bool without(double *runnable_ns, double *life_ns,
                    const scopes_thread_life *life)
{
    *runnable_ns = 0;
    if (life->is_summed) {
        *life_ns = (double)(life->sum.end_ns - life->sum.start_ns);
        *runnable_ns = (double)life->sum.runnable_ns;
        return life->sum.end_ns != 0;
    }
    if (!life->has_begun || !life->has_ended || life->end_ns <= life->begin_ns)
        return false;
    *life_ns = (double)(life->end_ns - life->begin_ns);
    for (size_t i = 0; i < life->off_count; i++) {
        const scopes_off *off = &life->offs[i];
        if (off->unknown)
            *life_ns -= (double)(off->end_ns - off->start_ns);
        else
            *runnable_ns += (double)off->runnable_ns;
    }
    return *life_ns > 0;
}

viewer_lacking viewer_lacking_of(const scopes_snapshot *snapshot)
{
    const scopes_scheduling *s = snapshot->scheduling;
    viewer_lacking p = {.share = (double)NAN};
    double all_ns = 0, runnable_ns = 0, own_ns, life_ns;

    for (uint32_t i = 0; s && i < s->thread_count; i++) {
        if (!s->threads[i].is_known ||
            !without(&own_ns, &life_ns, &s->threads[i]))
            continue;
        all_ns += life_ns;
        p.is_of_mpi = p.is_of_mpi || s->threads[i].is_summed;
        runnable_ns += own_ns;
        if (own_ns <= p.most_ns)
            continue;
        p.most_ns = own_ns;
        p.most = scopes_topology_thread_name(snapshot->topology, i);
    }
    if (all_ns > 0)
        p.share = runnable_ns / all_ns;
    return p;
}

const char *viewer_lacking_says(const viewer_lacking *p, char *text,
                                size_t bytes)
{
    char share[SCOPES_SAY_BYTES], most[SCOPES_SAY_BYTES];
    const char *threads = p->is_of_mpi ? "threads that call MPI" : "threads";

    if (!isfinite(p->share))
        return "";
    if (p->share < LITTLE || !p->most)
        snprintf(text, bytes, "%s lacked one for less than %s of their time",
                 threads, scopes_say_share(LITTLE, share));
    else
        snprintf(text, bytes,
                 "%s lacked one for %s of their time, %s longest: for %s",
                 threads, scopes_say_share(p->share, share), p->most,
                 scopes_say_time(p->most_ns, most));
    return text;
}
