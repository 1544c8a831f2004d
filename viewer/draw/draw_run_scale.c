/* draw_run_scale.c - see scale_internal.h; and widths of lines. */
#include "viewer/draw/draw_run_internal.h"

#include <math.h>
#include <string.h>

#include "viewer/tables/table_print.h"

typedef struct rgb {
    double red, green, blue;
} rgb;

/* Between the steps of a scale. */
static const char *color_at(const rgb *steps, size_t count, double share,
                            char color[VIEWER__COLOR])
{
    double at = fmin(fmax(share, 0), 1) * (double)(count - 1);
    size_t below = at >= (double)(count - 1) ? count - 2 : (size_t)at;
    const rgb *a = &steps[below], *b = &steps[below + 1];
    double part = at - (double)below;

    snprintf(color, VIEWER__COLOR, "#%02x%02x%02x",
             (unsigned)(a->red + part * (b->red - a->red) + 0.5) & 0xff,
             (unsigned)(a->green + part * (b->green - a->green) + 0.5) & 0xff,
             (unsigned)(a->blue + part * (b->blue - a->blue) + 0.5) & 0xff);
    return color;
}

const char *viewer__share_color(double share, char color[VIEWER__COLOR])
{
    static const rgb blues[] = {{247, 251, 255},
                                {198, 219, 239},
                                {107, 174, 214},
                                {33, 113, 181},
                                {8, 48, 107}};

    return color_at(blues, sizeof(blues) / sizeof(*blues), share, color);
}

const char *viewer__waiting_color(double share, char color[VIEWER__COLOR])
{
    static const rgb oranges[] = {{208, 208, 208},
                                  {245, 176, 112},
                                  {225, 110, 20},
                                  {160, 60, 5},
                                  {80, 25, 0}};

    return color_at(oranges, sizeof(oranges) / sizeof(*oranges), share, color);
}

double viewer__line_width(const viewer__picture_of_run *p, uint64_t bytes)
{
    double share = p->bytes_max > 0 ? (double)bytes / (double)p->bytes_max : 0;

    return p->width_min + (p->width_max - p->width_min) * sqrt(share);
}

double viewer__place_share(const viewer_place *place)
{
    double all = (double)place->communicating_ns + (double)place->computing_ns;

    return all > 0 ? (double)place->communicating_ns / all : 0;
}

const char *viewer__bytes_text(uint64_t bytes, char text[VIEWER__NUMBER])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double number = (double)bytes;
    size_t unit = 0;

    while (number >= 1000 && unit < sizeof(units) / sizeof(*units) - 1) {
        number /= 1000;
        unit++;
    }
    snprintf(text, VIEWER__NUMBER, "%.*f %s",
             unit > 0 && number < 99.95 ? 1 : 0, number, units[unit]);
    return text;
}

const char *viewer__time_text(int64_t ns, char text[VIEWER__NUMBER])
{
    if (ns >= 1000000000)
        snprintf(text, VIEWER__NUMBER, "%.3g s", (double)ns / 1e9);
    else if (ns >= 1000000)
        snprintf(text, VIEWER__NUMBER, "%.3g ms", (double)ns / 1e6);
    else
        snprintf(text, VIEWER__NUMBER, "%.3g us", (double)ns / 1e3);
    return text;
}

/* As many digits as can be told apart at a glance: 999, 12.3k, 4M. */
const char *viewer__count_text(uint64_t count, char text[VIEWER__NUMBER])
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    double number = (double)count;
    size_t unit = 0;

    while (number >= 1000 && unit < sizeof(units) / sizeof(*units) - 1) {
        number /= 1000;
        unit++;
    }
    snprintf(text, VIEWER__NUMBER, "%.*f%s", unit > 0 && number < 99.95 ? 1 : 0,
             number, units[unit]);
    return text;
}

/* --- texts of others --- */

/* U+FFFE and U+FFFF, which XML refuses. */
static bool is_noncharacter(const char *at)
{
    return strncmp(at, "\xef\xbf\xbe", 3) == 0 ||
           strncmp(at, "\xef\xbf\xbf", 3) == 0;
}

static void write_text(FILE *file, const char *text, size_t most, bool is_html)
{
    json_t *copy = viewer_json_text(text);
    size_t count = 0;

    for (const char *at = copy ? json_string_value(copy) : ""; *at; at++) {
        bool begins = ((unsigned char)*at & 0xc0) != 0x80;
        if (begins && count++ == most) {
            fputs("…", file);
            break;
        }
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            fputc(' ', file);
        else if (is_noncharacter(at)) {
            fputc('?', file);
            at += 2;
        } else if (*at == '&')
            fputs("&amp;", file);
        else if (*at == '"')
            fputs("&quot;", file);
        else if (*at == '<')
            fputs("&lt;", file);
        else if (*at == '>')
            fputs("&gt;", file);
        else if (*at == '\\' && !is_html)
            fputs("\\\\", file); /* no word of Graphviz's, such as \N */
        else
            fputc(*at, file);
    }
    json_decref(copy);
}

void viewer__write_html(FILE *file, const char *text, size_t most)
{
    write_text(file, text, most, true);
}

void viewer__write_label(FILE *file, const char *text, size_t most)
{
    write_text(file, text, most, false);
}
