/* draw_run_legend.c - what stands below the picture of a run: what is in it,
 * what widths and colours mean, what all meet at, and what is not drawn. */
#include "viewer/draw/draw_run_internal.h"

#include <inttypes.h>

#define SITES_MAX 8
#define SITE_NAME_MAX 60
#define STEPS 6

static void row(FILE *file, const char *text)
{
    fprintf(file,
            "<tr><td align=\"left\">%s</td><td align=\"left\"><table "
            "border=\"0\" cellborder=\"0\" cellspacing=\"0\" "
            "cellpadding=\"2\"><tr>",
            text);
}

static void row_end(FILE *file)
{
    fputs("</tr></table></td></tr>", file);
}

/* --- what is in it --- */

static void write_shape(FILE *file, const viewer_shape *shape)
{
    if (shape->pattern != VIEWER_GRID)
        return;
    fprintf(file, ", a grid of %" PRIu32 " × %" PRIu32, shape->sides[0],
            shape->sides[1]);
    if (shape->sides[2] > 1)
        fprintf(file, " × %" PRIu32, shape->sides[2]);
}

static viewer_way sum_of(const viewer_traffic *t)
{
    viewer_way sum = t->inside;

    for (size_t i = 0; i < t->link_count; i++) {
        sum.messages += viewer__link_messages(&t->links[i]);
        sum.bytes += viewer__link_bytes(&t->links[i]);
    }
    return sum;
}

static void title(FILE *file, const viewer__picture_of_run *p)
{
    viewer_way sum = sum_of(p->traffic);
    char bytes[VIEWER__NUMBER];

    fputs("<tr><td colspan=\"2\" align=\"left\"><b>", file);
    viewer__write_html(file, p->name, SITE_NAME_MAX);
    fprintf(file, "</b>: %" PRIu32 " processes, %" PRIu64 " messages, %s",
            p->traffic->map->process_count, sum.messages,
            viewer__bytes_text(sum.bytes, bytes));
    write_shape(file, &p->shape);
    fputs("</td></tr>", file);
}

/* --- scales --- */

/* Whole points, as Graphviz has it. */
static int height_of(const viewer__picture_of_run *p, uint64_t bytes)
{
    int height = (int)(viewer__line_width(p, bytes) + 0.5);

    return height > 0 ? height : 1;
}

static void width_sample(FILE *file, const viewer__picture_of_run *p,
                         uint64_t from, uint64_t to)
{
    char text[VIEWER__NUMBER];

    fprintf(file,
            "<td><table border=\"0\" cellborder=\"0\" cellspacing=\"0\" "
            "cellpadding=\"0\"><tr><td fixedsize=\"true\" width=\"32\" "
            "height=\"%d\" bgcolor=\"#808080\"></td></tr></table></td><td>",
            height_of(p, to));
    if (from < to)
        fprintf(file, "%s to ", viewer__bytes_text(from, text));
    fprintf(file, "%s&nbsp;&nbsp;</td>", viewer__bytes_text(to, text));
}

static uint64_t bytes_min(const viewer_traffic *t)
{
    uint64_t min = UINT64_MAX;

    for (size_t i = 0; i < t->link_count; i++)
        if (viewer__link_bytes(&t->links[i]) < min)
            min = viewer__link_bytes(&t->links[i]);
    return min;
}

/* What cannot be told apart has one sample. */
static void widths(FILE *file, const viewer__picture_of_run *p)
{
    uint64_t min = bytes_min(p->traffic), max = p->bytes_max;
    bool is_one = height_of(p, min) == height_of(p, max);

    row(file, "width of a line: bytes, both ways together");
    if (!is_one)
        width_sample(file, p, min, min);
    if (!is_one && min < max / 8)
        width_sample(file, p, max / 4, max / 4);
    width_sample(file, p, is_one ? min : max, max);
    row_end(file);
}

typedef const char *scale(double share, char color[VIEWER__COLOR]);

static void colors(FILE *file, const char *text, scale *at, const char *from,
                   const char *to)
{
    char color[VIEWER__COLOR];

    row(file, text);
    fprintf(file, "<td>%s</td>", from);
    for (int i = 0; i < STEPS; i++)
        fprintf(file, "<td width=\"18\" height=\"10\" bgcolor=\"%s\"></td>",
                at((double)i / (STEPS - 1), color));
    fprintf(file, "<td>%s</td>", to);
    row_end(file);
}

static bool has_one_way(const viewer_traffic *t)
{
    for (size_t i = 0; i < t->link_count; i++)
        if (!t->links[i].ways[0].messages != !t->links[i].ways[1].messages)
            return true;
    return false;
}

static void scales(FILE *file, const viewer__picture_of_run *p)
{
    char most[VIEWER__NUMBER];

    if (p->traffic->link_count > 0)
        widths(file, p);
    if (p->waiting_max_ns > 0)
        colors(file, "colour of a line: time its ends waited for each other",
               viewer__waiting_color, "0",
               viewer__time_text(p->waiting_max_ns, most));
    colors(file, "shade of a process: share of its time in communication",
           viewer__share_color, "0 %", "100 %");
    if (has_one_way(p->traffic))
        fputs("<tr><td colspan=\"2\" align=\"left\">a line with an arrowhead: "
              "one way; without: both ways</td></tr>",
              file);
}

/* --- what all meet at --- */

static void site(FILE *file, const viewer_site *s)
{
    char bytes[VIEWER__NUMBER], times[2][VIEWER__NUMBER];

    fputs("<tr><td align=\"left\">", file);
    viewer__write_html(file, s->name, SITE_NAME_MAX);
    fprintf(file,
            "</td><td align=\"right\">%" PRIu32
            "</td><td align=\"right\">%" PRIu64
            "</td><td align=\"right\">%s</td><td align=\"right\">%s</td>"
            "<td align=\"right\">%s</td></tr>",
            s->processes, s->rounds, viewer__bytes_text(s->bytes, bytes),
            viewer__time_text(s->time_ns, times[0]),
            viewer__time_text(s->waiting_ns, times[1]));
}

static void sites(FILE *file, const viewer_traffic *t)
{
    if (t->site_count == 0)
        return;
    fputs("<tr><td colspan=\"2\" align=\"left\"><table border=\"0\" "
          "cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\"><tr>"
          "<td align=\"left\"><b>all together</b></td><td>processes</td>"
          "<td>rounds</td><td>bytes</td><td>time in it</td>"
          "<td>of that waiting</td></tr>",
          file);
    for (size_t i = 0; i < t->site_count && i < SITES_MAX; i++)
        site(file, &t->sites[i]);
    if (t->site_count > SITES_MAX)
        fprintf(file,
                "<tr><td align=\"left\">and %zu more with less time</td></tr>",
                t->site_count - SITES_MAX);
    fputs("</table></td></tr>", file);
}

/* --- what is not drawn --- */

static void notes(FILE *file, const viewer_traffic *t)
{
    char bytes[VIEWER__NUMBER];

    if (t->folded > 1)
        fprintf(file,
                "<tr><td colspan=\"2\" align=\"left\">a node is %" PRIu32
                " processes that follow each other, as there are more lines "
                "than can be seen</td></tr>",
                t->folded);
    if (t->inside.messages > 0)
        fprintf(file,
                "<tr><td colspan=\"2\" align=\"left\">not drawn: %" PRIu64
                " messages, %s, from a node to itself</td></tr>",
                t->inside.messages, viewer__bytes_text(t->inside.bytes, bytes));
    if (t->lost > 0)
        fprintf(file,
                "<tr><td colspan=\"2\" align=\"left\">%" PRIu64
                " events were lost, and are in no number</td></tr>",
                t->lost);
}

void viewer__legend(FILE *file, const viewer__picture_of_run *p)
{
    fputs("<table border=\"0\" cellborder=\"0\" cellspacing=\"3\">", file);
    title(file, p);
    scales(file, p);
    sites(file, p->traffic);
    notes(file, p->traffic);
    fputs("</table>", file);
}
