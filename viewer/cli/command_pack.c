/* command_pack.c - eventspace pack and eventspace unpack. */
#include "viewer/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "pastset/status.h"
#include "viewer/pack/pack.h"

/* --- packing --- */

typedef struct pack_arguments {
    const char *run, *output;
} pack_arguments;

static const struct argp_option pack_options[] = {
    {"output", 'o', "FILE", 0,
     "Write the packed run to FILE, - being standard output (default "
     "RUN" CLI_PACKED_SUFFIX ")",
     0},
    {0},
};

static error_t parse_pack(int key, char *text, struct argp_state *state)
{
    pack_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

static void skipped_tell(const char *name)
{
    fprintf(stderr, "eventspace: %s: left out: not a regular file\n", name);
}

/* Files whose launcher was killed still have room to grow. Where they cannot be
 * changed they are packed as they are. */
static int process_settle(const char *directory, const char *process)
{
    if (viewer_pack_stop)
        return pastset_fail(PASTSET_ECANCELED, "interrupted");
    if (eventspace_run_settle(directory, process) != PASTSET_EAGAIN)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "%s: process %s is still running, as its files are "
                        "locked; pack the run when it has ended",
                        directory, process);
}

/* A run that goes on would be torn: each of its files at another time. */
static int run_check(const char *directory)
{
    eventspace_run *run;
    bool begun = false;
    int err = eventspace_run_open(&run, directory);

    if (err)
        return err;
    for (size_t i = 0; !err && i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        begun |= process->has_meta || process->has_space;
        if (process->has_meta && process->meta.state == EVENTSPACE_RUNNING &&
            process->has_space)
            err = pastset_fail(PASTSET_EINVAL,
                               "%s: process %s is still running; pack the run "
                               "when it has ended",
                               directory, process->name);
    }
    if (!err && !begun)
        err = pastset_fail(PASTSET_EINVAL, "%s: no process of it has started",
                           directory);
    for (size_t i = 0; !err && i < eventspace_run_process_count(run); i++)
        err =
            process_settle(directory, eventspace_run_process_at(run, i)->name);
    eventspace_run_close(run);
    return err;
}

static void on_signal(int number)
{
    (void)number;
    viewer_pack_stop = 1;
}

/* They end it with nothing half written left behind, also while it waits for
 * somebody who reads it. */
static void signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)SA_RESETHAND};
    cli_catch(&action);
}

/* Beside the directory, and named after it. */
static char *default_name(const char *run)
{
    size_t length = strlen(run);
    const char *slash;
    char *real, *file;

    while (length > 1 && run[length - 1] == '/')
        length--;
    slash = memrchr(run, '/', length);
    slash = slash ? slash + 1 : run;
    real = *slash == '.' ? realpath(run, NULL) : NULL;
    if (asprintf(&file, "%.*s" CLI_PACKED_SUFFIX,
                 real ? (int)strlen(real) : (int)length, real ? real : run) < 0)
        file = NULL;
    free(real);
    return file;
}

/* What was piped has no size that is known. */
static void counts_tell(const char *file, const viewer_pack_counts *counts,
                        FILE *to)
{
    char size[CLI_TEXT_BYTES];

    fprintf(to, "%s: %" PRIu64 " files, %s", file, counts->files,
            cli_size_text(counts->bytes, size));
    if (counts->packed_bytes)
        fprintf(to, " in %s", cli_size_text(counts->packed_bytes, size));
    fputc('\n', to);
}

static int pack(const pack_arguments *a)
{
    viewer_pack_counts counts;
    char *name = a->output ? NULL : default_name(a->run);
    const char *file = a->output ? a->output : name;
    bool piped = a->output && strcmp(a->output, "-") == 0;
    int err;

    signals_catch();
    err = run_check(a->run);
    if (err)
        goto done;
    if (!file) {
        err = pastset_no_memory("for a file's name");
        goto done;
    }
    err = viewer_pack(file, a->run, skipped_tell, &counts);
    if (err)
        goto done;
    counts_tell(file, &counts, piped ? stderr : stdout);
done:
    free(name);
    return err;
}

int cli_pack(int argc, char **argv)
{
    static const struct argp argp = {
        pack_options,
        parse_pack,
        "RUN",
        "Packs a run directory into one compressed file.\vCommands that read a "
        "run accept this file in place of the directory. `eventspace unpack`, "
        "or tar, unpacks it.",
        NULL,
        NULL,
        NULL};
    pack_arguments a = {0};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    cli_refuse_large_files();
    return cli_end_output(pack(&a));
}

/* --- unpacking --- */

typedef struct unpack_arguments {
    const char *file, *out;
} unpack_arguments;

static const struct argp_option unpack_options[] = {
    {"output", 'o', "RUN", 0,
     "Write the run to the new directory RUN (default: FILE "
     "without " CLI_PACKED_SUFFIX ")",
     0},
    {0},
};

static error_t parse_unpack(int key, char *text, struct argp_state *state)
{
    unpack_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->out = text;
        return 0;
    default:
        return cli_take_one(&a->file, "the packed run", key, text, state);
    }
}

/* Beside the new directory, and then in its place, so that it is whole. */
static int unpack_to(const char *file, const char *out)
{
    char draft[PATH_MAX], run[PATH_MAX];
    size_t bytes = strlen(out);
    int length, err;

    while (bytes > 1 && out[bytes - 1] == '/')
        bytes--;
    length =
        snprintf(draft, sizeof(draft), "%.*s.part.XXXXXX", (int)bytes, out);
    if (length < 0 || (size_t)length >= sizeof(draft))
        return pastset_fail(PASTSET_EINVAL, "%.100s...: the name is too long",
                            out);
    if (access(out, F_OK) == 0)
        return pastset_fail(
            PASTSET_EEXIST,
            "%s: exists already; choose another directory with --output", out);
    signals_catch();
    if (!mkdtemp(draft))
        return pastset_fail_errno(out);
    err = viewer_unpack(run, file, draft);
    if (!err && rename(run, out) != 0)
        err = pastset_fail_errno(out);
    viewer_remove(draft);
    return err;
}

int cli_unpack(int argc, char **argv)
{
    static const struct argp argp = {
        unpack_options,
        parse_unpack,
        "FILE",
        "Unpacks a run that `eventspace pack` has packed.",
        NULL,
        NULL,
        NULL};
    unpack_arguments a = {0};
    char *name = NULL;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    cli_refuse_large_files();
    if (!a.out)
        a.out = name = cli_packed_name(a.file, "");
    err = a.out ? unpack_to(a.file, a.out)
                : pastset_no_memory("for a file's name");
    if (!err)
        puts(a.out);
    free(name);
    return cli_end_output(err);
}
