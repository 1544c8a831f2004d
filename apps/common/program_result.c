/* program_result.c - named values, as JSON and as a table. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/program_internal.h"
#include "pastset/status.h"

struct program_result {
    json_t *values; /* an object: keeps the order in which they came */
    int status;     /* of the first value that could not be added */
    char text[256];
};

int result_create(program_result **out)
{
    program_result *r = calloc(1, sizeof(*r));

    *out = r;
    if (r)
        r->values = json_object();
    if (!r || !r->values)
        return pastset_no_memory("for the results");
    return 0;
}

void result_destroy(program_result *r)
{
    if (!r)
        return;
    json_decref(r->values);
    free(r);
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

/* --- files --- */

int program_file_open(FILE **out, const program_options *o, const char *name)
{
    char file[PATH_MAX];
    int length = snprintf(file, sizeof(file), "%s/%s", o->out, name);

    *out = NULL;
    if (length < 0 || (size_t)length >= sizeof(file))
        return pastset_fail(PASTSET_EIO, "%s: %s", name,
                            strerror(ENAMETOOLONG));
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST)
        return pastset_fail(PASTSET_EIO, "%s: %s", o->out, strerror(errno));
    *out = fopen(file, "w");
    if (!*out)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
    return 0;
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

static int json_write(const program_result *r, const result_facts *facts)
{
    json_t *all = as_json(r, facts);
    char name[128];
    FILE *file;
    int err;

    if (!all)
        return pastset_no_memory("for the results");
    snprintf(name, sizeof(name), "%s.json", facts->program->name);
    err = program_file_open(&file, facts->options, name);
    if (!err) {
        bool written =
            json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) ==
            0;
        fputc('\n', file);
        err = program_file_close(file, name);
        if (!err && !written)
            err = pastset_fail(PASTSET_EIO, "%s: cannot write", name);
    }
    json_decref(all);
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

int result_write(const program_result *r, const result_facts *facts)
{
    int err = 0;

    if (r->status)
        return pastset_fail(r->status, "%s", r->text);
    if (facts->options->out)
        err = json_write(r, facts);
    if (err)
        return err;
    table_print(r, facts);
    if (fflush(stdout) != 0 || ferror(stdout))
        return pastset_fail(PASTSET_EIO, "standard output: cannot write");
    return 0;
}
