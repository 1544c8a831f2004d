/* single.c - the whole tunnel as one slice in this process: the result with
 * which that of a run can be compared. */
#include "apps/windtunnel/windtunnel.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "pastset/status.h"

static void steps_run(lattice_slice *slice, const windtunnel_options *options)
{
    while (lattice_slice_steps(slice) < options->steps) {
        lattice_collide(slice);
        lattice_propagate(slice);
        if (windtunnel_is_sampled(options, lattice_slice_steps(slice)))
            lattice_sample(slice);
        windtunnel_progress(options, lattice_slice_steps(slice));
    }
}

int windtunnel_single(const windtunnel_options *options)
{
    pixels_slice all = {.first = 0};
    windtunnel_report report = {
        .threads = 1, .slices = &all, .directory = options->out};
    lattice_tunnel tunnel;
    lattice_slice *slice;
    int err = windtunnel_tunnel(&tunnel, options, WINDTUNNEL_WIDTH,
                                WINDTUNNEL_HEIGHT);

    if (err)
        return err;
    if (mkdir(options->out, 0777) != 0 && errno != EEXIST)
        return pastset_fail(PASTSET_EIO, "%s: %s", options->out,
                            strerror(errno));
    slice = lattice_slice_create(&tunnel, 0, tunnel.height);
    if (!slice)
        return pastset_no_memory("for the tunnel");
    report.whole = slice;
    report.particles_before = lattice_particles(slice);
    report.seconds = -windtunnel_seconds();
    steps_run(slice, options);
    report.seconds += windtunnel_seconds();
    all.rows = tunnel.height;
    all.computing_ns = (uint64_t)(report.seconds * 1e9);
    err = windtunnel_report_write(&report, options);
    lattice_slice_destroy(slice);
    return err;
}
