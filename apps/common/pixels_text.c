/* pixels_text.c - see pixels_text.h.
 *
 * A glyph is what a pen draws on a grid, each point two digits, across and
 * down: digits stand on rows 0 to 6, small letters on 2 to 6, and what hangs
 * below the line ends on row 8. A blank lifts the pen. */
#include "apps/common/pixels_text.h"

#include <ctype.h>
#include <math.h>

#define BASE_ROW 6.0f
#define LOWEST_ROW 8.0f
#define GAP 1.6f   /* between two glyphs, and on the grid like what follows */
#define BLANK 2.0f /* the width of a blank */
#define PEN 0.45f  /* half the width of a line */

static const char missing[] = "00 40 46 06 00";

static const char *const glyphs[128] = {
    ['0'] = "103041453616050110",
    ['1'] = "012026",
    ['2'] = "01103041420646",
    ['3'] = "011030414233 13334445361605",
    ['4'] = "36300444",
    ['5'] = "400002324345361605",
    ['6'] = "413010010516364544331304",
    ['7'] = "004016",
    ['8'] = "1302011030414233 1333 1304051636454433",
    ['9'] = "051636454130100102133342",
    ['a'] = "4246 4332120305163645",
    ['b'] = "0006 0312324345361605",
    ['c'] = "4332120305163645",
    ['d'] = "4046 4332120305163645",
    ['e'] = "04444332120305163645",
    ['f'] = "30201116 0232",
    ['g'] = "4247381807 4332120305163645",
    ['h'] = "0006 0312324346",
    ['i'] = "0206 0000",
    ['j'] = "22271808 2020",
    ['k'] = "0006 320436",
    ['l'] = "00051626",
    ['m'] = "0206 03122326 23324346",
    ['n'] = "0206 0312324346",
    ['o'] = "123243453616050312",
    ['p'] = "0208 0312324345361605",
    ['q'] = "4248 4332120305163645",
    ['r'] = "0206 031232",
    ['s'] = "43321203143445361605",
    ['t'] = "10152636 0232",
    ['u'] = "0205163645 4246",
    ['v'] = "022642",
    ['w'] = "0216233642",
    ['x'] = "0246 4206",
    ['y'] = "0226 421808",
    ['z'] = "02420646",
    ['.'] = "0606",
    [','] = "1607",
    [':'] = "0303 0606",
    ['-'] = "0434",
    ['_'] = "0646",
    ['+'] = "0444 2226",
    ['='] = "0343 0545",
    ['/'] = "4006",
    ['%'] = "4006 0101 4545",
    ['('] = "10010516",
    [')'] = "00111506",
    [' '] = "",
};

static const char *glyph_of(char letter)
{
    int small = tolower((unsigned char)letter);

    return small < 128 && glyphs[small] ? glyphs[small] : missing;
}

/* On the grid. */
static float glyph_width(const char *glyph)
{
    float width = 0;

    if (!*glyph)
        return BLANK;
    while (*glyph) {
        width = fmaxf(width, (float)(glyph[0] - '0'));
        glyph += glyph[2] == ' ' ? 3 : 2;
    }
    return width;
}

float pixels_text_width(const char *text, float size)
{
    float width = -GAP;

    for (; *text; text++)
        width += glyph_width(glyph_of(*text)) + GAP;
    return fmaxf(width, 0) * size / BASE_ROW;
}

/* From a point of the grid to the nearest line of the glyph. */
static float glyph_distance(const char *glyph, float x, float y)
{
    float nearest = INFINITY;

    for (; glyph[0] && glyph[2]; glyph += 2) {
        if (glyph[2] == ' ') {
            glyph++;
            continue;
        }
        const float line[4] = {(float)(glyph[0] - '0'), (float)(glyph[1] - '0'),
                               (float)(glyph[2] - '0'),
                               (float)(glyph[3] - '0')};
        nearest = fminf(nearest, pixels_line_distance(x, y, line));
    }
    return nearest;
}

/* (x, y) is where the glyph's grid begins, `unit` the pixels of one of it. */
static void glyph_draw(const pixels_canvas *canvas, const char *glyph, float x,
                       float y, float unit, pixels_colour ink)
{
    int left = (int)floorf(x - unit), top = (int)floorf(y - unit);
    int right = (int)ceilf(x + (glyph_width(glyph) + 1) * unit);
    int bottom = (int)ceilf(y + (LOWEST_ROW + 1) * unit);

    for (int j = top > 0 ? top : 0; j < bottom && j < canvas->height; j++) {
        for (int i = left > 0 ? left : 0; i < right && i < canvas->width; i++) {
            pixels_colour *c =
                &canvas->pixels[(size_t)j * (size_t)canvas->width + (size_t)i];
            float d = unit * glyph_distance(glyph, ((float)i + 0.5f - x) / unit,
                                            ((float)j + 0.5f - y) / unit);
            *c = pixels_mix(*c, ink, PEN * unit + 0.5f - d);
        }
    }
}

void pixels_text(const pixels_canvas *canvas, float x, float y,
                 const char *text, float size, pixels_colour ink)
{
    float unit = size / BASE_ROW;

    for (; *text; text++) {
        const char *glyph = glyph_of(*text);
        glyph_draw(canvas, glyph, x, y - size, unit, ink);
        x += (glyph_width(glyph) + GAP) * unit;
    }
}
