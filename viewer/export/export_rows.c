/* export_rows.c - events as CSV and as JSON, one on each line, in the order in
 * which they are in the files of the run. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"

/* Texts of a run that repeat, ready to be written. */
typedef struct rows {
    viewer__export *e;
    viewer__text *out;
    bool json;
    char **ids, **threads, **processes;
    uint32_t id_count, thread_count, process_count;
} rows;

/* --- texts --- */

/* As RFC 4180 has it: in quotes where that is needed. */
static char *csv_string(const char *text)
{
    char *plain = viewer__utf8(text), *out, *to;

    if (!plain || !strpbrk(plain, ",\"\r\n"))
        return plain;
    out = to = malloc(2 * strlen(plain) + 3);
    if (out) {
        *to++ = '"';
        for (const char *from = plain; *from; from++) {
            if (*from == '"')
                *to++ = '"';
            *to++ = *from;
        }
        strcpy(to, "\"");
    }
    free(plain);
    return out;
}

static char *string_of(const rows *r, const char *text)
{
    return r->json ? viewer__json_string(text) : csv_string(text);
}

static int make_texts(rows *r)
{
    const viewer__export *e = r->e;

    r->id_count = eventspace_run_ids(e->run);
    r->thread_count = e->topology->thread_count;
    r->process_count = e->topology->map->process_count;
    r->ids = calloc(r->id_count + 1, sizeof(char *));
    r->threads = calloc(r->thread_count + 1, sizeof(char *));
    r->processes = calloc(r->process_count + 1, sizeof(char *));
    if (!r->ids || !r->threads || !r->processes)
        return pastset_no_memory("for an export");
    /* Behind each list stands the text of what is not in it. */
    for (uint32_t i = 0; i <= r->id_count; i++) {
        r->ids[i] =
            string_of(r, i < r->id_count ? viewer__export_id_name(e, i) : "");
        if (!r->ids[i])
            return pastset_no_memory("for an export");
    }
    for (uint32_t i = 0; i <= r->thread_count; i++) {
        r->threads[i] =
            string_of(r, scopes_topology_thread_name(e->topology, i));
        if (!r->threads[i])
            return pastset_no_memory("for an export");
    }
    for (uint32_t i = 0; i < r->process_count; i++) {
        r->processes[i] =
            string_of(r, scopes_topology_process_name(e->topology, i));
        if (!r->processes[i])
            return pastset_no_memory("for an export");
    }
    return 0;
}

static void free_list(char **list, uint32_t count)
{
    for (uint32_t i = 0; list && i <= count; i++)
        free(list[i]);
    free(list);
}

static void drop_texts(rows *r)
{
    free_list(r->ids, r->id_count);
    free_list(r->threads, r->thread_count);
    free_list(r->processes, r->process_count);
}

/* --- rows --- */

#define COLUMNS 14
static const char csv_head[] =
    "collector,collector_name,process,thread,thread_name,sequence,verb,bytes,"
    "status,start_ticks,end_ticks,start_ns,end_ns,duration_ns\r\n";

/* What stands before each value, and behind the last. */
static const char *const csv_marks[COLUMNS + 1] = {"",  ",", ",", ",", ",",
                                                   ",", ",", ",", ",", ",",
                                                   ",", ",", ",", ",", "\r\n"};
static const char *const json_marks[COLUMNS + 1] = {
    "{\"collector\":",   ",\"collector_name\":", ",\"process\":",
    ",\"thread\":",      ",\"thread_name\":",    ",\"sequence\":",
    ",\"verb\":",        ",\"bytes\":",          ",\"status\":",
    ",\"start_ticks\":", ",\"end_ticks\":",      ",\"start_ns\":",
    ",\"end_ns\":",      ",\"duration_ns\":",    "}\n"};

static void put_word(const rows *r, const char *word)
{
    if (r->json)
        viewer__put_bytes(r->out, "\"", 1);
    viewer__put(r->out, word);
    if (r->json)
        viewer__put_bytes(r->out, "\"", 1);
}

/* Ticks are unsigned. */
static void put_ticks(viewer__text *out, uint64_t ticks)
{
    if (ticks > INT64_MAX) {
        viewer__put_number(out, (int64_t)(ticks / 10));
        ticks %= 10;
    }
    viewer__put_number(out, (int64_t)ticks);
}

static void put_row(const rows *r, uint32_t process,
                    const eventspace_trace *event)
{
    const char *const *marks = r->json ? json_marks : csv_marks;
    viewer__text *out = r->out;
    uint32_t id =
        event->collector < r->id_count ? event->collector : r->id_count;
    uint32_t thread =
        event->thread < r->thread_count ? event->thread : r->thread_count;
    int64_t start_ns = scopes_clocks_ns(r->e->clocks, process, event->start);
    int64_t end_ns = scopes_clocks_ns(r->e->clocks, process, event->end);

    viewer__put(out, marks[0]);
    viewer__put_number(out, event->collector);
    viewer__put(out, marks[1]);
    viewer__put(out, r->ids[id]);
    viewer__put(out, marks[2]);
    viewer__put(out, r->processes[process]);
    viewer__put(out, marks[3]);
    viewer__put_number(out, event->thread);
    viewer__put(out, marks[4]);
    viewer__put(out, r->threads[thread]);
    viewer__put(out, marks[5]);
    viewer__put_number(out, event->sequence);
    viewer__put(out, marks[6]);
    put_word(r, eventspace_trace_verb(event->operation));
    viewer__put(out, marks[7]);
    viewer__put_number(out, event->bytes);
    viewer__put(out, marks[8]);
    put_word(r, event->status ? pastset_status_name(-event->status) : "");
    viewer__put(out, marks[9]);
    put_ticks(out, event->start);
    viewer__put(out, marks[10]);
    put_ticks(out, event->end);
    viewer__put(out, marks[11]);
    viewer__put_number(out, start_ns);
    viewer__put(out, marks[12]);
    viewer__put_number(out, end_ns);
    viewer__put(out, marks[13]);
    viewer__put_number(out, end_ns - start_ns);
    viewer__put(out, marks[COLUMNS]);
}

static int put_rows(rows *r)
{
    scopes_cursor *cursor;
    scopes_batch batch;
    int err = scopes_cursor_open(&cursor, r->e->source, &r->e->filter);

    if (err)
        return err;
    while (!(err = scopes_cursor_next(cursor, &batch))) {
        for (size_t i = 0; i < batch.count; i++)
            put_row(r, (uint32_t)batch.process, &batch.events[i]);
        err = viewer__put_status(r->out);
        if (!err)
            err = viewer__export_stopped();
        if (err)
            break;
    }
    scopes_cursor_ledger(cursor, &r->e->ledger);
    scopes_cursor_close(cursor);
    return err == PASTSET_EAGAIN ? 0 : err;
}

int viewer__export_rows(viewer__export *e, bool json, viewer__text *out)
{
    rows r = {.e = e, .out = out, .json = json};
    int err = make_texts(&r);

    if (!err && !json)
        viewer__put(out, csv_head);
    if (!err)
        err = put_rows(&r);
    drop_texts(&r);
    return err;
}
