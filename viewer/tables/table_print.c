/* table_print.c - prints tables, cell by cell and straight to the file, so that
 * a long one need not be in memory twice. Only a table for people is passed
 * over before, to know how wide its columns are. */
#include "viewer/tables/table_print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define CELL_BYTES 64 /* longest number, printed */

static bool is_real(scopes_kind kind)
{
    return kind == SCOPES_SHARE || kind == SCOPES_REAL;
}

static bool is_blank(scopes_kind kind, scopes_cell cell)
{
    if (kind == SCOPES_TEXT)
        return !cell.text;
    return is_real(kind) ? !isfinite(cell.real) : cell.integer == SCOPES_BLANK;
}

/* --- for people --- */

static void print_grouped(char out[CELL_BYTES], int64_t number)
{
    char digits[CELL_BYTES];
    int length = snprintf(digits, sizeof(digits), "%" PRId64, number);
    size_t used = 0;

    for (int i = 0; i < length; i++) {
        int left = length - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-')
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

static void print_real(char out[CELL_BYTES], double number, int decimals)
{
    if (fabs(number) >= 1e15)
        snprintf(out, CELL_BYTES, "%.3e", number);
    else /* without a sign before a zero */
        snprintf(out, CELL_BYTES, "%.*f", decimals,
                 fabs(number) < 0.5 * pow(10, -decimals) ? 0 : number);
}

/* Six digits, and all of those before the point: 12.3457, 0.000123, 1234567.
 * What is measured knows no more, and only what is very large or very
 * small has an exponent. */
#define DIGITS 6

static void print_digits(char out[CELL_BYTES], double number)
{
    int whole = number != 0 ? (int)floor(log10(fabs(number))) + 1 : 1;
    size_t used;

    if (whole > 15 || whole < -8) {
        snprintf(out, CELL_BYTES, "%.*g", DIGITS, number);
        return;
    }
    used = (size_t)snprintf(out, CELL_BYTES, "%.*f",
                            whole < DIGITS ? DIGITS - whole : 0, number);
    while (strchr(out, '.') && (out[used - 1] == '0' || out[used - 1] == '.'))
        out[--used] = '\0';
    if (strcmp(out, "-0") == 0)
        strcpy(out, "0");
}

/* How a column is printed. */
typedef struct style {
    scopes_kind kind;
    int decimals; /* of real numbers; -1: any */
    bool fine;    /* some of its times are below a millisecond */
    size_t width;
} style;

/* Times below a millisecond are told to the nanosecond, others to the
 * microsecond: what is more is noise. The points stand below each other. */
static bool is_fine(scopes_cell time)
{
    return time.integer != 0 && time.integer != SCOPES_BLANK &&
           time.integer < 1000000 && time.integer > -1000000;
}

/* The text of a cell; `capacity` holds it when it is a number. */
static const char *show(const style *how, scopes_cell cell,
                        char capacity[CELL_BYTES])
{
    scopes_kind kind = how->kind;

    if (is_blank(kind, cell))
        return "";
    switch (kind) {
    case SCOPES_TEXT:
        return cell.text;
    case SCOPES_COUNT:
        print_grouped(capacity, cell.integer);
        break;
    case SCOPES_NUMBER:
        snprintf(capacity, CELL_BYTES, "%" PRId64, cell.integer);
        break;
    case SCOPES_TIME_NS:
        if (is_fine(cell))
            snprintf(capacity, CELL_BYTES, "%.6f", (double)cell.integer / 1e6);
        else
            snprintf(capacity, CELL_BYTES, how->fine ? "%.3f   " : "%.3f",
                     (double)cell.integer / 1e6);
        break;
    case SCOPES_SHARE:
        snprintf(capacity, CELL_BYTES, "%.1f%%", cell.real * 100);
        break;
    case SCOPES_REAL:
        print_real(capacity, cell.real, how->decimals);
        break;
    }
    return capacity;
}

/* The places a text takes: its characters, if it is UTF-8. */
static size_t places(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* Control characters in names must not reach a terminal. */
static void print_plain(FILE *file, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        putc((unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i],
             file);
}

/* Blanks are printed when something comes behind them: no line ends in them. */
static void print_cell(FILE *file, int *blanks, const char *text, size_t width,
                       bool left)
{
    size_t used = places(text), bytes = strlen(text), end = bytes;
    int room = used < width ? (int)(width - used) : 0;

    while (end > 0 && text[end - 1] == ' ')
        end--;
    *blanks += left ? 0 : room;
    if (end > 0) {
        fprintf(file, "%*s", *blanks, "");
        print_plain(file, text, end);
        *blanks = 0;
    }
    *blanks += (int)(bytes - end) + (left ? room : 0) + 2;
}

/* --- decimals --- */

/* Up to three, as many as it takes: 2, 0.5, 12.125. */
static int real_decimals(const scopes_table *table, size_t column)
{
    size_t rows = scopes_table_rows(table);
    int decimals = -1;

    for (size_t i = 0; i < rows; i++) {
        double number = scopes_table_cell(table, i, column).real;
        char digits[CELL_BYTES];
        int needed = 3;
        if (!isfinite(number) || fabs(number) >= 1e15)
            continue;
        snprintf(digits, sizeof(digits), "%.3f", number);
        for (char *end = digits + strlen(digits); end[-1] == '0'; end--)
            needed--;
        decimals = needed > decimals ? needed : decimals;
    }
    return decimals;
}

/* The last word of a head: "s" of "min s". */
static const char *unit_of(const scopes_column *column)
{
    const char *blank = strrchr(column->head, ' ');

    return blank ? blank + 1 : column->head;
}

static bool have_one_unit(const scopes_column *a, const scopes_column *b)
{
    return a->kind == SCOPES_REAL && b->kind == SCOPES_REAL &&
           strcmp(unit_of(a), unit_of(b)) == 0;
}

/* Real numbers of one unit are there to be compared: they have as many decimals
 * as the one that needs most. */
static void choose_decimals(const scopes_table *table, style *styles)
{
    size_t columns = scopes_table_columns(table);

    for (size_t k = 0; k < columns; k++) {
        const scopes_column *column = scopes_table_column(table, k);
        styles[k].decimals =
            column->kind == SCOPES_REAL ? real_decimals(table, k) : -1;
        for (size_t j = 0; j < k; j++) {
            if (have_one_unit(column, scopes_table_column(table, j)) &&
                styles[j].decimals > styles[k].decimals)
                styles[k].decimals = styles[j].decimals;
        }
        for (size_t j = 0; j < k; j++) {
            if (have_one_unit(column, scopes_table_column(table, j)))
                styles[j].decimals = styles[k].decimals;
        }
    }
    for (size_t k = 0; k < columns; k++) {
        if (styles[k].decimals < 0)
            styles[k].decimals = 0;
    }
}

static void measure(const scopes_table *table, style *styles)
{
    char capacity[CELL_BYTES];
    size_t columns = scopes_table_columns(table);
    size_t rows = scopes_table_rows(table);

    choose_decimals(table, styles);
    for (size_t k = 0; k < columns; k++) {
        const scopes_column *column = scopes_table_column(table, k);
        style *how = &styles[k];
        how->kind = column->kind;
        how->width = places(column->head);
        for (size_t i = 0; i < rows && column->kind == SCOPES_TIME_NS; i++)
            how->fine |= is_fine(scopes_table_cell(table, i, k));
        for (size_t i = 0; i < rows; i++) {
            scopes_cell cell = scopes_table_cell(table, i, k);
            size_t used = places(show(how, cell, capacity));
            how->width = used > how->width ? used : how->width;
        }
    }
}

static int print_table(const scopes_table *table, FILE *file)
{
    char capacity[CELL_BYTES];
    size_t columns = scopes_table_columns(table);
    size_t rows = scopes_table_rows(table);
    int blanks = 0;
    style *styles = calloc(columns, sizeof(*styles));

    if (!styles)
        return pastset_no_memory("to print a table");
    measure(table, styles);
    for (size_t k = 0; k < columns; k++)
        print_cell(file, &blanks, scopes_table_column(table, k)->head,
                   styles[k].width, styles[k].kind == SCOPES_TEXT);
    putc('\n', file);
    for (size_t i = 0; i < rows; i++) {
        blanks = 0;
        for (size_t k = 0; k < columns; k++)
            print_cell(
                file, &blanks,
                show(&styles[k], scopes_table_cell(table, i, k), capacity),
                styles[k].width, styles[k].kind == SCOPES_TEXT);
        putc('\n', file);
    }
    free(styles);
    return 0;
}

/* --- for programs --- */

static void print_quoted(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

static void print_number(FILE *file, scopes_kind kind, scopes_cell cell)
{
    char digits[CELL_BYTES];

    if (!is_real(kind)) {
        fprintf(file, "%" PRId64, cell.integer);
        return;
    }
    print_digits(digits, cell.real);
    fputs(digits, file);
}

static void print_csv_cell(FILE *file, scopes_kind kind, scopes_cell cell)
{
    if (is_blank(kind, cell))
        return;
    if (kind == SCOPES_TEXT)
        print_quoted(file, cell.text);
    else
        print_number(file, kind, cell);
}

static void print_csv(const scopes_table *table, FILE *file)
{
    size_t columns = scopes_table_columns(table);
    size_t rows = scopes_table_rows(table);

    for (size_t k = 0; k < columns; k++)
        fprintf(file, "%s%s", k ? "," : "", scopes_table_column(table, k)->key);
    fputs("\r\n", file);
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < columns; k++) {
            print_csv_cell(file, scopes_table_column(table, k)->kind,
                           scopes_table_cell(table, i, k));
            fputs(k + 1 < columns ? "," : "\r\n", file);
        }
    }
}

json_t *viewer_json_text(const char *text)
{
    json_t *json = json_string(text);
    char *copy;

    if (json)
        return json;
    copy = strdup(text);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

json_t *viewer_json_cell(scopes_kind kind, scopes_cell cell)
{
    char digits[CELL_BYTES];

    if (is_blank(kind, cell))
        return json_null();
    if (kind == SCOPES_TEXT)
        return viewer_json_text(cell.text);
    if (!is_real(kind))
        return json_integer(cell.integer);
    print_digits(digits, cell.real);
    return json_real(strtod(digits, NULL));
}

static int print_json_text(FILE *file, const char *text)
{
    json_t *json = viewer_json_text(text);
    int err = json_dumpf(json, file, JSON_COMPACT | JSON_ENCODE_ANY);

    json_decref(json);
    if (err)
        return pastset_fail(PASTSET_EIO, "a row of JSON was not written: %s",
                            ferror(file) ? strerror(errno) : "no memory");
    return 0;
}

static int print_json_cell(FILE *file, scopes_kind kind, scopes_cell cell)
{
    if (is_blank(kind, cell))
        fputs("null", file);
    else if (kind == SCOPES_TEXT)
        return print_json_text(file, cell.text);
    else
        print_number(file, kind, cell);
    return 0;
}

int viewer_table_print_members(const scopes_table *table, size_t row,
                               FILE *file)
{
    size_t columns = scopes_table_columns(table);
    int err = scopes_table_status(table);

    for (size_t k = 0; k < columns && !err; k++) {
        const scopes_column *column = scopes_table_column(table, k);
        fprintf(file, "%s\"%s\":", k ? "," : "", column->key);
        err = print_json_cell(file, column->kind,
                              scopes_table_cell(table, row, k));
    }
    return err;
}

static int print_json(const scopes_table *table, FILE *file)
{
    size_t rows = scopes_table_rows(table);
    int err = 0;

    putc('[', file);
    for (size_t i = 0; i < rows && !err; i++) {
        fputs(i ? ",\n{" : "\n{", file);
        err = viewer_table_print_members(table, i, file);
        putc('}', file);
    }
    fputs("\n]", file);
    return err;
}

int viewer_table_print(const scopes_table *table, viewer_format format,
                       FILE *file)
{
    int err = scopes_table_status(table);

    if (err)
        return err;
    switch (format) {
    case VIEWER_TABLE:
        return print_table(table, file);
    case VIEWER_CSV:
        print_csv(table, file);
        return 0;
    case VIEWER_JSON:
        return print_json(table, file);
    }
    return 0;
}
