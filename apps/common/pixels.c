/* pixels.c - see pixels.h. */
#include "apps/common/pixels.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "pastset/status.h"

pixels_colour pixels_mix(pixels_colour a, pixels_colour b, float share_of_b)
{
    float t = fminf(fmaxf(share_of_b, 0), 1);

    return (pixels_colour){
        .red = (uint8_t)(a.red + t * (b.red - a.red) + 0.5f),
        .green = (uint8_t)(a.green + t * (b.green - a.green) + 0.5f),
        .blue = (uint8_t)(a.blue + t * (b.blue - a.blue) + 0.5f),
    };
}

void pixels_box(const pixels_canvas *canvas, pixels_area area,
                pixels_colour colour)
{
    int right = area.left + area.width, end = area.top + area.height;

    for (int y = area.top > 0 ? area.top : 0; y < end && y < canvas->height;
         y++)
        for (int x = area.left > 0 ? area.left : 0;
             x < right && x < canvas->width; x++)
            canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x] =
                colour;
}

float pixels_line_distance(float px, float py, const float line[4])
{
    float dx = line[2] - line[0], dy = line[3] - line[1];
    float t = ((px - line[0]) * dx + (py - line[1]) * dy) /
              (dx * dx + dy * dy + 1e-6f);

    t = fminf(fmaxf(t, 0), 1);
    return hypotf(px - line[0] - t * dx, py - line[1] - t * dy);
}

typedef struct picture {
    const pixels_colour *pixels;
    int width, height;
} picture;

/* libpng leaves by longjmp; nothing that changes after setjmp is used. */
static int png_put(png_structp png, png_infop info, FILE *file,
                   const picture *p)
{
    if (setjmp(png_jmpbuf(png)))
        return PASTSET_EIO;
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < p->height; y++)
        png_write_row(png, (png_const_bytep)(p->pixels + (size_t)y * p->width));
    png_write_end(png, info);
    return 0;
}

int pixels_write(const pixels_colour *pixels, int width, int height, FILE *file,
                 const char *name)
{
    const picture p = {pixels, width, height};
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int err = 0;

    if (!info)
        err = pastset_fail(PASTSET_ENOMEM, "%s: libpng is out of memory", name);
    else if (png_put(png, info, file, &p) != 0 || fflush(file) != 0)
        err = pastset_fail(PASTSET_EIO, "%s: %s", name, strerror(errno));
    png_destroy_write_struct(&png, &info);
    return err;
}
