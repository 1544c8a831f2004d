/* command_mpi.c - eventspace mpi: one rank of an MPI program, recorded.
 *
 * The command stands behind the launcher of MPI, so there is one of it for each
 * rank; it becomes the program. That of rank 0 makes the run directory, which
 * the others need only when MPI is initialised, and so after that. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/record/environment.h"
#include "eventspace/run/run_writer.h"
#include "pastset/status.h"
#include "viewer/cli/command.h"
#include "viewer/cli/command_mpi.h"

#ifndef EVENTSPACE_LIBDIR
#define EVENTSPACE_LIBDIR "lib"
#endif

enum { KEY_REPLACE = 256, KEY_EVENTS, KEY_WATCH, KEY_PRELOAD };

static const struct argp_option mpi_options[] = {
    {"output", 'o', "RUN", 0, "Write the run to the directory RUN", 0},
    {"replace", KEY_REPLACE, NULL, 0, "Replace an older run in that directory",
     0},
    {"events", KEY_EVENTS, "COUNT", 0,
     "Record at most COUNT events of each thread (default 268435456); what "
     "comes after these is counted as lost",
     0},
    {"preload", KEY_PRELOAD, "LIBRARY", 0,
     "Load this library of MPI with the program, which loads it later by "
     "itself, as Python does: libmpi.so.40 or libmpich.so.12",
     0},
    CLI_DEADLOCKS_OPTION(KEY_WATCH),
    {0},
};

typedef struct mpi_arguments {
    const char *directory;
    const char *library; /* of MPI; NULL: the program has it */
    char **program;
    uint64_t events;
    command_deadlocks watch;
    bool replace;
} mpi_arguments;

/* --- which rank --- */

/* As launchers say it: mpirun of Open MPI, mpiexec of MPICH (Hydra), srun. */
static const char *const variables[][2] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

static bool number_from(const char *variable, uint64_t *out)
{
    const char *text = getenv(variable);

    return text && paths_parse_number(text, out) == 0 && *out < UINT32_MAX;
}

/* Without a launcher MPI makes a world of one. */
static void rank_find(uint64_t *rank, uint64_t *size)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        if (number_from(variables[i][0], rank) &&
            number_from(variables[i][1], size) && *rank < *size)
            return;
    *rank = 0;
    *size = 1;
}

/* --- the run directory --- */

static int processes_add(paths_map *map, uint64_t size)
{
    char name[32];

    for (uint64_t i = 0; i < size; i++) {
        eventspace_rank_name(name, (uint32_t)i, (uint32_t)size);
        if (paths_map_add_process(map, name) == PATHS_NONE)
            return pastset_no_memory("for the map of a run");
    }
    return 0;
}

/* A run has the name of its program. */
static const char *name_of(const mpi_arguments *a)
{
    const char *slash = strrchr(a->program[0], '/'),
               *name = slash ? slash + 1 : a->program[0];

    return *name ? name : "mpi";
}

static int directory_make(const mpi_arguments *a, uint64_t size)
{
    eventspace_run_writer *writer;
    paths_map *map;
    int err = paths_map_create(&map, name_of(a));

    if (!err)
        err = processes_add(map, size);
    if (!err)
        err =
            eventspace_run_writer_open(&writer, a->directory, map, a->replace);
    if (!err)
        eventspace_run_writer_close(writer, true);
    paths_map_destroy(map);
    return err;
}

/* --- the environment --- */

static int set(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0
               ? 0
               : pastset_no_memory("for the environment of a program");
}

static int set_number(const char *name, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return set(name, text);
}

/* Where the interposers are, from where this program is. */
static int libraries_find(char out[PATH_MAX])
{
    static const char *const places[] = {"../lib", "../" EVENTSPACE_LIBDIR};
    char self[PATH_MAX], file[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[length > 0 ? length : 0] = 0;
    slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        snprintf(file, sizeof(file), "%s/%s/%s", self, places[i],
                 EVENTSPACE_MPI_DETECT);
        if (access(file, R_OK) == 0) {
            snprintf(file, sizeof(file), "%s/%s", self, places[i]);
            return realpath(file, out) ? 0 : pastset_no_memory("for a name");
        }
    }
    return pastset_fail(PASTSET_ENOENT,
                        "%s is missing beside %s: is EventSpace installed as "
                        "a whole?",
                        EVENTSPACE_MPI_DETECT, self);
}

static int preload(const char *libraries, const char *mpi)
{
    const char *before = getenv("LD_PRELOAD");
    char *all;
    int err;

    if (asprintf(&all, "%s/%s%s%s%s%s", libraries, EVENTSPACE_MPI_DETECT,
                 mpi ? ":" : "", mpi ? mpi : "", before && *before ? ":" : "",
                 before ? before : "") < 0)
        return pastset_no_memory("for the environment of a program");
    err = set("LD_PRELOAD", all);
    free(all);
    return err;
}

static int environment_make(const mpi_arguments *a, uint64_t size)
{
    char libraries[PATH_MAX], directory[PATH_MAX];
    int err = libraries_find(libraries);

    if (err)
        return err;
    /* A program may change its directory before it initialises MPI. */
    if (a->directory[0] == '/')
        snprintf(directory, sizeof(directory), "%s", a->directory);
    else if (!getcwd(directory, sizeof(directory)) ||
             strlen(directory) + strlen(a->directory) + 2 > sizeof(directory))
        return pastset_fail(PASTSET_EINVAL, "%s: its name is too long",
                            a->directory);
    else
        snprintf(directory + strlen(directory),
                 sizeof(directory) - strlen(directory), "/%s", a->directory);
    err = set(EVENTSPACE_MPI_RUN, directory);
    if (!err)
        err = set_number(EVENTSPACE_MPI_SIZE, size);
    if (!err && a->events)
        err = set_number(EVENTSPACE_MPI_EVENTS, a->events);
    if (!err)
        err = set(EVENTSPACE_MPI_LIBRARIES, libraries);
    return err ? err : preload(libraries, a->library);
}

/* --- the program --- */

/* A program that is not linked dynamically loads no library of others. Scripts
 * and what cannot be read are left to exec. */
static bool is_static(const char *file)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 &&
              pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
              memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
              header.e_ident[EI_CLASS] == ELFCLASS64;

    for (unsigned i = 0; is && i < header.e_phnum; i++)
        if (pread(fd, &part, sizeof(part),
                  (off_t)(header.e_phoff + i * sizeof(part))) != sizeof(part) ||
            part.p_type == PT_INTERP)
            is = false;
    if (fd >= 0)
        close(fd);
    return is;
}

static void become(char **program)
{
    execvp(program[0], program);
    (void)pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO, "%s: %s",
                       program[0], strerror(errno));
}

/* --- with its launcher --- */

/* What of MPI a program names, if it is one that is linked with it. */
static const char *launcher_of(const char *program)
{
    static const struct {
        const char *library, *launcher;
    } all[] = {{"libmpich.so", "mpiexec.mpich"},
               {"libmpi.so", "mpirun.openmpi"}};
    struct stat status;
    const char *found = "mpiexec";
    void *text = MAP_FAILED;
    int fd = open(program, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        text =
            mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    for (size_t i = 0; text != MAP_FAILED && i < 2; i++)
        if (memmem(text, (size_t)status.st_size, all[i].library,
                   strlen(all[i].library)))
            found = all[i].launcher;
    if (text != MAP_FAILED)
        munmap(text, (size_t)status.st_size);
    if (fd >= 0)
        close(fd);
    return found;
}

int cli_mpi_launch(uint64_t ranks, const char *directory, bool replace,
                   command_deadlocks how, char *const *program)
{
    char count[24], self[PATH_MAX], output[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    const char *launcher = launcher_of(program[0]);
    const char *const front[] = {launcher, "-n", count, self, "mpi", output};
    size_t fronts = sizeof(front) / sizeof(*front), words = 0;
    const char **argv;

    while (program[words])
        words++;
    argv = calloc(fronts + words + 3, sizeof(*argv));
    if (!argv)
        return cli_no_memory("for a program");
    self[length > 0 ? length : 0] = 0;
    snprintf(count, sizeof(count), "%llu", (unsigned long long)ranks);
    snprintf(output, sizeof(output), "--output=%s", directory);
    memcpy(argv, front, sizeof(front));
    if (replace)
        argv[fronts++] = "--replace";
    argv[fronts++] = "--";
    memcpy(argv + fronts, program, words * sizeof(*argv));
    if (how != COMMAND_DEADLOCKS_NOT) {
        int code =
            cli_deadlocks_run(directory, how, (char *const *)(uintptr_t)argv);
        free(argv);
        return code;
    }
    execvp(launcher, (char *const *)(uintptr_t)argv);
    free(argv);
    (void)pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                       "%s: %s: the launcher of the MPI of %s is not there",
                       launcher, strerror(errno), program[0]);
    return cli_fail();
}

/* The other ranks would wait for this one for ever: Hydra, the launcher of
 * MPICH, ends them when a rank fails only if that has spoken to it, by PMI. */
static int refuse(void)
{
    static const char init[] = "cmd=init pmi_version=1 pmi_subversion=1\n";
    int code = cli_fail();
    char answer[256];
    uint64_t fd;

    if (number_from("PMI_FD", &fd) && fd <= INT_MAX &&
        write((int)fd, init, sizeof(init) - 1) > 0 &&
        read((int)fd, answer, sizeof(answer)) < 0)
        return code; /* there is nobody */
    return code;
}

/* --- the command --- */

static error_t parse_mpi(int key, char *text, struct argp_state *state)
{
    mpi_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->directory = text;
        return 0;
    case KEY_REPLACE:
        a->replace = true;
        return 0;
    case KEY_EVENTS:
        if (paths_parse_number(text, &a->events) || a->events == 0 ||
            a->events >= UINT32_MAX)
            argp_error(state, "--events=%s: give a number from 1 to 4294967294",
                       text);
        return 0;
    case KEY_WATCH:
        a->watch = cli_deadlocks_read(text, state);
        return 0;
    case KEY_PRELOAD:
        a->library = text;
        return 0;
    case ARGP_KEY_ARG:
        a->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!a->directory || !*a->directory)
            argp_error(state, "--output is missing: write the run to which "
                              "directory?");
        if (!a->program)
            argp_error(state, "the program is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cli_mpi(int argc, char **argv)
{
    static const struct argp argp = {
        mpi_options,
        parse_mpi,
        "-- PROGRAM [ARGUMENT...]",
        "Records an MPI program as it is: each call, where it stands in the "
        "source, and each message. Put the command behind the launcher of MPI, "
        "in front of the program:"
        "\vmpirun -n 8 eventspace mpi --output=RUN -- ./app\n\n"
        "This works with mpirun and mpiexec of Open MPI and MPICH and with "
        "srun, and for scripts that start the program. The program is not "
        "changed: it may be in C, C++ or Fortran, linked dynamically with Open "
        "MPI or MPICH. The run can be looked into while it goes on, and after "
        "it was killed.",
        NULL,
        NULL,
        NULL};
    mpi_arguments a = {0};
    uint64_t rank, size;

    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 0, &a))
        return COMMAND_USAGE;
    rank_find(&rank, &size);
    if (is_static(a.program[0]))
        (void)pastset_fail(PASTSET_ENOTSUP,
                           "%s is linked statically, so that nothing can be "
                           "loaded into it: link it dynamically",
                           a.program[0]);
    else if (environment_make(&a, size) == 0 &&
             (rank != 0 || directory_make(&a, size) == 0)) {
        if (rank == 0 && a.watch != COMMAND_DEADLOCKS_NOT)
            cli_deadlocks_beside(a.directory, a.watch);
        become(a.program);
    }
    return refuse(); /* whichever of these failed has said why */
}
