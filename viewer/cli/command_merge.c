/* command_merge.c - eventspace merge: several run directories made into one. */
#include "viewer/cli/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/reading/merge.h"

typedef struct merge_arguments {
    const char *out;
    const char **given; /* `count` of them: directories or packed runs */
    const char **directories;
    size_t count;
    bool incomplete; /* something of a process is missing or damaged */
} merge_arguments;

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Write the merged run to DIR, a new directory",
     0},
    {"out", EVENTSPACE_RENAMED, "DIR", OPTION_HIDDEN, "output", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    merge_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->out = text;
        return 0;
    case ARGP_KEY_ARG:
        a->given[a->count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (a->count < 2)
            argp_error(state, "give at least two run directories");
        if (!a->out)
            argp_error(state, "--output is missing: write the run to which "
                              "directory?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- names --- */

/* The directory whose name stands at the beginning of `text`. */
static size_t directory_at(const merge_arguments *a, const char *text)
{
    for (size_t i = 0; i < a->count; i++) {
        size_t bytes = strlen(a->directories[i]);
        if (strcmp(a->directories[i], a->given[i]) != 0 &&
            strncmp(text, a->directories[i], bytes) == 0 &&
            !isalnum((unsigned char)text[bytes]))
            return i;
    }
    return a->count;
}

/* Writes a text with the names of packed runs where it has those of the
 * directories that they were unpacked to, which nobody has seen. */
static void print_given(const merge_arguments *a, const char *text, FILE *file)
{
    while (*text) {
        size_t i = directory_at(a, text);
        if (i < a->count) {
            fputs(a->given[i], file);
            text += strlen(a->directories[i]);
        } else {
            putc(*text++, file);
        }
    }
}

/* --- merging --- */

static void tell(const char *process, const char *directory,
                 const char *problem, void *context)
{
    merge_arguments *a = context;

    if (directory) {
        printf("process %s: from ", process);
        print_given(a, directory, stdout);
        putchar('\n');
    }
    if (!*problem)
        return;
    fflush(stdout);
    fprintf(stderr, "eventspace: process %s: ", process);
    print_given(a, problem, stderr);
    putc('\n', stderr);
    a->incomplete = true;
}

static int merge(merge_arguments *a)
{
    for (size_t i = 0; i < a->count; i++) {
        a->directories[i] = cli_run_directory(a->given[i]);
        if (!a->directories[i])
            return COMMAND_FAILED;
        cli_warn_of_definitions(a->directories[i]);
    }
    if (scopes_merge(a->out, a->directories, a->count, tell, a) != 0) {
        fputs("eventspace: ", stderr);
        print_given(a, pastset_error(), stderr);
        putc('\n', stderr);
        return COMMAND_FAILED;
    }
    if (a->incomplete)
        fprintf(stderr,
                "eventspace: %s holds what could be merged; to merge again, "
                "remove it or choose another --output\n",
                a->out);
    return cli_end_output(0) == COMMAND_OK && !a->incomplete ? COMMAND_OK
                                                             : COMMAND_FAILED;
}

int cli_merge(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "RUN RUN... --output DIR",
        "Merges several run directories into one: those that a run on several "
        "machines left on each of them, or mirrors made by `eventspace scope`."
        "\vAll must have the same path map. The files of each process come "
        "from the directory with the most readable events of it; none is "
        "changed. If anything is missing or damaged, the merged run is still "
        "written, and the exit code is 1.",
        NULL,
        NULL,
        NULL};
    size_t capacity = (size_t)argc + 1;
    merge_arguments a = {.given = calloc(capacity, sizeof(char *)),
                         .directories = calloc(capacity, sizeof(char *))};
    int code = COMMAND_USAGE;

    cli_refuse_large_files();
    if (!a.given || !a.directories)
        code = cli_no_memory("for the names of runs");
    else if (eventspace_options_parse(&argp, argc, argv, 0,
                                      EVENTSPACE_NO_PROGRAM, &a) == 0)
        code = merge(&a);
    free(a.directories);
    free(a.given);
    return code;
}
