/* windtunnel_picture_test.c - the picture of the wind tunnel, looked at as a
 * person would: what its scale says of a place is how fast the gas is there,
 * the names on the left stand where the threads' rows are, lines go over the
 * slow ones, and the bars are as long as the times. */
#include "apps/common/division.h"
#include "apps/windtunnel/picture.h"
#include "tests/support/check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/pixels_text.h"
#include "tests/support/pictures.h"

static const lattice_tunnel tunnel = {256, 128, 1, LATTICE_EMPTY};

static const pixels_colour white = {255, 255, 255};
static const pixels_colour black = {0, 0, 0};

/* --- making and reading pictures --- */

static void row_fill(lattice_slice *slice, uint32_t row, uint64_t rest)
{
    for (unsigned plane = 0; plane <= LATTICE_REST; plane++) {
        uint64_t bits = plane == LATTICE_EAST   ? ~0ull
                        : plane == LATTICE_REST ? rest
                                                : 0;
        for (uint32_t w = 0; w < tunnel.width / 64; w++)
            lattice_row(slice, row, (lattice_plane)plane)[w] = bits;
    }
}

/* All move to the east, but for those at rest: every eighth site of the upper
 * half has one, and each of the lower half. So the mean speeds are 8/9 of a
 * site per step, and 1/2. */
static lattice_slice *two_speeds(void)
{
    lattice_slice *slice = lattice_slice_create(&tunnel, 0, tunnel.height);

    cr_assert_not_null(slice);
    for (uint32_t row = 0; row < tunnel.height; row++)
        row_fill(slice, row,
                 row < tunnel.height / 2 ? 0x0101010101010101u : ~0ull);
    lattice_sample(slice);
    return slice;
}

/* `ms` of computing and of communicating for each thread, or NULL. */
static pixels_canvas picture_of(uint32_t threads, const unsigned (*ms)[2])
{
    char file[] = "/tmp/es_picture_test.XXXXXX";
    int fd = mkstemp(file);
    lattice_slice *slice = two_speeds();
    pixels_slice *slices = calloc(threads, sizeof(*slices));
    const pixels_slices all = {slices, threads, tunnel.height};
    pixels_canvas out;

    cr_assert(fd >= 0 && slices);
    close(fd);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t first, rows;
        check_status(
            division_share(NULL, tunnel.height, threads, i, &first, &rows), 0);
        slices[i] = (pixels_slice){first, rows, ms ? ms[i][0] * 1000000ull : 0,
                                   ms ? ms[i][1] * 1000000ull : 0};
    }
    cr_assert_eq(picture_write(slice, &all, file), 0);
    lattice_slice_destroy(slice);
    free(slices);
    out = picture_read(file);
    unlink(file);
    return out;
}

static pixels_colour at(const pixels_canvas *p, int x, int y)
{
    return picture_at(p, x, y);
}

static bool same(pixels_colour a, pixels_colour b)
{
    return picture_same(a, b);
}

/* --- the scale --- */

typedef struct scale {
    int left, right, row; /* of the bar's colours */
    double top;           /* speed at its right end */
} scale;

/* The lowest row that is one run of colours between white, and in which no
 * colour comes twice in a row of ticks: the bar, found from below. */
static scale scale_find(const pixels_canvas *p)
{
    scale s = {0};
    int below, ticks = 0;

    for (s.row = p->height - 1; s.row > 0; s.row--) {
        int coloured = 0;
        s.left = p->width;
        for (int x = 0; x < p->width; x++) {
            if (same(at(p, x, s.row), white))
                continue;
            coloured++;
            s.left = x < s.left ? x : s.left;
            s.right = x;
        }
        if (coloured > p->width / 2 && coloured == s.right - s.left + 1)
            break;
    }
    below = s.row + 3; /* where only ticks are */
    for (int x = s.left; x <= s.right; x++)
        ticks += !same(at(p, x, below), white);
    s.top = (ticks - 1) * 0.1;
    return s;
}

static pixels_colour scale_colour(const pixels_canvas *p, const scale *s,
                                  double speed)
{
    return at(p, s->left + (int)(speed / s->top * (s->right - s->left) + 0.5),
              s->row);
}

static bool near(pixels_colour a, pixels_colour b)
{
    return abs(a.red - b.red) <= 4 && abs(a.green - b.green) <= 4 &&
           abs(a.blue - b.blue) <= 4;
}

/* Streaks make a colour somewhat lighter or darker. */
static bool is_streak_of(pixels_colour c, pixels_colour plain)
{
    for (float light = 0; light <= 0.27f; light += 0.005f)
        if (near(c, pixels_mix(plain, white, light)) ||
            near(c, pixels_mix(plain, black, light)))
            return true;
    return false;
}

/* Of the pixels about a place, away from arrows: the share that have the
 * colour which the scale gives to a speed. */
static double share_of_speed(const pixels_canvas *p, const scale *s,
                             double speed, int flow_left, int flow_top,
                             int below)
{
    pixels_colour plain = scale_colour(p, s, speed);
    int found = 0, all = 0;

    for (int x = flow_left + 64 * 3 - 6; x < flow_left + 64 * 3 + 6; x++) {
        for (int y = flow_top + below - 6; y < flow_top + below + 6; y++) {
            found += is_streak_of(at(p, x, y), plain);
            all++;
        }
    }
    return (double)found / all;
}

/* Of a tunnel that is wider than it is high. */
static pixels_area flow_find(const pixels_canvas *p)
{
    return picture_grid(p, 1024);
}

Test(windtunnel_picture, the_scale_has_the_colours_of_the_flow, .timeout = 60)
{
    pixels_canvas p = picture_of(1, NULL);
    scale s = scale_find(&p);
    pixels_area flow = flow_find(&p);
    int left = flow.left, top = flow.top;

    cr_assert(s.top > 0.85 && s.top < 1.05, "the scale ends at %f", s.top);
    cr_expect_gt(share_of_speed(&p, &s, 8 / 9.0, left, top, 128), 0.99);
    cr_expect_lt(share_of_speed(&p, &s, 0.5, left, top, 128), 0.1);
    cr_expect_gt(share_of_speed(&p, &s, 0.5, left, top, 320), 0.99);
    cr_expect_lt(share_of_speed(&p, &s, 8 / 9.0, left, top, 320), 0.1);
    free(p.pixels);
}

Test(windtunnel_picture, brighter_is_faster, .timeout = 60)
{
    pixels_canvas p = picture_of(1, NULL);
    scale s = scale_find(&p);
    int last = 0;

    for (int x = s.left; x <= s.right; x++) {
        pixels_colour c = at(&p, x, s.row);
        int light = 2 * c.red + 7 * c.green + c.blue;
        cr_assert_geq(light, last - 10, "at %d", x);
        last = light;
    }
    free(p.pixels);
}

/* --- the slices --- */

/* Whether the band at the left edge changes between two rows of pixels. */
static bool changes(const pixels_canvas *p, int y)
{
    return !same(at(p, 11, y), at(p, 11, y - 1));
}

Test(windtunnel_picture, each_thread_has_its_rows_marked, .timeout = 60)
{
    const uint32_t threads = 5; /* which do not have equally many rows */
    pixels_canvas p = picture_of(threads, NULL);
    pixels_area flow = flow_find(&p);
    int top = flow.top, height = top, bounds = 0;

    cr_assert(!same(at(&p, 11, top), white));
    while (!same(at(&p, 11, height), white))
        height++;
    height -= top;
    cr_expect_eq(height, flow.height, "%d, not %d", height, flow.height);
    for (uint32_t i = 1; i < threads; i++) {
        uint32_t first, rows;
        check_status(
            division_share(NULL, tunnel.height, threads, i, &first, &rows), 0);
        cr_expect(changes(&p, top + (int)(first * height / tunnel.height)),
                  "thread %u", i);
    }
    for (int y = top + 1; y < top + height; y++)
        bounds += changes(&p, y);
    cr_expect_eq(bounds, threads - 1);
    free(p.pixels);
}

Test(windtunnel_picture, one_thread_has_no_slices, .timeout = 60)
{
    pixels_canvas one = picture_of(1, NULL), two = picture_of(2, NULL);
    pixels_area flow = flow_find(&one);

    cr_expect_lt(one.width, two.width);
    for (int y = flow.top; y < one.height; y++)
        for (int x = 0; x < flow.left; x++)
            cr_assert(same(at(&one, x, y), white), "at %d, %d", x, y);
    free(one.pixels);
    free(two.pixels);
}

/* Of the flow's rows from `from` to `end`, as shares of its height: which share
 * of the pixels two pictures have alike. */
static double share_alike(const pixels_canvas *a, const pixels_canvas *b,
                          double from, double end)
{
    pixels_area flow = flow_find(a), other = flow_find(b);
    int alike = 0, all = 0;

    for (int y = (int)(from * flow.height); y < (int)(end * flow.height); y++) {
        for (int x = 0; x < flow.width; x++) {
            alike += same(at(a, flow.left + x, flow.top + y),
                          at(b, other.left + x, other.top + y));
            all++;
        }
    }
    return (double)alike / all;
}

/* t0 computes 1.25 times the mean, t1 0.75 times; in between lies a line that
 * both have. */
Test(windtunnel_picture, lines_go_over_slow_slices_only, .timeout = 60)
{
    pixels_canvas plain = picture_of(1, NULL);
    pixels_canvas slow =
        picture_of(2, (const unsigned[][2]){{500, 0}, {300, 200}});
    pixels_canvas even =
        picture_of(2, (const unsigned[][2]){{475, 25}, {325, 175}});
    double upper = share_alike(&plain, &slow, 0, 0.49);

    cr_expect(upper > 0.7 && upper < 0.9, "%f", upper);
    cr_expect_eq(share_alike(&plain, &slow, 0.51, 1), 1);
    cr_expect_eq(share_alike(&plain, &even, 0, 0.49), 1);
    cr_expect_eq(share_alike(&plain, &even, 0.51, 1), 1);
    cr_expect_lt(share_alike(&plain, &even, 0.499, 0.502), 1);
    free(plain.pixels);
    free(slow.pixels);
    free(even.pixels);
}

/* How many pixels on the right of the flow have one colour without a break,
 * from `*x` on, which moves behind them; and what that is. */
static int bar_take(const pixels_canvas *p, int *x, int y, pixels_colour *out)
{
    int begin;

    while (same(at(p, *x, y), white))
        (*x)++;
    *out = at(p, *x, y);
    for (begin = *x; same(at(p, *x, y), *out);)
        (*x)++;
    return *x - begin;
}

static int light_of(pixels_colour c)
{
    return (2 * c.red + 7 * c.green + c.blue) / 10;
}

Test(windtunnel_picture, bars_are_as_long_as_times, .timeout = 60)
{
    pixels_canvas p =
        picture_of(2, (const unsigned[][2]){{600, 200}, {100, 300}});
    pixels_area flow = flow_find(&p);
    pixels_colour colours[2];
    int widths[2][2];

    for (int i = 0; i < 2; i++) {
        int x = flow.left + flow.width, y = flow.top + flow.height / 4;
        y += i * flow.height / 2;
        widths[i][0] = bar_take(&p, &x, y, &colours[0]);
        widths[i][1] = bar_take(&p, &x, y, &colours[1]);
    }
    cr_expect_float_eq(widths[0][0], 3 * widths[0][1], 3);
    cr_expect_float_eq(widths[1][1], 3 * widths[1][0], 3);
    cr_expect_float_eq(widths[0][0], 6 * widths[1][0], 6);
    cr_expect_gt(widths[0][0], 60);
    /* Told apart without colours, too. */
    cr_expect_gt(light_of(colours[0]) - light_of(colours[1]), 100);
    free(p.pixels);
}

/* --- text --- */

enum { SIDE = 40 };

static void letter_draw(pixels_colour *out, char letter)
{
    const pixels_canvas canvas = {out, SIDE, SIDE};
    const char text[2] = {letter, 0};

    memset(out, 255, SIDE * SIDE * sizeof(*out));
    pixels_text(&canvas, 4, 28, text, 18, black);
}

Test(windtunnel_picture, letters_can_be_told_apart, .timeout = 60)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  ".,:-_+=/%()?";
    const int count = sizeof(letters) - 1;
    pixels_colour a[SIDE * SIDE], b[SIDE * SIDE];

    for (int i = 0; i < count; i++) {
        letter_draw(a, letters[i]);
        for (int k = 0; k < i; k++) {
            letter_draw(b, letters[k]);
            cr_expect(memcmp(a, b, sizeof(a)) != 0, "%c and %c", letters[i],
                      letters[k]);
        }
    }
}

Test(windtunnel_picture, text_has_the_width_that_it_says, .timeout = 60)
{
    pixels_colour pixels[200 * SIDE];
    const pixels_canvas canvas = {pixels, 200, SIDE};
    float width = pixels_text_width("t31", 18);
    int first = 200, last = 0;

    memset(pixels, 255, sizeof(pixels));
    pixels_text(&canvas, 10, 28, "t31", 18, black);
    for (int i = 0; i < 200 * SIDE; i++) {
        if (same(pixels[i], white))
            continue;
        first = i % 200 < first ? i % 200 : first;
        last = i % 200 > last ? i % 200 : last;
    }
    cr_expect_float_eq((float)first, 10, 2);
    cr_expect_float_eq((float)last, 10 + width, 2);
    /* What is outside of the picture is cut. */
    pixels_text(&canvas, -20, 3, "t31", 18, black);
    pixels_text(&canvas, 190, SIDE + 3, "t31", 18, black);
}
