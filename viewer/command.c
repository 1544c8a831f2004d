/* command.c - dispatching, and the small things all commands do. */
#include "viewer/command.h"

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

int command_dispatch(const command *commands, int argc, char **argv)
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
        fprintf(stderr, "%s: there is no command '%s'\n", argv[0], argv[1]);
        tell_commands(commands, argv[0], stderr);
        return COMMAND_USAGE;
    }
    return run_command(found, argc, argv);
}

/* --- arguments --- */

void command_take(const char **place, char *argument, struct argp_state *state)
{
    if (*place)
        argp_error(state, "one argument too many: '%s'", argument);
    *place = argument;
}

viewer_format command_format(const char *text, struct argp_state *state)
{
    if (strcmp(text, "csv") == 0)
        return VIEWER_CSV;
    if (strcmp(text, "json") == 0)
        return VIEWER_JSON;
    if (strcmp(text, "table") != 0)
        argp_error(state, "the format '%s' is none of table, csv, json", text);
    return VIEWER_TABLE;
}

uint64_t command_number(const char *text, uint64_t least, uint64_t most,
                        struct argp_state *state)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    uint64_t unit = *end == 'k' ? 1000 : *end == 'M' ? 1000000 : 1;
    if (unit > 1)
        end++;
    if (errno || end == text || *end || *text == '-' || number > most / unit ||
        number * unit < least)
        argp_error(state, "'%s' is no number from %llu to %llu", text,
                   (unsigned long long)least, (unsigned long long)most);
    return number * unit;
}

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

const char *command_input(const char *file)
{
    struct stat status;

    if (strcmp(file, "-") != 0)
        return file;
    if (fstat(STDIN_FILENO, &status) == 0 && S_ISSOCK(status.st_mode))
        return socket_input();
    return "/dev/stdin";
}

/* --- maps --- */

paths_map *command_read_map(const char *file)
{
    paths_map *map;
    if (paths_map_read(&map, command_input(file))) {
        command_fail();
        return NULL;
    }
    return map;
}

int command_check_map(const paths_map *map, FILE *complaints)
{
    paths_complaints all = {0};
    int err = paths_map_check(map, &all);
    for (size_t i = 0; i < all.count; i++) {
        const paths_complaint *c = &all.items[i];
        fprintf(complaints, "%s:%u: %s%s%s\n", map->file, c->line, c->node,
                *c->node ? ": " : "", c->text);
    }
    if (err && all.count == 0)
        command_fail();
    paths_complaints_clear(&all);
    return err;
}

int command_write_map(const paths_map *map, const char *file)
{
    if (file && strcmp(file, "-") != 0)
        return paths_map_save(map, file);
    return paths_map_write(map, stdout);
}

/* --- ends --- */

int command_fail(void)
{
    fprintf(stderr, "eventspace: %s\n", pastset_error());
    return COMMAND_FAILED;
}

int command_end_output(int err)
{
    if (err)
        return command_fail();
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        pastset_fail(PASTSET_EIO, "standard output: %s", strerror(errno));
        return command_fail();
    }
    return COMMAND_OK;
}
