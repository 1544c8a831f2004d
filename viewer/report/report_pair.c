/* report_pair.c - the pages of two runs side by side, in one file.
 *
 * Each is as it is alone, the text of a frame (srcdoc). The policies of both
 * pages hold there, so that all scripts carry one nonce. In that text only '&'
 * and the apostrophe around it have to be escaped. */
#include "pastset/status.h"
#include "scopes/compare/diff.h"
#include "viewer/report/page_internal.h"
#include "viewer/report/report_internal.h"
#include "viewer/tables/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_MAX 5 /* that the heading has; the command diff has all */

/* Columns of the table of a comparison. */
enum {
    DECISION,
    KIND,
    THREAD,
    PATH,
    WHAT,
    FOR_THREAD,
    STATISTIC,
    BASE_NS,
    NEW_NS,
    IN_RUN_NS = 14
};

static const char *const sides[2] = {"first", "second"};
static const char *const side_titles[2] = {"First", "Second"};

typedef struct pair {
    const viewer_report_run *runs;
    const scopes_snapshot_options *window;
    viewer__report_frame_text frames[2];
    char nonce[VIEWER__NONCE_TEXT];
    scopes_diff *diff;
    scopes_table *table; /* NULL: nothing could be compared */
    char problem[512];   /* then why */
    FILE *file;
} pair;

/* --- the comparison --- */

static int take_side(pair *p, scopes_diff_side side)
{
    scopes_snapshot *snapshot = NULL;
    int err = scopes_snapshot_take(&snapshot, p->runs[side].run, p->window);

    if (!err)
        err = scopes_diff_add(p->diff, side, snapshot);
    scopes_snapshot_destroy(snapshot);
    return err;
}

static int take_both(pair *p, bool with_others)
{
    const scopes_diff_options options = {.confidence = 0.99,
                                         .threshold = 0.01,
                                         .min_share = 0.01,
                                         .with_others = with_others};
    int err;

    scopes_diff_destroy(p->diff);
    p->diff = NULL;
    err = scopes_diff_create(&p->diff, &options);
    if (!err)
        err = take_side(p, SCOPES_DIFF_BASE);
    return err ? err : take_side(p, SCOPES_DIFF_NEW);
}

/* As the command diff does it. What has nothing in common is no error here. */
static int compare(pair *p)
{
    int err = take_both(p, false);

    if (!err && scopes_diff_is_mixed(p->diff))
        err = take_both(p, true);
    if (!err)
        err = scopes_diff_compare(p->diff, NULL);
    if (!err)
        err = scopes_diff_table(&p->table, p->diff, false);
    if (err != PASTSET_ENOENT)
        return err;
    snprintf(p->problem, sizeof(p->problem), "%s", pastset_error());
    return 0;
}

/* --- texts --- */

/* As the page has it (data.js). */
static void put_time(FILE *file, double ns)
{
    double size = fabs(ns);

    if (size >= 1e9)
        fprintf(file, "%.3f s", ns / 1e9);
    else if (size >= 1e6)
        fprintf(file, "%.3f ms", ns / 1e6);
    else if (size >= 1e3)
        fprintf(file, "%.2f \u00b5s", ns / 1e3);
    else
        fprintf(file, "%.0f ns", ns);
}

static void put_change(FILE *file, double base_ns, double change_ns)
{
    if (change_ns >= 0)
        putc('+', file);
    put_time(file, change_ns);
    if (base_ns > 0)
        fprintf(file, " (%+.1f %%)", 100 * change_ns / base_ns);
}

static void put_name(pair *p, int side)
{
    viewer__page_html_text(p->file, p->runs[side].name);
}

/* "RUN took 5.2 ms (1.3 %) longer than BASE": first what one wants to know. */
static void put_says(pair *p)
{
    double base_ns = (double)p->frames[0].lasted_ns;
    double change_ns = (double)p->frames[1].lasted_ns - base_ns;

    if (!p->frames[0].has_events || !p->frames[1].has_events) {
        put_name(p, !p->frames[1].has_events);
        fputs(" has no events", p->file);
        return;
    }
    put_name(p, 1);
    fputs(" took ", p->file);
    if (change_ns == 0) {
        fputs("as long as ", p->file);
    } else {
        put_time(p->file, fabs(change_ns));
        if (base_ns > 0)
            fprintf(p->file, " (%.1f %%)", 100 * fabs(change_ns) / base_ns);
        fputs(change_ns > 0 ? " longer than " : " less than ", p->file);
    }
    put_name(p, 0);
}

/* --- what differs --- */

/* How a kind of the comparison is said between a thread and what it did. */
static const char *words_of(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } all[] = {{"region", "in region"},
               {"computing", "computing before"},
               {"operation", "in"},
               {"waiting", "waiting in"},
               {"run", "the whole run"}};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(kind, all[i].kind) == 0)
            return all[i].words;
    return kind;
}

static void put_word(FILE *file, const char *before, const char *word)
{
    if (!*word)
        return;
    fputs(before, file);
    viewer__page_html_text(file, word);
}

static void put_item(FILE *file, const scopes_table *table, size_t row)
{
    const char *thread = scopes_table_cell(table, row, THREAD).text;

    put_word(file, "", thread);
    put_word(file, *thread ? " " : "",
             words_of(scopes_table_cell(table, row, KIND).text));
    put_word(file, " ", scopes_table_cell(table, row, WHAT).text);
    put_word(file, " ", scopes_table_cell(table, row, PATH).text);
    put_word(file, ", for ", scopes_table_cell(table, row, FOR_THREAD).text);
}

static void put_row(FILE *file, double base_ns, double new_ns)
{
    fputs("</th><td>", file);
    put_time(file, base_ns);
    fputs("</td><td>", file);
    put_time(file, new_ns);
    fputs("</td><td>", file);
    put_change(file, base_ns, new_ns - base_ns);
    fputs("</td><td>", file);
}

/* What threads and hops do themselves; the rest is what others wait for that.
 */
static bool is_cause(const scopes_table *table, size_t row)
{
    static const char *const effects[] = {"waiting", "step", "run"};
    const char *kind = scopes_table_cell(table, row, KIND).text;

    for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++)
        if (strcmp(kind, effects[i]) == 0)
            return false;
    return true;
}

static double in_run(const scopes_table *table, size_t row)
{
    return fabs((double)scopes_table_cell(table, row, IN_RUN_NS).integer);
}

/* Is row `a` to be seen before `b`? */
static bool is_before(const scopes_table *table, size_t a, size_t b)
{
    bool causes[2] = {is_cause(table, a), is_cause(table, b)};

    return causes[0] != causes[1] ? causes[0]
                                  : in_run(table, a) > in_run(table, b);
}

/* What only one of the runs has, has no times to compare. */
static bool is_comparable(const scopes_table *table, size_t row)
{
    return scopes_table_cell(table, row, BASE_NS).integer != SCOPES_BLANK &&
           scopes_table_cell(table, row, NEW_NS).integer != SCOPES_BLANK &&
           scopes_table_cell(table, row, IN_RUN_NS).integer != SCOPES_BLANK;
}

static size_t comparable_rows(const scopes_table *table)
{
    size_t count = 0;

    for (size_t row = 0; row < scopes_table_rows(table); row++)
        count += is_comparable(table, row);
    return count;
}

/* The first rows as people want to see them: causes, and what they cost or save
 * in a run. Gives how many. */
static size_t choose_rows(size_t chosen[DIFFERENCES_MAX],
                          const scopes_table *table)
{
    size_t count = 0;

    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        size_t at = count;
        if (!is_comparable(table, row))
            continue;
        while (at > 0 && is_before(table, row, chosen[at - 1]))
            at--;
        if (at == DIFFERENCES_MAX)
            continue;
        count += count < DIFFERENCES_MAX;
        memmove(chosen + at + 1, chosen + at,
                (count - at - 1) * sizeof(*chosen));
        chosen[at] = row;
    }
    return count;
}

static void put_rows(pair *p, const size_t *chosen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t ns[] = {
            scopes_table_cell(p->table, chosen[i], BASE_NS).integer,
            scopes_table_cell(p->table, chosen[i], NEW_NS).integer,
            scopes_table_cell(p->table, chosen[i], IN_RUN_NS).integer};
        fputs("<tr><th scope=\"row\">", p->file);
        put_item(p->file, p->table, chosen[i]);
        put_row(p->file, (double)ns[0], (double)ns[1]);
        put_change(p->file, 0, (double)ns[2]);
        fputs("</td></tr>\n", p->file);
    }
}

/* What the rows are worth. */
static void put_note(pair *p, size_t count)
{
    size_t of = p->table ? comparable_rows(p->table) : 0;
    size_t others = p->table ? scopes_table_rows(p->table) - of : 0;

    fputs("<p class=\"keys\">", p->file);
    if (!p->table)
        viewer__page_html_text(p->file, p->problem);
    else if (count == 0)
        fputs("Nothing else differs by more than the steps within the runs "
              "do.",
              p->file);
    else
        fprintf(p->file,
                "Below the first row: %zu of %zu that differ by more than the "
                "steps within the runs do, each a typical one, and what that "
                "comes to in the run; causes first. One run of each cannot "
                "tell that from noise: give <code>eventspace diff</code> five "
                "or more.",
                count, of);
    if (others > 0)
        fprintf(p->file, " %zu %s one of the runs only.", others,
                others == 1 ? "is in" : "are in");
    fputs("</p>\n", p->file);
}

static void put_differences(pair *p)
{
    size_t chosen[DIFFERENCES_MAX];
    size_t count = p->table ? choose_rows(chosen, p->table) : 0;

    if (!p->frames[0].has_events || !p->frames[1].has_events)
        return;
    fputs("<table class=\"differences\"><thead><tr><td></td>", p->file);
    for (int i = 0; i < 2; i++) {
        fprintf(p->file, "<th scope=\"col\">%s: ", side_titles[i]);
        put_name(p, i);
        fputs("</th>", p->file);
    }
    fputs("<th scope=\"col\">difference</th><th scope=\"col\">in the "
          "run</th></tr></thead>\n<tbody>"
          "<tr class=\"whole\"><th scope=\"row\">The whole run, from begin to "
          "end",
          p->file);
    put_row(p->file, (double)p->frames[0].lasted_ns,
            (double)p->frames[1].lasted_ns);
    fputs("</td></tr>\n", p->file);
    put_rows(p, chosen, count);
    fputs("</tbody></table>\n", p->file);
    put_note(p, count);
}

/* --- the page --- */

static void put_attribute(FILE *file, const char *text, size_t bytes)
{
    for (const char *end = text + bytes; text < end; text++)
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '\'')
            fputs("&#39;", file);
        else
            putc(*text, file);
}

static void put_frames(pair *p)
{
    for (int i = 0; i < 2; i++) {
        fprintf(p->file,
                "<section aria-labelledby=\"es-%s\"><h2 id=\"es-%s\">%s: ",
                sides[i], sides[i], side_titles[i]);
        put_name(p, i);
        fprintf(p->file,
                "</h2>\n<iframe data-side=\"%s\" title=\"%s: ", sides[i],
                side_titles[i]);
        put_name(p, i);
        fputs("\" srcdoc='", p->file);
        put_attribute(p->file, p->frames[i].text, p->frames[i].bytes);
        fputs("'></iframe></section>\n", p->file);
    }
}

static int put_part(void *context, const char *name, size_t bytes)
{
    pair *p = context;

    if (viewer__page_is(name, bytes, "title")) {
        put_name(p, 0);
        fputs(" and ", p->file);
        put_name(p, 1);
    } else if (viewer__page_is(name, bytes, "pair-style"))
        viewer__page_file_text(p->file, viewer__page_pair_css);
    else if (viewer__page_is(name, bytes, "script"))
        viewer__page_file_text(p->file, viewer__page_pair_script);
    else if (viewer__page_is(name, bytes, "says"))
        put_says(p);
    else if (viewer__page_is(name, bytes, "differences"))
        put_differences(p);
    else if (viewer__page_is(name, bytes, "frames"))
        put_frames(p);
    return 0;
}

static int make_parts(pair *p, bool full)
{
    int err = viewer__page_nonce(p->nonce);

    for (int i = 0; i < 2 && !err; i++)
        err = viewer__report_frame(&p->frames[i], &p->runs[i], p->window, full,
                                   p->nonce);
    return err ? err : compare(p);
}

static int write_page(pair *p, const char *file)
{
    viewer_output *output;
    int err = viewer_output_begin(&output, file);

    if (err)
        return err;
    p->file = viewer_output_file(output);
    return viewer_output_end(output,
                             viewer__page_put(p->file, viewer__page_pair_html,
                                              p->nonce, put_part, p));
}

static int check_events(const pair *p)
{
    for (int i = 0; i < 2; i++)
        if (!p->frames[i].has_events)
            return pastset_fail(PASTSET_ENOENT,
                                "%s: this run has no events, or none in this "
                                "part of it; the page has both",
                                p->runs[i].name);
    return 0;
}

int viewer_report_pair(const viewer_report_run runs[2],
                       const scopes_snapshot_options *window, bool full,
                       const char *file)
{
    pair p = {.runs = runs, .window = window};
    int err = make_parts(&p, full);

    if (!err)
        err = write_page(&p, file);
    if (!err)
        err = check_events(&p);
    scopes_table_destroy(p.table);
    scopes_diff_destroy(p.diff);
    for (int i = 0; i < 2; i++)
        free(p.frames[i].text);
    return err;
}
