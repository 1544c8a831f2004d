/* picture.c - draws the mean flow.
 *
 * A lattice gas is noisy: its flow is a mean over many sites. The sums of
 * some rows are put together into cells about as high as they are wide, and
 * these are blurred a little; only then momentum is divided by particles, so
 * that cells which the obstacle cuts are right. Between the cells the flow is
 * interpolated.
 *
 * The streaks are a line integral convolution (Cabral and Leedom, SIGGRAPH
 * 1993): the value of a pixel is the mean of white noise along the stream line
 * through it. */
#include "apps/windtunnel/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/pixels.h"
#include "apps/windtunnel/picture_internal.h"
#include "pastset/status.h"

#define WIDTH_PIXELS 1024
#define WIDTH_MIN 320
#define CELL_ROWS 9      /* nearly as high as LATTICE_CELL sites are wide */
#define BLUR 1.0f        /* of the cells; standard deviation in cells */
#define STREAK_PIXELS 14 /* to each side */
#define ARROW_PIXELS 64  /* from one to the next */

typedef pixels_colour colour;

/* The flow by cells, and by pixels. */
typedef struct field {
    const lattice_slice *whole;
    int columns, rows;               /* cells */
    float *particles, *east, *north; /* sums; then: density and velocity */
    int width, height;               /* pixels */
    double scale;                    /* sites a pixel */
    float *u, *v;                    /* sites a step, to the right and up */
    float top_speed;                 /* at the end of the colours */
    colour *pixels;                  /* without its frame */
} field;

/* --- from sums to a flow --- */

static void cells_fill(field *f)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(f->whole);

    for (uint32_t row = 0; row < tunnel->height; row++) {
        const lattice_flow *flow = lattice_flow_row(f->whole, row);
        for (int x = 0; x < f->columns; x++) {
            size_t cell = (size_t)(row / CELL_ROWS) * f->columns + x;
            f->particles[cell] += flow[x].particles;
            f->east[cell] += flow[x].east * 0.5f;
            f->north[cell] += flow[x].north * (float)LATTICE_ROW_HEIGHT;
        }
    }
}

/* One pass along `count` cells that stand `stride` apart. East and west are
 * joined; at the walls the flow goes on as if mirrored. */
static void blur_line(float *line, int count, size_t stride, bool joined,
                      float *capacity)
{
    static const int reach = 3;

    for (int i = 0; i < count; i++) {
        float sum = 0, weights = 0;
        for (int k = -reach; k <= reach; k++) {
            int j = joined ? (i + k + reach * count) % count : i + k;
            float weight = expf(-(float)(k * k) / (2 * BLUR * BLUR));
            if (j < 0 || j >= count)
                continue;
            sum += weight * line[j * stride];
            weights += weight;
        }
        capacity[i] = sum / weights;
    }
    for (int i = 0; i < count; i++)
        line[i * stride] = capacity[i];
}

static void cells_blur(const field *f, float *cells, float *capacity)
{
    for (int y = 0; y < f->rows; y++)
        blur_line(cells + (size_t)y * f->columns, f->columns, 1, true,
                  capacity);
    for (int x = 0; x < f->columns; x++)
        blur_line(cells + x, f->rows, (size_t)f->columns, false, capacity);
}

static void cells_divide(field *f)
{
    for (int i = 0; i < f->columns * f->rows; i++) {
        float particles = f->particles[i];
        f->east[i] = particles > 0 ? f->east[i] / particles : 0;
        f->north[i] = particles > 0 ? f->north[i] / particles : 0;
    }
}

/* The value between cells: a cubic spline through four of them. */
static float cubic(float a, float b, float c, float d, float t)
{
    return b +
           0.5f * t *
               (c - a +
                t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static float cells_between(const field *f, const float *cells, float x, float y)
{
    int left = (int)floorf(x), top = (int)floorf(y);
    float columns[4];

    for (int j = 0; j < 4; j++) {
        float value[4];
        int row = top + j - 1;
        row = row < 0 ? 0 : row >= f->rows ? f->rows - 1 : row;
        for (int i = 0; i < 4; i++) {
            int column = (left + i - 1 + 2 * f->columns) % f->columns;
            value[i] = cells[(size_t)row * f->columns + column];
        }
        columns[j] =
            cubic(value[0], value[1], value[2], value[3], x - (float)left);
    }
    return cubic(columns[0], columns[1], columns[2], columns[3],
                 y - (float)top);
}

static bool is_solid(const field *f, int x, int y)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(f->whole);
    uint32_t row = (uint32_t)((y + 0.5) * f->scale / LATTICE_ROW_HEIGHT);
    uint32_t site = (uint32_t)((x + 0.5) * f->scale);
    size_t count;
    const uint64_t *words = lattice_words(f->whole, &count);

    if (row >= tunnel->height || site >= tunnel->width)
        return false;
    words += ((size_t)row * LATTICE_PLANES + LATTICE_OBSTACLE) *
             (tunnel->width / 64);
    return words[site / 64] >> site % 64 & 1;
}

static void flow_fill(field *f)
{
    for (int y = 0; y < f->height; y++) {
        for (int x = 0; x < f->width; x++) {
            float column = (float)((x + 0.5) * f->scale / LATTICE_CELL - 0.5);
            float row = (float)((y + 0.5) * f->scale /
                                    (LATTICE_ROW_HEIGHT * CELL_ROWS) -
                                0.5);
            size_t at = (size_t)y * f->width + x;
            f->u[at] = cells_between(f, f->east, column, row);
            f->v[at] = cells_between(f, f->north, column, row);
        }
    }
}

static float speed_at(const field *f, int x, int y)
{
    size_t at = (size_t)y * f->width + x;

    return hypotf(f->u[at], f->v[at]);
}

/* The fastest there is, up to the next tenth. */
static void top_speed_find(field *f)
{
    float max = 0.01f; /* air that stands has a scale, too */

    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            if (!is_solid(f, x, y))
                max = fmaxf(max, speed_at(f, x, y));
    f->top_speed = ceilf(max * 10) / 10;
}

/* --- colours --- */

static const colour white = {255, 255, 255};
static const colour black = {0, 0, 0};
static const colour ink = PICTURE__INK;
static const colour solid = {232, 230, 226};

/* --- streaks --- */

static float noise(int x, int y)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u;

    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (float)(h >> 16) / 65536.0f;
}

/* Adds the noise along the stream line, pixel by pixel. */
static float noise_along(const field *f, int x, int y, float direction,
                         int *count)
{
    float at_x = (float)x + 0.5f, at_y = (float)y + 0.5f, sum = 0;

    for (int step = 0; step < STREAK_PIXELS; step++) {
        size_t at = (size_t)y * f->width + x;
        float speed = hypotf(f->u[at], f->v[at]);
        if (speed < 1e-6f)
            break;
        at_x += direction * f->u[at] / speed;
        at_y -= direction * f->v[at] / speed;
        x = ((int)floorf(at_x) + f->width) % f->width;
        y = (int)floorf(at_y);
        at_x = (float)x + (at_x - floorf(at_x));
        if (y < 0 || y >= f->height)
            break;
        sum += noise(x, y);
        (*count)++;
    }
    return sum;
}

/* About 0 in the mean, and within -1 ... 1 nearly always. */
static float streak(const field *f, int x, int y)
{
    int count = 1;
    float sum = noise(x, y);

    sum += noise_along(f, x, y, 1, &count);
    sum += noise_along(f, x, y, -1, &count);
    /* The deviation of a mean of `count` values from 0 ... 1, twice. */
    return (sum / (float)count - 0.5f) * sqrtf(12.0f * (float)count) / 2.2f;
}

static void flow_draw(field *f)
{
    for (int y = 0; y < f->height; y++) {
        for (int x = 0; x < f->width; x++) {
            colour c = picture__colour(speed_at(f, x, y) / f->top_speed);
            float light = streak(f, x, y);
            c = pixels_mix(c, light > 0 ? white : black,
                           0.26f * fminf(fabsf(light), 1));
            f->pixels[(size_t)y * f->width + x] = c;
        }
    }
}

/* --- obstacle and arrows --- */

/* The colour of a solid pixel: dark at the edge. */
static colour solid_colour(const field *f, int x, int y)
{
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            if (y + j >= 0 && y + j < f->height && x + i >= 0 &&
                x + i < f->width && !is_solid(f, x + i, y + j))
                return ink;
    return solid;
}

static void solid_draw(field *f)
{
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++)
            if (is_solid(f, x, y))
                f->pixels[(size_t)y * f->width + x] = solid_colour(f, x, y);
}

/* How much of a pixel at distance `d` a line of this half width covers. */
static float cover(float d, float half_width)
{
    return fminf(fmaxf(half_width + 0.5f - d, 0), 1);
}

/* Draws the three lines of an arrow in white with a dark seam. */
static void lines_draw(field *f, const float lines[3][4], int x, int y)
{
    const int reach = ARROW_PIXELS / 2;

    for (int py = y - reach; py <= y + reach; py++) {
        for (int px = x - reach; px <= x + reach; px++) {
            float d = 1e9f;
            colour *c;
            if (px < 0 || px >= f->width || py < 0 || py >= f->height)
                continue;
            for (int i = 0; i < 3; i++)
                d = fminf(d,
                          pixels_line_distance((float)px, (float)py, lines[i]));
            c = &f->pixels[(size_t)py * f->width + px];
            *c = pixels_mix(*c, ink, 0.75f * cover(d, 1.9f));
            *c = pixels_mix(*c, white, cover(d, 0.8f));
        }
    }
}

static void arrow_draw(field *f, int x, int y)
{
    size_t at = (size_t)y * f->width + x;
    float speed = hypotf(f->u[at], f->v[at]);
    float length = ARROW_PIXELS * 0.66f * speed / f->top_speed;
    float ux = f->u[at] / speed, uy = -f->v[at] / speed;
    float tip_x = (float)x + ux * length / 2;
    float tip_y = (float)y + uy * length / 2;
    float barb = fminf(6, 2 + length / 3);
    float lines[3][4] = {
        {tip_x - ux * length, tip_y - uy * length, tip_x, tip_y},
        {tip_x - barb * (ux + 0.6f * uy), tip_y - barb * (uy - 0.6f * ux),
         tip_x, tip_y},
        {tip_x - barb * (ux - 0.6f * uy), tip_y - barb * (uy + 0.6f * ux),
         tip_x, tip_y},
    };

    if (length >= 4 && !is_solid(f, x, y))
        lines_draw(f, (const float(*)[4])lines, x, y);
}

static void arrows_draw(field *f)
{
    for (int y = ARROW_PIXELS / 2; y < f->height; y += ARROW_PIXELS)
        for (int x = ARROW_PIXELS / 2; x < f->width; x += ARROW_PIXELS)
            arrow_draw(f, x, y);
}

/* --- the file --- */

static int picture_save(const pixels_canvas *canvas, const char *name)
{
    FILE *file = fopen(name, "wb");
    int err;

    if (!file)
        return pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    err =
        pixels_write(canvas->pixels, canvas->width, canvas->height, file, name);
    if (fclose(file) != 0 && !err)
        err = pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    return err;
}

/* Of the flow, in pixels: less for a tunnel that is higher than it is wide,
 * but enough for what is written above and below. */
static int width_pixels(const lattice_tunnel *tunnel)
{
    double slender = tunnel->width / (tunnel->height * LATTICE_ROW_HEIGHT);
    int width = (int)(WIDTH_PIXELS * fmin(slender, 1));

    return width > WIDTH_MIN ? width : WIDTH_MIN;
}

static int field_create(field *f, const lattice_slice *whole)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(whole);
    size_t cells, pixels;

    memset(f, 0, sizeof(*f));
    f->whole = whole;
    f->columns = (int)(tunnel->width / LATTICE_CELL);
    f->rows = (int)((tunnel->height + CELL_ROWS - 1) / CELL_ROWS);
    f->width = width_pixels(tunnel);
    f->scale = (double)tunnel->width / f->width;
    f->height = (int)ceil(tunnel->height * LATTICE_ROW_HEIGHT / f->scale);
    cells = (size_t)f->columns * f->rows;
    pixels = (size_t)f->width * f->height;
    f->particles = calloc(cells, sizeof(float));
    f->east = calloc(cells, sizeof(float));
    f->north = calloc(cells, sizeof(float));
    f->u = calloc(pixels, sizeof(float));
    f->v = calloc(pixels, sizeof(float));
    f->pixels = calloc(pixels, sizeof(colour));
    if (!f->particles || !f->east || !f->north || !f->u || !f->v || !f->pixels)
        return pastset_no_memory("for the picture");
    return 0;
}

static void field_destroy(field *f)
{
    free(f->particles);
    free(f->east);
    free(f->north);
    free(f->u);
    free(f->v);
    free(f->pixels);
}

static int field_fill(field *f)
{
    size_t longest = (size_t)(f->columns > f->rows ? f->columns : f->rows);
    float *capacity = calloc(longest, sizeof(float));

    if (!capacity)
        return pastset_no_memory("for the picture");
    cells_fill(f);
    cells_blur(f, f->particles, capacity);
    cells_blur(f, f->east, capacity);
    cells_blur(f, f->north, capacity);
    free(capacity);
    cells_divide(f);
    flow_fill(f);
    top_speed_find(f);
    return 0;
}

/* Draws the flow, and puts its frame around it. */
static int field_save(field *f, const pixels_slices *slices, const char *file)
{
    const picture__flow flow = {
        .whole = f->whole,
        .canvas = {f->pixels, f->width, f->height},
        .top_speed = f->top_speed,
        .slices = slices,
    };
    pixels_canvas canvas;
    int err;

    flow_draw(f);
    arrows_draw(f);
    solid_draw(f);
    err = picture__frame(&canvas, &flow);
    if (err)
        return err;
    err = picture_save(&canvas, file);
    free(canvas.pixels);
    return err;
}

int picture_write(const lattice_slice *whole, const pixels_slices *slices,
                  const char *file)
{
    field f;
    int err;

    if (lattice_samples(whole) == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: there are no samples to draw: run at least "
                            "one step",
                            file);
    err = field_create(&f, whole);
    if (!err)
        err = field_fill(&f);
    if (!err)
        err = field_save(&f, slices, file);
    field_destroy(&f);
    return err;
}
