/* program_result.c - named values, as JSON and as a table. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/common/program_internal.h"
#include "pastset/status.h"

/* The room that is kept for NAME.json while the program computes, so that what
 * fills the disk meanwhile (the trace, often) does not cost the results. */
#define FILE_ROOM 16384

struct program_result {
    json_t *values; /* an object: keeps the order in which they came */
    FILE *file;     /* NULL: no directory to write to, or written */
    char name[PATH_MAX];
    int status; /* of the first value that could not be added */
    char text[256];
};

/* --- files --- */

static int file_name(char *to, size_t size, const program_options *o,
                     const char *name, const char *ending)
{
    int length = snprintf(to, size, "%s/%s%s", o->out, name, ending);

    if (length < 0 || (size_t)length >= size)
        return pastset_fail(PASTSET_EIO, "%s%s: %s", name, ending,
                            strerror(ENAMETOOLONG));
    return 0;
}

static int file_open(FILE **out, const program_options *o, const char *file)
{
    *out = NULL;
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST)
        return pastset_fail(PASTSET_EIO, "%s: %s", o->out, strerror(errno));
    *out = fopen(file, "w");
    if (!*out)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
    return 0;
}

int program_file_open(FILE **out, const program_options *o, const char *name)
{
    char file[PATH_MAX];
    int err = file_name(file, sizeof(file), o, name, "");

    *out = NULL;
    return err ? err : file_open(out, o, file);
}

int program_file_close(FILE *file, const char *name)
{
    bool bad = ferror(file) != 0;

    if (fclose(file) != 0)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    if (bad)
        return pastset_fail(PASTSET_EIO, "%s: cannot write", name);
    return 0;
}

/* --- results --- */

void result_destroy(program_result *r)
{
    if (!r)
        return;
    if (r->file) {
        fclose(r->file);
        unlink(r->name);
    }
    json_decref(r->values);
    free(r);
}

/* Opens NAME.json, with its room. */
static int file_create(program_result *r, const program *p,
                       const program_options *o)
{
    int err = file_name(r->name, sizeof(r->name), o, p->name, ".json");
    int failed;

    if (!err)
        err = file_open(&r->file, o, r->name);
    if (err)
        return err;
    do {
        failed =
            fallocate(fileno(r->file), FALLOC_FL_KEEP_SIZE, 0, FILE_ROOM) != 0;
    } while (failed && errno == EINTR);
    /* A file system that cannot keep room has to do without. */
    if (failed && errno != EOPNOTSUPP && errno != ENOSYS)
        return pastset_fail(PASTSET_EIO, "%s: %s", r->name, strerror(errno));
    return 0;
}

int result_create(program_result **out, const program *p,
                  const program_options *o)
{
    program_result *r = calloc(1, sizeof(*r));
    int err = 0;

    if (r)
        r->values = json_object();
    if (!r || !r->values)
        err = pastset_no_memory("for the results");
    else if (o->out)
        err = file_create(r, p, o);
    if (err) {
        result_destroy(r);
        r = NULL;
    }
    *out = r;
    return err;
}

/* --- values --- */

static int keep(program_result *r, int status)
{
    if (!r->status) {
        r->status = status;
        snprintf(r->text, sizeof(r->text), "%s", pastset_error());
    }
    return status;
}

/* Takes the value. */
static int add(program_result *r, const char *name, json_t *value)
{
    if (json_object_get(r->values, name)) {
        json_decref(value);
        return keep(r, pastset_fail(PASTSET_EEXIST,
                                    "two results are named %.100s", name));
    }
    if (!value || json_object_set_new(r->values, name, value) != 0)
        return keep(r, pastset_no_memory("for the result %.100s", name));
    return 0;
}

int program_value(program_result *r, const char *name, double value)
{
    if (!isfinite(value))
        return keep(r, pastset_fail(PASTSET_EAPP, "the result %.100s is %f",
                                    name, value));
    return add(r, name, json_real(value));
}

int program_count(program_result *r, const char *name, uint64_t count)
{
    if (count > INT64_MAX)
        return keep(r, pastset_fail(PASTSET_EAPP,
                                    "the result %.100s is too large: %" PRIu64,
                                    name, count));
    return add(r, name, json_integer((json_int_t)count));
}

int program_text(program_result *r, const char *name, const char *text)
{
    return add(r, name, json_string(text));
}

/* --- the file --- */

static json_t *as_json(const program_result *r, const result_facts *facts)
{
    char size[2] = {facts->options->size, 0};
    json_t *all = json_pack("{s:s, s:s, s:i}", "program", facts->program->name,
                            "size", size, "threads", (int)facts->threads);

    if (all && facts->processes)
        json_object_set_new(all, "processes", json_integer(facts->processes));
    if (!all ||
        json_object_set_new(all, "seconds", json_real(facts->seconds)) != 0 ||
        json_object_set(all, "values", r->values) != 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

static int json_write(program_result *r, const result_facts *facts)
{
    json_t *all = as_json(r, facts);
    FILE *file = r->file;
    bool written;
    int err;

    if (!all)
        return pastset_no_memory("for the results");
    written =
        json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
    json_decref(all);
    fputc('\n', file);
    /* What is left of its room goes back. */
    if (fflush(file) == 0 && ftruncate(fileno(file), ftello(file)) != 0)
        written = false;
    r->file = NULL;
    err = program_file_close(file, r->name);
    if (!err && !written)
        err = pastset_fail(PASTSET_EIO, "%s: cannot write", r->name);
    if (err)
        unlink(r->name);
    return err;
}

/* --- the table --- */

static int widest(const program_result *r)
{
    size_t max = 0;
    const char *name;
    json_t *value;

    json_object_foreach(r->values, name, value)
    {
        if (strlen(name) > max)
            max = strlen(name);
    }
    return (int)max;
}

/* With as few digits as give the same number again. */
static void real_print(double value)
{
    char digits[32];

    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof(digits), "%.*g", count, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    puts(digits);
}

static void table_print(const program_result *r, const result_facts *facts)
{
    int width = widest(r);
    const char *name;
    json_t *value;

    printf("%s: size %c, %" PRIu32 " thread%s", facts->program->name,
           facts->options->size, facts->threads,
           facts->threads == 1 ? "" : "s");
    if (facts->processes)
        printf(" on %" PRIu32 " process%s", facts->processes,
               facts->processes == 1 ? "" : "es");
    printf(", %.3f s\n", facts->seconds);
    json_object_foreach(r->values, name, value)
    {
        printf("  %-*s  ", width, name);
        if (json_is_real(value))
            real_print(json_real_value(value));
        else if (json_is_integer(value))
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
        else
            printf("%s\n", json_string_value(value));
    }
}

int result_write(program_result *r, const result_facts *facts)
{
    int err = 0;

    if (r->status)
        return pastset_fail(r->status, "%s", r->text);
    /* The table first: it is there when the file cannot be written. */
    table_print(r, facts);
    if (fflush(stdout) != 0 || ferror(stdout))
        err = pastset_fail(PASTSET_EIO, "standard output: cannot write");
    if (r->file) {
        int file_err = json_write(r, facts);
        err = err ? err : file_err;
    }
    return err;
}
