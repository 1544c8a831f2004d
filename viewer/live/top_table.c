/* top_table.c - frames as tables, for programs, and as lines of a terminal. */
#include "viewer/live/top.h"

#include "pastset/status.h"
#include "pastset/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const scopes_column thread_columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"operations_per_s", "op/s", SCOPES_REAL},
    {"bytes_per_s", "bytes/s", SCOPES_REAL},
    {"communicating_share", "communicating %", SCOPES_SHARE},
    {"silent_ns", "silent ms", SCOPES_TIME_NS},
    {"last_path", "after", SCOPES_TEXT},
    {"longest_ns", "longest ms", SCOPES_TIME_NS},
    {"longest_path", "in", SCOPES_TEXT},
    {"operations", "operations", SCOPES_COUNT},
    {"number", "no.", SCOPES_NUMBER},
};
static const scopes_column collective_columns[] = {
    {"wrapper", "collective", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"rounds", "rounds", SCOPES_COUNT},
    {"rounds_per_s", "rounds/s", SCOPES_REAL},
    {"last_thread", "mostly last", SCOPES_TEXT},
    {"last_process", "of process", SCOPES_TEXT},
    {"last_share", "of rounds", SCOPES_SHARE},
};
/* A mirror hears of each process several times a second, and writes once. */
#define STALE_NS 3000000000

static const scopes_column process_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"events_per_s", "events/s", SCOPES_REAL},
    {"events_recorded", "recorded", SCOPES_COUNT},
    {"events_lost", "lost", SCOPES_COUNT},
    {"lost_per_s", "lost/s", SCOPES_REAL},
    {"collectors_share", "collectors", SCOPES_SHARE},
    {"behind_ns", "behind ms", SCOPES_TIME_NS},
    {"problem", "problem", SCOPES_TEXT},
};

static const scopes_column pending_columns[] = {
    {"thread", "pending", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"process_state", "process is", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"for_ns", "for ms", SCOPES_TIME_NS},
    {"verb", "verb", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"stage", "stage", SCOPES_TEXT},
    {"peer", "peer", SCOPES_TEXT},
    {"waits_for", "waits for", SCOPES_TEXT},
};

/* Three digits are told; more are noise. */
static double rounded(double rate)
{
    double unit = 1;

    while (rate / unit < 100 && unit > 1e-3)
        unit /= 10;
    return round(rate / unit) * unit;
}

static void add_thread(scopes_table *table, const viewer_top_frame *frame,
                       size_t i)
{
    const viewer_top_thread *t = &frame->threads[i];

    scopes_table_text(table, t->name);
    scopes_table_text(table, t->process);
    scopes_table_real(table, rounded(t->operations_per_s));
    scopes_table_real(table, rounded(t->bytes_per_s));
    scopes_table_real(table, t->share);
    scopes_table_integer(table, t->silent_ns);
    scopes_table_text(table, t->last);
    scopes_table_integer(table, t->longest_ns);
    scopes_table_text(table, t->longest);
    scopes_table_integer(table, (int64_t)t->operations);
    scopes_table_integer(table, t->number);
}

static void add_collective(scopes_table *table, const viewer_top_frame *frame,
                           size_t i)
{
    const viewer_top_collective *c = &frame->collectives[i];

    scopes_table_text(table, c->name);
    scopes_table_text(table, c->element);
    scopes_table_text(table, c->process);
    scopes_table_integer(table, (int64_t)c->rounds);
    scopes_table_real(table, rounded(c->rounds_per_s));
    scopes_table_text(table, c->last);
    scopes_table_text(table, c->last_process);
    scopes_table_real(table, c->last_share);
}

static void add_process(scopes_table *table, const viewer_top_frame *frame,
                        size_t i)
{
    const viewer_top_process *h = &frame->processes[i];

    scopes_table_text(table, h->name);
    scopes_table_text(table, h->state);
    scopes_table_real(table, rounded(h->events_per_s));
    scopes_table_integer(table, (int64_t)h->recorded);
    scopes_table_integer(table, (int64_t)h->lost);
    scopes_table_real(table, rounded(h->lost_per_s));
    scopes_table_real(table, h->collectors);
    scopes_table_integer(table, h->behind_ns);
    scopes_table_text(table, h->problem);
}

static void add_pending(scopes_table *table, const viewer_top_frame *frame,
                        size_t i)
{
    const viewer_top_pending *p = &frame->pending[i];

    scopes_table_text(table, p->thread);
    scopes_table_text(table, p->process);
    scopes_table_text(table, p->process_state);
    scopes_table_text(table, p->state);
    scopes_table_integer(table, p->for_ns);
    scopes_table_text(table, p->verb);
    scopes_table_text(table, p->path);
    scopes_table_text(table, p->stage);
    scopes_table_text(table, p->peer);
    scopes_table_text(table, p->waits_for);
}

#define COLUMNS(list) list, sizeof(list) / sizeof(*(list))

static const struct {
    const char *name; /* in JSON */
    const scopes_column *columns;
    size_t column_count;
    void (*add)(scopes_table *table, const viewer_top_frame *frame, size_t i);
} lists[VIEWER_TOP_LISTS] = {
    [VIEWER_TOP_THREADS] = {"threads", COLUMNS(thread_columns), add_thread},
    [VIEWER_TOP_COLLECTIVES] = {"collectives", COLUMNS(collective_columns),
                                add_collective},
    [VIEWER_TOP_PROCESSES] = {"processes", COLUMNS(process_columns),
                              add_process},
    [VIEWER_TOP_PENDING] = {"pending", COLUMNS(pending_columns), add_pending},
};

static size_t rows_of(const viewer_top_frame *frame, viewer_top_list list)
{
    const size_t counts[VIEWER_TOP_LISTS] = {
        [VIEWER_TOP_THREADS] = frame->thread_count,
        [VIEWER_TOP_COLLECTIVES] = frame->collective_count,
        [VIEWER_TOP_PROCESSES] = frame->process_count,
        [VIEWER_TOP_PENDING] = frame->pending_count,
    };

    return counts[list];
}

/* At most `max` rows. The caller destroys it, before the frame's texts go.
 * NULL when memory is out. */
static scopes_table *list_table(const viewer_top_frame *frame,
                                viewer_top_list list, size_t max)
{
    scopes_table *table =
        scopes_table_create(lists[list].columns, lists[list].column_count);
    size_t rows = rows_of(frame, list);

    for (size_t i = 0; i < rows && i < max; i++)
        lists[list].add(table, frame, i);
    return table;
}

static int print_list(const viewer_top_frame *frame, viewer_top_list list,
                      size_t max, viewer_format format, FILE *file)
{
    scopes_table *table = list_table(frame, list, max);
    int err = table ? viewer_table_print(table, format, file)
                    : pastset_no_memory("for a table");

    scopes_table_destroy(table);
    return err;
}

/* --- for people --- */

static void print_head(const viewer_top_frame *frame, FILE *file)
{
    fprintf(file, "%s: %s, %.1f s, window %.1f s", frame->run, frame->state,
            (double)frame->run_ns / 1e9, (double)frame->window_ns / 1e9);
    if (frame->behind_ns != SCOPES_BLANK)
        fprintf(file, ", %s%.1f s behind",
                frame->behind_ns > STALE_NS ? "NOTHING NEW, " : "",
                (double)frame->behind_ns / 1e9);
}

static void print_cost(const viewer_top_frame *frame, FILE *file)
{
    const viewer_top_watching *w = &frame->watching;
    double collectors = 0;

    for (size_t i = 0; i < frame->process_count; i++)
        collectors += frame->processes[i].collectors;
    fprintf(file, "watching: %.1f%% of a processor, %.1f MB/s",
            w->processor * 100, w->bytes_per_s / 1e6);
    if (isfinite(collectors))
        fprintf(file, "; collectors: %.2f%%, %.0f ns an event",
                collectors * 100, w->event_cost_ns);
    if (frame->strange)
        fprintf(file, "; %" PRIu64 " events are not of this map",
                frame->strange);
}

/* If it has rows. */
static int print_optional(const viewer_top_frame *frame, viewer_top_list list,
                          FILE *file)
{
    if (rows_of(frame, list) == 0)
        return 0;
    putc('\n', file);
    return print_list(frame, list, SIZE_MAX, VIEWER_TABLE, file);
}

static int print_tables(const viewer_top_frame *frame, FILE *file)
{
    int err;

    print_head(frame, file);
    fputs("\n\n", file);
    err = print_list(frame, VIEWER_TOP_PROCESSES, SIZE_MAX, VIEWER_TABLE, file);
    if (!err)
        err = print_optional(frame, VIEWER_TOP_COLLECTIVES, file);
    if (!err)
        err = print_optional(frame, VIEWER_TOP_PENDING, file);
    putc('\n', file);
    if (!err)
        err =
            print_list(frame, VIEWER_TOP_THREADS, SIZE_MAX, VIEWER_TABLE, file);
    putc('\n', file);
    print_cost(frame, file);
    putc('\n', file);
    return err;
}

/* --- for programs --- */

/* The frame as a whole, and what watching costs. */
static const scopes_column frame_columns[] = {
    {"run", "run", SCOPES_TEXT},
    {"map", "map", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"lasted_ns", "lasted ms", SCOPES_TIME_NS},
    {"window_ns", "window ms", SCOPES_TIME_NS},
    {"behind_ns", "behind ms", SCOPES_TIME_NS},
    {"events_strange", "strange", SCOPES_COUNT},
};
static const scopes_column watching_columns[] = {
    {"processor_share", "of a processor", SCOPES_SHARE},
    {"bytes_per_s", "bytes/s", SCOPES_REAL},
    {"events_read", "read", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"event_cost_ns", "an event ns", SCOPES_REAL},
};

static int print_frame(const viewer_top_frame *frame, FILE *file)
{
    scopes_table *table = scopes_table_create(COLUMNS(frame_columns));
    int err;

    scopes_table_text(table, frame->run);
    scopes_table_text(table, frame->map);
    scopes_table_text(table, frame->state);
    scopes_table_integer(table, frame->run_ns);
    scopes_table_integer(table, frame->window_ns);
    scopes_table_integer(table, frame->behind_ns);
    scopes_table_integer(table, (int64_t)frame->strange);
    err = viewer_table_print_members(table, 0, file);
    scopes_table_destroy(table);
    return err;
}

static int print_watching(const viewer_top_watching *w, FILE *file)
{
    scopes_table *table = scopes_table_create(COLUMNS(watching_columns));
    int err;

    scopes_table_real(table, w->processor);
    scopes_table_real(table, rounded(w->bytes_per_s));
    scopes_table_integer(table, (int64_t)w->tuples);
    scopes_table_integer(table, (int64_t)w->bytes);
    scopes_table_real(table,
                      w->event_cost_ns > 0 ? rounded(w->event_cost_ns) : NAN);
    err = viewer_table_print_members(table, 0, file);
    scopes_table_destroy(table);
    return err;
}

static int print_json(const viewer_top_frame *frame, FILE *file)
{
    int err;

    fputs("{\"frame\": {", file);
    err = print_frame(frame, file);
    fputs(", \"watching\": {", file);
    if (!err)
        err = print_watching(&frame->watching, file);
    fputs("}}", file);
    for (int list = 0; list < VIEWER_TOP_LISTS && !err; list++) {
        fprintf(file, ",\n\"%s\": ", lists[list].name);
        err = print_list(frame, (viewer_top_list)list, SIZE_MAX, VIEWER_JSON,
                         file);
    }
    fputs("}\n", file);
    return err;
}

int viewer_top_print(const viewer_top_frame *frame, viewer_top_list list,
                     viewer_format format, FILE *file)
{
    switch (format) {
    case VIEWER_TABLE:
        return print_tables(frame, file);
    case VIEWER_JSON:
        return print_json(frame, file);
    case VIEWER_CSV:
        return print_list(frame, list, SIZE_MAX, format, file);
    }
    return 0;
}

/* --- for a terminal --- */

/* One line, or the part of it that fits. Control characters cannot come: the
 * tables replace them, and the rest is escaped here. */
static void draw_line(FILE *file, const char *line, size_t bytes,
                      unsigned columns, const char *before, const char *after)
{
    unsigned used = 0;

    fputs(before, file);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)line[i];
        used += (c & 0xC0) != 0x80;
        if (used > columns)
            break;
        putc(c < ' ' || c == 127 ? '?' : c, file);
    }
    fputs(after, file);
}

typedef struct drawing {
    FILE *file;
    unsigned rows, columns; /* rows that are left */
    bool colour, begun;
} drawing;

static void draw_text(drawing *d, const char *text, size_t bytes, bool head)
{
    const char *before = head && d->colour ? "\033[1;7m" : "";

    if (d->rows == 0)
        return;
    if (d->begun)
        fputs("\r\n", d->file);
    d->begun = true;
    d->rows--;
    draw_line(d->file, text, bytes, d->columns, before,
              *before ? "\033[0m\033[K" : "\033[K");
}

/* Each line of a text; the first is a head. */
static void draw_lines(drawing *d, const char *text, bool head)
{
    while (*text && d->rows) {
        size_t length = strcspn(text, "\n");
        draw_text(d, text, length, head);
        head = false;
        text += length + (text[length] == '\n');
    }
}

/* A table in at most `rows` lines, its head and a line for what has no room
 * among them. */
static int draw_list(drawing *d, const viewer_top_frame *frame,
                     viewer_top_list list, unsigned rows)
{
    size_t all = rows_of(frame, list), max = rows > 1 ? rows - 1 : 0;
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory;
    int err;

    if (rows < 2 || all == 0)
        return 0;
    if (all > max)
        max--;
    memory = pastset_text_begin(&text, &bytes);
    if (!memory)
        return pastset_no_memory("to draw");
    err = print_list(frame, list, max, VIEWER_TABLE, memory);
    if (all > max)
        fprintf(memory, "... and %zu %s more\n", all - max, lists[list].name);
    if (!pastset_text_end(memory) && !err)
        err = pastset_no_memory("to draw");
    if (!err)
        draw_lines(d, text, true);
    free(text);
    return err;
}

static int draw_head(drawing *d, const viewer_top_frame *frame,
                     const char *keys)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = pastset_text_begin(&text, &bytes);
    int err = 0;

    if (!memory)
        return pastset_no_memory("to draw");
    print_head(frame, memory);
    fprintf(memory, "%s%s\n", keys ? "  " : "", keys ? keys : "");
    print_cost(frame, memory);
    if (pastset_text_end(memory))
        draw_lines(d, text, false);
    else
        err = pastset_no_memory("to draw");
    free(text);
    return err;
}

static unsigned min(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* Processes, collectives and what is pending get a quarter each, if they need
 * it; threads have what is left. */
int viewer_top_draw(const viewer_top_frame *frame, unsigned rows,
                    unsigned columns, bool colour, const char *keys, FILE *file)
{
    /* A line that ends in the last column would be wrapped by some. */
    drawing d = {.file = file,
                 .rows = rows,
                 .columns = columns > 1 ? columns - 1 : 1,
                 .colour = colour};
    static const viewer_top_list lists_above[] = {
        VIEWER_TOP_PROCESSES, VIEWER_TOP_COLLECTIVES, VIEWER_TOP_PENDING};
    unsigned share = rows / 4 > 3 ? rows / 4 : 3;
    int err = draw_head(&d, frame, keys);

    for (size_t i = 0; i < sizeof(lists_above) / sizeof(*lists_above); i++) {
        size_t count = rows_of(frame, lists_above[i]);
        if (err || d.rows == 0 || count == 0)
            continue;
        draw_text(&d, "", 0, false);
        err = draw_list(&d, frame, lists_above[i],
                        min(min(count + 1, share), d.rows));
    }
    if (!err && d.rows) {
        draw_text(&d, "", 0, false);
        err = draw_list(&d, frame, VIEWER_TOP_THREADS, d.rows);
    }
    if (d.begun)
        fputs("\033[J", file);
    return err;
}
