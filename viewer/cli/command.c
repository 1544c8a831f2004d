/* command.c - dispatching, and the small things all commands do. */
#include "viewer/cli/command.h"

#include "pastset/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- dispatching --- */

static void tell_commands(const command *commands, const char *name, FILE *file)
{
    fprintf(file, "Usage: %s COMMAND [ARGUMENTS]\n\n", name);
    for (; commands->name; commands++)
        fprintf(file, "  %-12s %s\n", commands->name, commands->summary);
    fprintf(file, "\n`%s COMMAND --help` tells more of each.\n", name);
}

static const command *find_command(const command *commands, const char *name)
{
    for (; commands->name; commands++)
        if (strcmp(commands->name, name) == 0)
            return commands;
    return NULL;
}

/* How many letters are to be added, left out, changed or swapped with the next
 * to make one word of the other, as far as it matters. */
#define WORD_BYTES 32

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_BYTES + 1], columns = strlen(b);

    if (strlen(a) > WORD_BYTES || columns > WORD_BYTES)
        return WORD_BYTES;
    for (size_t k = 0; k <= columns; k++)
        rows[0][k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= columns; k++) {
            row[k] = smaller(smaller(above[k], row[k - 1]) + 1,
                             above[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], before[k - 2] + 1);
        }
    }
    return rows[strlen(a) % 3][columns];
}

static void tell_unknown(const command *commands, char **argv)
{
    const char *nearest = NULL;
    size_t min = 3; /* further away it is another word */

    for (; commands->name; commands++) {
        size_t d = distance(argv[1], commands->name);
        if (d < min && d < strlen(commands->name)) {
            min = d;
            nearest = commands->name;
        }
    }
    fprintf(stderr, "%s: there is no command '%s'", argv[0], argv[1]);
    if (nearest)
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

int cli_dispatch(const command *commands, int argc, char **argv)
{
    if (argc < 2) {
        tell_commands(commands, argv[0], stderr);
        return COMMAND_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        tell_commands(commands, argv[0], stdout);
        return COMMAND_OK;
    }
    const command *found = find_command(commands, argv[1]);
    if (!found) {
        tell_unknown(commands, argv);
        return COMMAND_USAGE;
    }
    return run_command(found, argc, argv);
}

/* --- signals --- */

void cli_catch(const struct sigaction *action)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(numbers[i], action, NULL);
    }
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

int cli_end_output(int err)
{
    if (err)
        return cli_fail();
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        pastset_fail(PASTSET_EIO, "standard output: %s", strerror(errno));
        return cli_fail();
    }
    return COMMAND_OK;
}
