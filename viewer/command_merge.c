/* command_merge.c - eventspace merge: several run directories made into one. */
#include "viewer/command.h"

#include <stdlib.h>

#include "scopes/merge.h"

typedef struct merge_arguments {
    const char *out;
    const char **directories;
    size_t count;
} merge_arguments;

static const struct argp_option options[] = {
    {"out", 'o', "DIR", 0, "Where the run goes: a new directory", 0},
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
        a->directories[a->count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (a->count < 2)
            argp_error(state, "two run directories at least are needed");
        if (!a->out)
            argp_error(state, "--out is missing: where does the run go?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void tell(const char *host, const char *directory, void *context)
{
    (void)context;
    if (directory)
        printf("host %s: from %s\n", host, directory);
    else
        printf("host %s: none of them has its files\n", host);
}

static int merge(const merge_arguments *a)
{
    for (size_t i = 0; i < a->count; i++) {
        a->directories[i] = command_run_directory(a->directories[i]);
        if (!a->directories[i])
            return COMMAND_FAILED;
    }
    return scopes_merge(a->out, a->directories, a->count, tell, NULL)
               ? command_fail()
               : command_end_output(0);
}

int command_merge(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "RUN RUN... --out DIR",
        "Makes one run directory of several: those that a run of several "
        "machines has left on each of them, or mirrors that scopes have made.\v"
        "They have the same path map. The files of each host come from the "
        "directory that has the most of its events; none is changed.",
        NULL,
        NULL,
        NULL};
    merge_arguments a = {.directories =
                             calloc((size_t)argc + 1, sizeof(char *))};
    int code = COMMAND_USAGE;

    if (a.directories && argp_parse(&argp, argc, argv, 0, NULL, &a) == 0)
        code = merge(&a);
    free(a.directories);
    return code;
}
