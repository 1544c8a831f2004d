/* windtunnel_picture_test.c - the picture of the wind tunnel, looked at as a
 * person would: what its scale says of a place is how fast the gas is there,
 * and the names on the left stand where the threads' rows are. */
#include "apps/windtunnel/picture.h"

#include <criterion/criterion.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/common/pixels_text.h"

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

static pixels_canvas picture_of(uint32_t threads)
{
    char file[] = "/tmp/es_picture_test.XXXXXX";
    int fd = mkstemp(file);
    lattice_slice *slice = two_speeds();
    png_image image = {.version = PNG_IMAGE_VERSION};
    pixels_canvas out;

    cr_assert_geq(fd, 0);
    close(fd);
    cr_assert_eq(picture_write(slice, threads, file), 0);
    lattice_slice_destroy(slice);
    cr_assert(png_image_begin_read_from_file(&image, file));
    image.format = PNG_FORMAT_RGB;
    out = (pixels_canvas){malloc(PNG_IMAGE_SIZE(image)), (int)image.width,
                          (int)image.height};
    cr_assert(png_image_finish_read(&image, NULL, out.pixels, 0, NULL));
    unlink(file);
    return out;
}

static pixels_colour at(const pixels_canvas *p, int x, int y)
{
    return p->pixels[(size_t)y * (size_t)p->width + (size_t)x];
}

static bool same(pixels_colour a, pixels_colour b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
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

/* The first row, and in it the first column, of the flow: it fills the picture
 * up to its right edge. */
static void flow_find(const pixels_canvas *p, int *left, int *top)
{
    int right = p->width - 1;

    while (same(at(p, right, p->height / 2), white))
        right--;
    *top = p->height / 2;
    while (!same(at(p, right - 64, *top - 1), white))
        (*top)--;
    *left = right - 1023; /* of a tunnel that is wider than it is high */
}

Test(windtunnel_picture, the_scale_has_the_colours_of_the_flow, .timeout = 60)
{
    pixels_canvas p = picture_of(1);
    scale s = scale_find(&p);
    int left, top;

    flow_find(&p, &left, &top);
    cr_assert(s.top > 0.85 && s.top < 1.05, "the scale ends at %f", s.top);
    cr_expect_gt(share_of_speed(&p, &s, 8 / 9.0, left, top, 128), 0.99);
    cr_expect_lt(share_of_speed(&p, &s, 0.5, left, top, 128), 0.1);
    cr_expect_gt(share_of_speed(&p, &s, 0.5, left, top, 320), 0.99);
    cr_expect_lt(share_of_speed(&p, &s, 8 / 9.0, left, top, 320), 0.1);
    free(p.pixels);
}

Test(windtunnel_picture, brighter_is_faster, .timeout = 60)
{
    pixels_canvas p = picture_of(1);
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
    pixels_canvas p = picture_of(threads);
    int left, top, height, bounds = 0;

    flow_find(&p, &left, &top);
    cr_assert(!same(at(&p, 11, top), white));
    height = top;
    while (!same(at(&p, 11, height), white))
        height++;
    height -= top;
    for (uint32_t i = 1; i < threads; i++) {
        uint32_t first, rows;
        lattice_share(&tunnel, threads, i, &first, &rows);
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
    pixels_canvas one = picture_of(1), two = picture_of(2);
    int left, top;

    flow_find(&one, &left, &top);
    cr_expect_lt(one.width, two.width);
    for (int y = top; y < one.height; y++)
        for (int x = 0; x < left; x++)
            cr_assert(same(at(&one, x, y), white), "at %d, %d", x, y);
    free(one.pixels);
    free(two.pixels);
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
