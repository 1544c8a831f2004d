/* report.c - the files that a run leaves. */
#include "apps/windtunnel/windtunnel.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "apps/windtunnel/picture.h"
#include "pastset/status.h"

uint64_t windtunnel_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double windtunnel_seconds(void)
{
    return (double)windtunnel_now_ns() * 1e-9;
}

/* FNV-1a, 64 bits. */
static uint64_t checksum(const void *data, size_t bytes)
{
    const unsigned char *from = data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ from[i]) * 0x100000001b3u;
    return hash;
}

static int file_name(char out[PATH_MAX], const char *given,
                     const char *directory, const char *name)
{
    int length = given ? snprintf(out, PATH_MAX, "%s", given)
                       : snprintf(out, PATH_MAX, "%s/%s", directory, name);

    if (length < 0 || length >= PATH_MAX)
        return pastset_fail(PASTSET_EIO, "%s: %s", name,
                            strerror(ENAMETOOLONG));
    return 0;
}

static int dump_write(const lattice_slice *whole, const char *name)
{
    size_t count;
    const uint64_t *words = lattice_words(whole, &count);
    FILE *file = fopen(name, "wb");
    bool written;

    if (!file)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    written = fwrite(words, sizeof(*words), count, file) == count;
    if (fclose(file) != 0 || !written)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    return 0;
}

static uint64_t lattice_checksum(const lattice_slice *whole)
{
    size_t count;
    const uint64_t *words = lattice_words(whole, &count);

    return checksum(words, count * sizeof(*words));
}

/* A line for each thread. */
static void slices_print(const windtunnel_report *report, FILE *file)
{
    fprintf(file, "  \"slices\": [");
    for (uint32_t i = 0; i < report->threads; i++) {
        const pixels_slice *slice = &report->slices[i];
        fprintf(file,
                "%s\n    {\"first\": %" PRIu64 ", \"rows\": %" PRIu64
                ", \"computing_ns\": %" PRIu64
                ", \"communicating_ns\": %" PRIu64 "}",
                i ? "," : "", slice->first, slice->rows, slice->computing_ns,
                slice->communicating_ns);
    }
    fprintf(file, "\n  ],\n");
}

static int json_write(const windtunnel_report *report, const char *name)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(report->whole);
    FILE *file = fopen(name, "w");
    bool written;

    if (!file)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    fprintf(file,
            "{\n"
            "  \"width\": %" PRIu32 ",\n"
            "  \"height\": %" PRIu32 ",\n"
            "  \"obstacle\": \"%s\",\n"
            "  \"seed\": %" PRIu64 ",\n"
            "  \"steps\": %" PRIu64 ",\n"
            "  \"samples\": %" PRIu32 ",\n"
            "  \"threads\": %" PRIu32 ",\n"
            "  \"seconds\": %.3f,\n"
            "  \"particles_before\": %" PRIu64 ",\n"
            "  \"particles_after\": %" PRIu64 ",\n",
            tunnel->width, tunnel->height,
            lattice_obstacle_name(tunnel->obstacle), tunnel->seed,
            lattice_slice_steps(report->whole), lattice_samples(report->whole),
            report->threads, report->seconds, report->particles_before,
            lattice_particles(report->whole));
    slices_print(report, file);
    fprintf(file, "  \"checksum\": \"%016" PRIx64 "\"\n}\n",
            lattice_checksum(report->whole));
    written = !ferror(file);
    if (fclose(file) != 0 || !written)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    return 0;
}

static int particles_check(const windtunnel_report *report)
{
    uint64_t after = lattice_particles(report->whole);

    if (after == report->particles_before)
        return 0;
    return pastset_fail(PASTSET_EAPP,
                        "there were %" PRIu64 " particles before the first "
                        "step, and there are %" PRIu64 " after the last: "
                        "this is a bug",
                        report->particles_before, after);
}

static void summary_print(const windtunnel_report *report)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(report->whole);

    printf("windtunnel: %" PRIu64 " steps of %" PRIu32 "x%" PRIu32
           " sites, %" PRIu64 " particles, %" PRIu32
           " thread%s, %.2f s, checksum %016" PRIx64 "\n",
           lattice_slice_steps(report->whole), tunnel->width, tunnel->height,
           report->particles_before, report->threads,
           report->threads == 1 ? "" : "s", report->seconds,
           lattice_checksum(report->whole));
    fflush(stdout);
}

int windtunnel_report_write(const windtunnel_report *report,
                            const windtunnel_options *options)
{
    const pixels_slices slices = {report->slices, report->threads,
                                  lattice_slice_tunnel(report->whole)->height};
    char dump[PATH_MAX], picture[PATH_MAX], json[PATH_MAX];
    int err;

    err = file_name(dump, options->dump, report->directory, "lattice.bin");
    if (err)
        return err;
    err = file_name(picture, options->picture, report->directory, "flow.png");
    if (err)
        return err;
    err = file_name(json, NULL, report->directory, "windtunnel.json");
    if (err)
        return err;
    err = dump_write(report->whole, dump);
    if (err)
        return err;
    err = json_write(report, json);
    if (err)
        return err;
    if (lattice_samples(report->whole) > 0)
        err = picture_write(report->whole, &slices, picture);
    if (err)
        return err;
    err = particles_check(report);
    if (err)
        return err;
    summary_print(report);
    return 0;
}
