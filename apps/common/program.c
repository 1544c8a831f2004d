/* program.c - the three commands of a program. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/common/program_internal.h"
#include "eventspace/eventspace.h"
#include "paths/map/path_map.h"
#include "pastset/status.h"

uint64_t program_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double program_seconds(void)
{
    return (double)program_now_ns() * 1e-9;
}

/* --- mapping --- */

static int text_print(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        return pastset_fail(PASTSET_EIO, "standard output: cannot write");
    return 0;
}

static int mapping(const arguments *a)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int err;

    if (!out)
        return pastset_no_memory("for the mapping");
    err = a->program->mapping(&a->options, out);
    if (fclose(out) != 0 && !err)
        err = pastset_no_memory("for the mapping");
    if (!err)
        err = text_print(text);
    free(text);
    return err;
}

/* --- single --- */

static int single(const arguments *a)
{
    result_facts facts = {
        .program = a->program, .options = &a->options, .threads = 1};
    program_result *result;
    int err = result_create(&result, a->program, &a->options);

    facts.seconds = -program_seconds();
    if (!err)
        err = a->program->single(&a->options, result);
    facts.seconds += program_seconds();
    if (!err)
        err = result_write(result, &facts);
    result_destroy(result);
    return err;
}

/* --- run --- */

/* How many processes the map of this run has. */
static int processes_count(uint32_t *out, const char *directory)
{
    char file[PATH_MAX];
    paths_map *map;
    int length = snprintf(file, sizeof(file), "%s/pathmap.dot", directory);
    int err;

    if (length < 0 || (size_t)length >= sizeof(file))
        return pastset_fail(PASTSET_EIO, "%s: %s", directory,
                            strerror(ENAMETOOLONG));
    err = paths_map_read(&map, file);
    if (err)
        return err;
    *out = paths_map_processes(map);
    paths_map_destroy(map);
    return 0;
}

/* Thread 0: its results are those of the run. */
static int thread_first(const arguments *a, const program_options *options,
                        paths_thread *self)
{
    result_facts facts = {
        .program = a->program, .options = options, .threads = options->threads};
    program_run run = {.options = options};
    int err = result_create(&run.result, a->program, options);

    if (err)
        goto done;
    facts.seconds = -program_seconds();
    err = a->program->thread(self, &run);
    facts.seconds += program_seconds();
    if (err)
        goto done;
    err = processes_count(&facts.processes, options->out);
    if (err)
        goto done;
    err = result_write(run.result, &facts);
done:
    result_destroy(run.result);
    return err;
}

static int thread(paths_thread *self, void *argument)
{
    const arguments *a = argument;
    program_options options;
    program_run run = {.options = &options};
    int err = arguments_of_thread(&options, a, self);

    if (!err)
        err = paths_thread_number(self) == 0 ? thread_first(a, &options, self)
                                             : a->program->thread(self, &run);
    free(options.own);
    return err;
}

static int run(arguments *a)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err) {
        a->options.out = eventspace_directory(es);
        err = eventspace_program(es, "*", thread, a);
    }
    return eventspace_finish(es, err);
}

int program_main(const program *p, int argc, char **argv)
{
    arguments a;
    int err = arguments_read(&a, p, argc, argv);
    int exit_code;

    if (!err && a.command == PROGRAM_RUN) {
        exit_code = run(&a);
    } else {
        if (!err)
            err = a.command == PROGRAM_MAPPING ? mapping(&a) : single(&a);
        if (err)
            fprintf(stderr, "%s: %s\n", p->name, pastset_error());
        exit_code = err == PASTSET_EINVAL ? PROGRAM_USAGE : err ? 1 : 0;
    }
    arguments_free(&a);
    return exit_code;
}
