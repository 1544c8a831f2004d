/* pictures.c - see pictures.h. */
#include "tests/support/pictures.h"

#include <criterion/criterion.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

static const pixels_colour white = {255, 255, 255};

pixels_canvas picture_read(const char *file)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    pixels_canvas out;

    cr_assert(png_image_begin_read_from_file(&image, file), "%s: %s", file,
              image.message);
    image.format = PNG_FORMAT_RGB;
    out = (pixels_canvas){malloc(PNG_IMAGE_SIZE(image)), (int)image.width,
                          (int)image.height};
    cr_assert(png_image_finish_read(&image, NULL, out.pixels, 0, NULL));
    return out;
}

pixels_colour picture_at(const pixels_canvas *p, int x, int y)
{
    return p->pixels[(size_t)y * (size_t)p->width + (size_t)x];
}

bool picture_same(pixels_colour a, pixels_colour b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Where in a row of pixels so many begin without a white one; -1: nowhere. */
static int run_begin(const pixels_canvas *p, int y, int width)
{
    int run = 0;

    for (int x = 0; x < p->width; x++) {
        run = picture_same(picture_at(p, x, y), white) ? 0 : run + 1;
        if (run == width)
            return x - width + 1;
    }
    return -1;
}

pixels_area picture_grid(const pixels_canvas *p, int width)
{
    pixels_area grid = {.left = -1, .width = width};

    while (grid.left < 0 && grid.top < p->height)
        grid.left = run_begin(p, grid.top++, width);
    cr_assert_geq(grid.left, 0, "there is no grid in the picture");
    grid.top--;
    for (int y = grid.top; y < p->height; y++) {
        int seen = 0;
        for (int x = grid.left; x < grid.left + width; x++)
            seen += !picture_same(picture_at(p, x, y), white);
        if (seen < width / 10)
            break;
        grid.height = y - grid.top + 1;
    }
    return grid;
}
