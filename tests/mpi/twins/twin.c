/* twin.c - see twin.h; and, of the layers below apps/, what the problems of the
 * kernels call. */
#include "tests/mpi/twins/twin.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

int twin_rank, twin_count;

program_options twin_begin(int argc, char **argv, size_t own_bytes)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &twin_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &twin_count);
    twin_check(argc != 2, "usage: twin ROUNDS");
    return (program_options){
        .size = 'S',
        .threads = (uint32_t)twin_count,
        .seed = 1,
        .rounds = (uint32_t)atoi(argv[1]),
        .own = twin_memory(1, own_bytes + 1),
    };
}

void twin_check(int err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "%s: %d\n", what, err);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void *twin_memory(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    twin_check(!memory, "no memory");
    return memory;
}

/* --- of pastset and apps/common --- */

int pastset_fail(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    return status;
}

int program_parse_number(uint64_t *out, const char *option, const char *text,
                         uint64_t min, uint64_t max)
{
    char *end;

    *out = strtoull(text, &end, 10);
    if (*end == 0 && *out >= min && *out <= max)
        return 0;
    return pastset_fail(PASTSET_EINVAL, "%s: %s", option, text);
}

int program_parse_name(unsigned *out, const char *option, const char *text,
                       const char *const *names)
{
    for (unsigned i = 0; names[i]; i++) {
        *out = i;
        if (strcmp(names[i], text) == 0)
            return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "%s: %s", option, text);
}

int program_value(program_result *r, const char *name, double value)
{
    (void)r;
    return printf("%s %.17g\n", name, value) < 0;
}

int program_count(program_result *r, const char *name, uint64_t count)
{
    (void)r;
    return printf("%s %" PRIu64 "\n", name, count) < 0;
}

int program_text(program_result *r, const char *name, const char *text)
{
    (void)r;
    return printf("%s %s\n", name, text) < 0;
}
