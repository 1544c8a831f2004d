/* command.c - dispatching, and the small things all commands do. */
#include "viewer/cli/command.h"

#include "paths/map/nearest_word.h"
#include "pastset/status.h"
#include "scopes/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- dispatching --- */

#define COMMANDS_MAX 64

static void tell_commands(const command *commands, const char *name, FILE *file)
{
    fprintf(file, "Usage: %s COMMAND [ARGUMENTS]\n\n", name);
    for (; commands->name; commands++)
        fprintf(file, "  %-12s %s\n", commands->name, commands->summary);
    fprintf(file,
            "\n"
            "`%s COMMAND --help` or `help COMMAND` describes a command.\n",
            name);
}

static const command *find_command(const command *commands, const char *name)
{
    for (; commands->name; commands++)
        if (strcmp(commands->name, name) == 0)
            return commands;
    return NULL;
}

static void tell_unknown(const command *commands, char **argv)
{
    const char *names[COMMANDS_MAX + 1], *nearest;
    size_t count = 0;

    for (; commands->name && count < COMMANDS_MAX; commands++)
        names[count++] = commands->name;
    names[count++] = "help";
    nearest = paths_nearest_word(argv[1], names, count);
    fprintf(stderr, "%s: there is no command '%s'", argv[0], argv[1]);
    if (scopes_view_find(argv[1]))
        fprintf(stderr, ", but a view: eventspace view %s %s\n",
                argv[2] && argv[2][0] != '-' ? argv[2] : "RUN", argv[1]);
    else if (nearest)
        fprintf(stderr, "; did you mean '%s'?\n", nearest);
    else
        fprintf(stderr, "; `%s --help` lists them\n", argv[0]);
}

static int run_command(const command *found, int argc, char **argv)
{
    char *name;
    if (asprintf(&name, "%s %s", argv[0], found->name) < 0) {
        fprintf(stderr, "%s: no memory\n", argv[0]);
        return COMMAND_FAILED;
    }
    argv[1] = name; /* so that argp speaks of "eventspace map check" */
    int code = found->run(argc - 1, argv + 1);
    free(name);
    return code;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
           strcmp(word, "-?") == 0 || strcmp(word, "help") == 0;
}

/* `eventspace help map check` is `eventspace map check --help`. */
static void help_to_end(int argc, char **argv)
{
    static char option[] = "--help";

    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
    argv[argc - 1] = option;
}

int cli_dispatch(const command *commands, int argc, char **argv)
{
    const command *found;

    if (argc < 2) {
        tell_commands(commands, argv[0], stderr);
        return COMMAND_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        help_to_end(argc, argv);
    if (is_help(argv[1])) {
        tell_commands(commands, argv[0], stdout);
        return COMMAND_OK;
    }
    if (strcmp(argv[1], "--list-commands") == 0) {
        for (; commands->name; commands++)
            printf("%s\t%s\n", commands->name, commands->summary);
        return cli_end_output(0);
    }
    found = find_command(commands, argv[1]);
    if (!found) {
        tell_unknown(commands, argv);
        return COMMAND_USAGE;
    }
    return run_command(found, argc, argv);
}

/* --- signals --- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING_COUNT (sizeof(ending_signals) / sizeof(*ending_signals))

void cli_catch(const struct sigaction *action)
{
    struct sigaction before;

    for (size_t i = 0; i < ENDING_COUNT; i++) {
        if (sigaction(ending_signals[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], action, NULL);
    }
}

void cli_block_ending(sigset_t *ending)
{
    struct sigaction now;

    sigemptyset(ending);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (sigaction(ending_signals[i], NULL, &now) == 0 &&
            now.sa_handler != SIG_IGN)
            sigaddset(ending, ending_signals[i]);
    pthread_sigmask(SIG_BLOCK, ending, NULL);
}

void cli_refuse_large_files(void)
{
    signal(SIGXFSZ, SIG_IGN);
}

/* --- maps --- */

/* A socket cannot be opened by a name, and there are programs that give their
 * children one as standard input; so it is copied into memory that has one. */
static const char *socket_input(void)
{
    static char name[32];
    char buffer[65536];
    int fd = memfd_create("standard input", MFD_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return "/dev/stdin";
    while ((got = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
        if (write(fd, buffer, (size_t)got) != got)
            break;
    }
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return name;
}

const char *cli_input(const char *file)
{
    struct stat status;

    if (strcmp(file, "-") != 0)
        return file;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISSOCK(status.st_mode))
        return socket_input();
    return "/dev/stdin";
}

paths_map *cli_read_map(const char *file)
{
    paths_map *map;
    if (paths_map_read(&map, cli_input(file))) {
        cli_fail();
        return NULL;
    }
    return map;
}

int cli_check_map(const paths_map *map, FILE *diagnostics)
{
    paths_diagnostics all = {0};
    int err = paths_map_check(map, &all);
    for (size_t i = 0; i < all.count; i++) {
        const paths_diagnostic *c = &all.items[i];
        fprintf(diagnostics, "%s:%u: %s%s%s\n", map->file, c->line, c->node,
                *c->node ? ": " : "", c->text);
    }
    if (err && all.count == 0)
        cli_fail();
    paths_diagnostics_clear(&all);
    return err;
}

int cli_write_map(const paths_map *map, const char *file)
{
    if (file && strcmp(file, "-") != 0)
        return paths_map_save(map, file);
    return paths_map_write(map, stdout);
}

/* --- ends --- */

int cli_fail(void)
{
    fprintf(stderr, "eventspace: %s\n", pastset_error());
    return COMMAND_FAILED;
}

int cli_no_memory(const char *what)
{
    pastset_no_memory("%s", what);
    return cli_fail();
}

int cli_end_output(int err)
{
    if (err)
        return cli_fail();
    errno = EIO; /* why an earlier write has failed is no longer known */
    if (fflush(stdout) || ferror(stdout)) {
        pastset_fail(PASTSET_EIO, "standard output: %s", strerror(errno));
        return cli_fail();
    }
    return COMMAND_OK;
}
