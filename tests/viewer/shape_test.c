/* shape_test.c - what the links of a run look like as a whole. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "viewer/draw/shape_internal.h"

#define MOST 4096

static viewer_link links[MOST];
static viewer_traffic traffic;

static void begin(uint32_t places)
{
    traffic = (viewer_traffic){.place_count = places, .links = links};
}

static void add(uint32_t a, uint32_t b, uint64_t messages)
{
    links[traffic.link_count++] =
        (viewer_link){.ends = {a < b ? a : b, a < b ? b : a},
                      .ways = {{messages, 8 * messages}, {0, 0}}};
}

static viewer_shape found(void)
{
    viewer_shape shape;

    cr_assert_eq(viewer__shape_find(&shape, &traffic), 0);
    return shape;
}

static void is(viewer_pattern pattern)
{
    viewer_shape shape = found();

    cr_expect_str_eq(viewer__pattern_name(shape.pattern),
                     viewer__pattern_name(pattern));
    viewer__shape_fini(&shape);
}

static void is_grid(uint32_t x, uint32_t y, uint32_t z)
{
    viewer_shape shape = found();

    cr_expect_str_eq(viewer__pattern_name(shape.pattern), "grid");
    cr_expect_eq(shape.sides[0], x);
    cr_expect_eq(shape.sides[1], y);
    cr_expect_eq(shape.sides[2], z);
    viewer__shape_fini(&shape);
}

/* Neighbours along each side; around it, if it is longer than two. */
static void grid(uint32_t x, uint32_t y, uint32_t z, bool is_closed)
{
    uint32_t sides[3] = {x, y, z}, stride = 1;

    begin(x * y * z);
    for (int i = 0; i < 3; i++) {
        for (uint32_t at = 0; at < x * y * z; at++) {
            uint32_t place = at / stride % sides[i];
            if (place + 1 < sides[i])
                add(at, at + stride, 100);
            else if (is_closed && sides[i] > 2)
                add(at, at - place * stride, 100);
        }
        stride *= sides[i];
    }
}

static void ring(uint32_t places, bool is_closed)
{
    begin(places);
    for (uint32_t i = 0; i + 1 < places + is_closed; i++)
        add(i, (i + 1) % places, 100);
}

Test(shape, a_grid_is_known_by_its_sides)
{
    static const uint32_t sides[][3] = {{2, 2, 1},   {4, 4, 1}, {8, 8, 1},
                                        {16, 16, 1}, {3, 5, 1}, {7, 2, 1},
                                        {3, 3, 3},   {4, 3, 5}, {2, 2, 2}};

    for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
        grid(sides[i][0], sides[i][1], sides[i][2], false);
        is_grid(sides[i][0], sides[i][1], sides[i][2]);
    }
}

Test(shape, a_grid_may_be_closed)
{
    grid(8, 8, 1, true);
    is_grid(8, 8, 1);
    grid(5, 4, 1, true);
    is_grid(5, 4, 1);
    grid(4, 4, 4, true);
    is_grid(4, 4, 4);
}

Test(shape, a_grid_may_have_diagonals)
{
    grid(6, 6, 1, false);
    for (uint32_t i = 0; i < 30; i++) {
        if (i % 6 < 5)
            add(i, i + 7, 100);
        if (i % 6 > 0)
            add(i, i + 5, 100);
    }
    is_grid(6, 6, 1);
}

Test(shape, what_is_sent_once_hides_nothing)
{
    grid(4, 4, 1, false);
    for (uint32_t i = 2; i < 16; i++)
        if (i != 4)
            add(0, i, 1);
    is_grid(4, 4, 1);
    ring(9, true);
    add(0, 5, 9);
    is(VIEWER_RING);
}

Test(shape, a_ring_and_a_chain_are_told_apart_from_grids)
{
    for (uint32_t places = 4; places < 70; places++) {
        ring(places, true);
        is(VIEWER_RING);
        ring(places, false);
        is(VIEWER_CHAIN);
    }
}

/* Whoever is next to whom in it is drawn there. */
Test(shape, a_ring_is_in_order_whatever_its_numbers)
{
    static const uint32_t numbers[] = {0, 3, 1, 4, 2};
    viewer_shape shape;

    begin(5);
    for (uint32_t i = 0; i < 5; i++)
        add(numbers[i], numbers[(i + 1) % 5], 1);
    shape = found();
    cr_expect_eq(shape.pattern, VIEWER_RING);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t a = shape.order[i], b = shape.order[(i + 1) % 5];
        bool is_there = false;
        for (size_t j = 0; j < traffic.link_count; j++)
            is_there |= links[j].ends[0] == (a < b ? a : b) &&
                        links[j].ends[1] == (a < b ? b : a);
        cr_expect(is_there, "%u and %u", a, b);
    }
    viewer__shape_fini(&shape);
}

Test(shape, a_star_has_its_hub_anywhere)
{
    for (uint32_t hub = 0; hub < 12; hub++) {
        viewer_shape shape;
        begin(12);
        for (uint32_t i = 0; i < 12; i++)
            if (i != hub)
                add(hub, i, 1 + 10 * i);
        shape = found();
        cr_expect_eq(shape.pattern, VIEWER_STAR);
        cr_expect_eq(shape.hub, hub);
        viewer__shape_fini(&shape);
    }
}

Test(shape, all_with_all_is_dense)
{
    for (uint32_t places = 3; places < 70; places += 11) {
        begin(places);
        for (uint32_t a = 0; a < places; a++)
            for (uint32_t b = a + 1; b < places; b++)
                add(a, b, 1 + (a + b) % 3);
        is(VIEWER_DENSE);
    }
}

Test(shape, the_rest_is_for_graphviz)
{
    begin(32); /* a hypercube */
    for (uint32_t a = 0; a < 32; a++)
        for (uint32_t bit = 1; bit < 32; bit *= 2)
            if (a < (a ^ bit))
                add(a, a ^ bit, 1);
    is(VIEWER_OTHER);
    begin(12); /* two stars */
    for (uint32_t i = 1; i < 6; i++) {
        add(0, i, 1);
        add(6, 6 + i, 1);
    }
    is(VIEWER_OTHER);
    begin(9); /* two rings */
    for (uint32_t i = 0; i < 3; i++)
        add(i, (i + 1) % 3, 1);
    for (uint32_t i = 0; i < 6; i++)
        add(3 + i, 3 + (i + 1) % 6, 1);
    is(VIEWER_OTHER);
}

Test(shape, few_places_have_one_too)
{
    for (uint32_t places = 0; places < 4; places++) {
        begin(places);
        is(VIEWER_APART);
    }
    begin(2);
    add(0, 1, 1);
    is(VIEWER_CHAIN);
    begin(2);
    add(0, 1, 0); /* only received by, and not yet */
    is(VIEWER_CHAIN);
}
