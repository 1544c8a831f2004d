/* table.c - cells in one array, row by row. */
#include "viewer/table.h"

#include "pastset/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 64 /* longest number, printed */

typedef union cell {
    char *text;
    int64_t integer;
    double real;
} cell;

struct viewer_table {
    const viewer_column *columns;
    size_t column_count;
    cell *cells;
    size_t count, room;
    bool failed; /* memory ran out while cells were added */
};

viewer_table *viewer_table_create(const viewer_column *columns, size_t count)
{
    viewer_table *table = calloc(1, sizeof(*table));
    if (table) {
        table->columns = columns;
        table->column_count = count;
    }
    return table;
}

static const viewer_column *column_of(const viewer_table *table, size_t index)
{
    return &table->columns[index % table->column_count];
}

void viewer_table_destroy(viewer_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        if (column_of(table, i)->kind == VIEWER_TEXT)
            free(table->cells[i].text);
    free(table->cells);
    free(table);
}

/* Room for one more cell, or NULL. */
static cell *add(viewer_table *table)
{
    if (!table || table->failed)
        return NULL;
    if (table->count == table->room) {
        size_t room = table->room ? table->room * 2 : 256;
        cell *cells = realloc(table->cells, room * sizeof(*cells));
        if (!cells) {
            table->failed = true;
            return NULL;
        }
        table->cells = cells;
        table->room = room;
    }
    return &table->cells[table->count++];
}

void viewer_table_text(viewer_table *table, const char *text)
{
    cell *c = add(table);
    if (!c)
        return;
    c->text = strdup(text);
    if (!c->text)
        table->failed = true;
}

void viewer_table_integer(viewer_table *table, int64_t number)
{
    cell *c = add(table);
    if (c)
        c->integer = number;
}

void viewer_table_real(viewer_table *table, double number)
{
    cell *c = add(table);
    if (c)
        c->real = number;
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

/* The text of a cell; `room` holds it when it is a number. */
static const char *show(const viewer_column *column, const cell *c,
                        char room[CELL_BYTES])
{
    switch (column->kind) {
    case VIEWER_TEXT:
        return c->text;
    case VIEWER_COUNT:
        print_grouped(room, c->integer);
        return room;
    case VIEWER_NUMBER:
        if (c->integer == VIEWER_BLANK)
            return "";
        snprintf(room, CELL_BYTES, "%" PRId64, c->integer);
        return room;
    case VIEWER_TIME_NS:
        snprintf(room, CELL_BYTES, "%.3f", (double)c->integer / 1e6);
        return room;
    case VIEWER_SHARE:
        snprintf(room, CELL_BYTES, "%.1f%%", c->real * 100);
        return room;
    }
    return "";
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
static void print_plain(FILE *file, const char *text)
{
    for (; *text; text++)
        putc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, file);
}

static void print_padded(FILE *file, const char *text, size_t width, bool left,
                         bool last)
{
    size_t used = places(text);
    int blanks = used < width ? (int)(width - used) : 0;
    if (!left)
        fprintf(file, "%*s", blanks, "");
    print_plain(file, text);
    if (last)
        putc('\n', file);
    else
        fprintf(file, "%*s", (left ? blanks : 0) + 2, "");
}

static void measure(const viewer_table *table, size_t *widths)
{
    char room[CELL_BYTES];
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = places(table->columns[i].head);
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->column_count;
        size_t used = places(show(column_of(table, i), &table->cells[i], room));
        if (used > widths[column])
            widths[column] = used;
    }
}

static int print_table(const viewer_table *table, FILE *file)
{
    char room[CELL_BYTES];
    size_t columns = table->column_count;
    size_t *widths = calloc(columns, sizeof(*widths));
    if (!widths)
        return pastset_fail(PASTSET_ENOMEM, "no memory to print a table");
    measure(table, widths);
    for (size_t i = 0; i < columns; i++)
        print_padded(file, table->columns[i].head, widths[i],
                     table->columns[i].kind == VIEWER_TEXT, i + 1 == columns);
    for (size_t i = 0; i < table->count; i++) {
        const viewer_column *column = column_of(table, i);
        size_t place = i % columns;
        print_padded(file, show(column, &table->cells[i], room), widths[place],
                     column->kind == VIEWER_TEXT, place + 1 == columns);
    }
    free(widths);
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

static void print_csv(const viewer_table *table, FILE *file)
{
    size_t columns = table->column_count;
    for (size_t i = 0; i < columns; i++)
        fprintf(file, "%s%s", i ? "," : "", table->columns[i].key);
    fputs("\r\n", file);
    for (size_t i = 0; i < table->count; i++) {
        const viewer_column *column = column_of(table, i);
        if (column->kind == VIEWER_TEXT)
            print_quoted(file, table->cells[i].text);
        else if (column->kind == VIEWER_SHARE)
            fprintf(file, "%.6f", table->cells[i].real);
        else if (table->cells[i].integer != VIEWER_BLANK)
            fprintf(file, "%" PRId64, table->cells[i].integer);
        fputs((i + 1) % columns ? "," : "\r\n", file);
    }
}

json_t *viewer_json_text(const char *text)
{
    json_t *json = json_string(text);
    if (json)
        return json;
    char *copy = strdup(text);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

static json_t *json_of(const viewer_column *column, const cell *c)
{
    if (column->kind == VIEWER_TEXT)
        return viewer_json_text(c->text);
    if (column->kind == VIEWER_SHARE)
        return json_real(c->real);
    return c->integer == VIEWER_BLANK ? json_null() : json_integer(c->integer);
}

/* One row at a time, so that a long table need not be in memory twice. */
static int print_json(const viewer_table *table, FILE *file)
{
    fputs("[", file);
    for (size_t i = 0; i < table->count; i += table->column_count) {
        json_t *row = json_object();
        int err = 0;
        for (size_t k = 0; k < table->column_count; k++)
            err |= json_object_set_new(
                row, table->columns[k].key,
                json_of(&table->columns[k], &table->cells[i + k]));
        fputs(i ? ",\n" : "\n", file);
        err |= json_dumpf(row, file, JSON_COMPACT | JSON_REAL_PRECISION(9));
        json_decref(row);
        if (err)
            return pastset_fail(PASTSET_EIO,
                                "a row of JSON was not written: %s",
                                ferror(file) ? strerror(errno) : "no memory");
    }
    fputs("\n]", file);
    return 0;
}

int viewer_table_print(const viewer_table *table, viewer_format format,
                       FILE *file)
{
    if (!table || table->failed)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a table");
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
