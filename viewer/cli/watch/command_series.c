/* command_series.c - see command_series.h. */
#include "viewer/cli/watch/command_series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/sensors/history.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "pastset/text.h"
#include "paths/map/units.h"

static int value_keep(cli_series *s, double value)
{
    double *values = pastset_array_grow(s->values, s->count, sizeof(*values));

    if (!values)
        return pastset_no_memory("for a series");
    s->values = values;
    s->values[s->count++] = value;
    return 0;
}

/* --- a table --- */

/* The last field of a line; a comma, semicolon or blank stands before it. */
static char *last_field(char *line)
{
    char *end = line + strcspn(line, "#\r\n"), *at;

    while (end > line && strchr(" \t,;", end[-1]))
        end--;
    *end = 0;
    at = end;
    while (at > line && !strchr(" \t,;", at[-1]))
        at--;
    return at;
}

static int value_read(cli_series *s, const char *file, size_t line,
                      const char *text)
{
    const char *digits = *text == '-' ? text + 1 : text;
    double value;

    if (paths_parse_real(digits, &value) != 0)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s:%zu: \"%.40s\" is not a number: a series is a "
                            "value a line, or lines of which the last field is "
                            "one",
                            file, line, text);
    return value_keep(s, *text == '-' ? -value : value);
}

/* A first line without a number is the head of a table. */
static int table_read(cli_series *s, char *text, const char *file)
{
    char *line = text, *next;
    size_t number = 0;
    int err = 0;

    for (; !err && *line; line = next) {
        const char *field;
        next = line + strcspn(line, "\n");
        next += *next == '\n' ? (*next = 0, 1) : 0;
        field = last_field(line);
        number++;
        if (*field &&
            (number > 1 || *field == '-' || (*field >= '0' && *field <= '9')))
            err = value_read(s, file, number, field);
    }
    return err;
}

/* --- a history --- */

static int history_take(cli_series *s, const char *text, size_t bytes,
                        const char *file)
{
    measure_history *h;
    int err = measure_history_parse(&h, text, bytes, file);

    if (err)
        return err;
    for (size_t i = measure_history_alike(h); i < h->count && !err; i++)
        err = value_keep(s, h->rows[i].value);
    measure_history_destroy(h);
    return err;
}

/* --- all of a file --- */

static int text_copy(FILE *to, FILE *from, const char *file)
{
    char block[65536];
    size_t got;

    while ((got = fread(block, 1, sizeof(block), from)) > 0)
        fwrite(block, 1, got, to);
    return ferror(from) ? pastset_fail(PASTSET_EIO, "cannot read %s: %s", file,
                                       strerror(errno))
                        : 0;
}

static int text_read(char **text, size_t *bytes, FILE *in, const char *file)
{
    FILE *memory = pastset_text_begin(text, bytes);
    int err;

    if (!memory)
        return pastset_no_memory("for a series");
    err = text_copy(memory, in, file);
    if (!pastset_text_end(memory) && !err)
        err = pastset_no_memory("for a series");
    return err;
}

static int series_take(cli_series *s, FILE *in, const char *file)
{
    static const char magic[] = MEASURE_HISTORY_MAGIC;
    char *text = NULL;
    size_t bytes = 0;
    int err = text_read(&text, &bytes, in, file);

    if (!err)
        err = strncmp(text, magic, strlen(magic)) == 0
                  ? history_take(s, text, bytes, file)
                  : table_read(s, text, file);
    free(text);
    if (!err && s->count == 0)
        err = pastset_fail(PASTSET_EFORMAT, "%s has no values", file);
    return err;
}

int cli_series_read(cli_series *out, const char *file)
{
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    int err;

    *out = (cli_series){0};
    if (!in)
        return pastset_fail(PASTSET_EIO, "cannot open %s: %s", file,
                            strerror(errno));
    err = series_take(out, in, in == stdin ? "standard input" : file);
    if (in != stdin)
        fclose(in);
    if (err)
        cli_series_clear(out);
    return err;
}

void cli_series_clear(cli_series *series)
{
    free(series->values);
    *series = (cli_series){0};
}
