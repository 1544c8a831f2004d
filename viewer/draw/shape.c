/* shape.c - see shape_internal.h. */
#include "viewer/draw/shape_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* Shares of links: of all that there could be, from which on they are dense; of
 * those that a grid has; of those that need not fit. */
#define DENSE 0.75
#define COMPLETE 0.9
#define STRANGE 0.02
/* Links with fewer messages than this share of the most are not often used. */
#define RARE 0.1

/* The links that are looked at. */
typedef struct look {
    const viewer_traffic *traffic;
    const viewer_link **links;
    size_t count;
    uint32_t *degrees; /* by place */
} look;

const char *viewer__pattern_name(viewer_pattern pattern)
{
    static const char *const names[] = {
        [VIEWER_APART] = "apart", [VIEWER_STAR] = "star",
        [VIEWER_RING] = "ring",   [VIEWER_CHAIN] = "chain",
        [VIEWER_GRID] = "grid",   [VIEWER_DENSE] = "dense",
        [VIEWER_OTHER] = "other"};

    return names[pattern];
}

static void look_fill(look *l, uint64_t messages_min)
{
    const viewer_traffic *t = l->traffic;

    l->count = 0;
    memset(l->degrees, 0, t->place_count * sizeof(*l->degrees));
    for (size_t i = 0; i < t->link_count; i++) {
        const viewer_link *link = &t->links[i];
        if (viewer__link_messages(link) < messages_min)
            continue;
        l->links[l->count++] = link;
        l->degrees[link->ends[0]]++;
        l->degrees[link->ends[1]]++;
    }
}

/* --- star --- */

static bool is_star(const look *l, viewer_shape *out)
{
    uint32_t hub = 0;

    for (uint32_t i = 1; i < l->traffic->place_count; i++)
        if (l->degrees[i] > l->degrees[hub])
            hub = i;
    out->hub = hub;
    return l->degrees[hub] == l->count && l->count >= 3 &&
           2 * l->count >= l->traffic->place_count - 1;
}

/* --- ring and chain --- */

/* The neighbour of a place of two at most that is not `not`. */
static uint32_t neighbour(const look *l, uint32_t place, uint32_t not )
{
    for (size_t i = 0; i < l->count; i++) {
        const uint32_t *ends = l->links[i]->ends;
        for (int j = 0; j < 2; j++)
            if (ends[j] == place && ends[!j] != not )
                return ends[!j];
    }
    return PATHS_NONE;
}

/* Walks from one to the next; true: it has come by all of them. */
static bool walk(const look *l, uint32_t first, uint32_t *order)
{
    uint32_t count = 0, before = PATHS_NONE, at = first;

    do {
        uint32_t next = neighbour(l, at, before);
        order[count++] = at;
        before = at;
        at = next;
    } while (at != PATHS_NONE && at != first &&
             count < l->traffic->place_count);
    return count == l->traffic->place_count;
}

static bool is_line(const look *l, viewer_shape *out)
{
    uint32_t places = l->traffic->place_count, ends = 0, first = 0;

    if (places < 2 || (l->count != places && l->count != places - 1))
        return false;
    for (uint32_t i = places; i-- > 0;) {
        if (l->degrees[i] == 0 || l->degrees[i] > 2)
            return false;
        if (l->degrees[i] == 1) {
            ends++;
            first = i;
        }
    }
    out->pattern = ends ? VIEWER_CHAIN : VIEWER_RING;
    return walk(l, first, out->order);
}

/* --- grids --- */

void viewer__shape_cell(const viewer_shape *shape, uint32_t place,
                        uint32_t cell[3])
{
    for (int i = 0; i < 3; i++) {
        cell[i] = place % shape->sides[i];
        place /= shape->sides[i];
    }
}

/* How many sides two cells are apart by one; 0: by more, also around. */
static unsigned steps_between(const viewer_shape *shape, uint32_t a, uint32_t b,
                              bool *is_around)
{
    uint32_t x[3], y[3];
    unsigned steps = 0;

    *is_around = false;
    viewer__shape_cell(shape, a, x);
    viewer__shape_cell(shape, b, y);
    for (int i = 0; i < 3; i++) {
        uint32_t apart = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
        bool closes = apart > 1 && apart == shape->sides[i] - 1;
        if (apart > 1 && !closes)
            return 0;
        *is_around |= closes;
        steps += apart > 0;
    }
    return steps;
}

/* Neighbours along its sides, without those around it. */
static double links_of_grid(const uint32_t sides[3])
{
    double all = 0, cells = (double)sides[0] * sides[1] * sides[2];

    for (int i = 0; i < 3; i++)
        all += cells / sides[i] * (sides[i] - 1);
    return all;
}

static bool fits(const look *l, const viewer_shape *shape)
{
    size_t straight = 0, strange = 0;

    for (size_t i = 0; i < l->count; i++) {
        const uint32_t *ends = l->links[i]->ends;
        bool is_around;
        unsigned steps = steps_between(shape, ends[0], ends[1], &is_around);
        strange += steps == 0;
        straight += steps == 1 && !is_around;
    }
    return (double)strange <= STRANGE * (double)l->count &&
           (double)straight >= COMPLETE * links_of_grid(shape->sides);
}

/* Those nearest to a square come first where several fit. */
static bool is_flat_grid(const look *l, viewer_shape *out)
{
    uint32_t places = l->traffic->place_count;
    bool found = false;

    for (uint32_t side = 2; side <= places / 2; side++) {
        viewer_shape shape = {.sides = {side, places / side, 1}};
        if (places % side != 0 || !fits(l, &shape))
            continue;
        if (!found || side * side <= places)
            memcpy(out->sides, shape.sides, sizeof(out->sides));
        found = true;
    }
    return found;
}

static bool is_deep_grid(const look *l, viewer_shape *out)
{
    uint32_t places = l->traffic->place_count;

    for (uint32_t x = 2; x <= places / 4; x++) {
        for (uint32_t y = 2; places % x == 0 && y <= places / x / 2; y++) {
            viewer_shape shape = {.sides = {x, y, places / x / y}};
            if (places / x % y != 0 || !fits(l, &shape))
                continue;
            memcpy(out->sides, shape.sides, sizeof(out->sides));
            return true;
        }
    }
    return false;
}

/* --- all --- */

static bool is_dense(const look *l)
{
    double places = l->traffic->place_count;

    return places > 2 && (double)l->count >= DENSE * places * (places - 1) / 2;
}

static bool recognise(const look *l, viewer_shape *out)
{
    if (is_dense(l))
        out->pattern = VIEWER_DENSE;
    else if (is_star(l, out))
        out->pattern = VIEWER_STAR;
    else if (is_flat_grid(l, out) || is_deep_grid(l, out))
        out->pattern = VIEWER_GRID;
    else
        return is_line(l, out);
    return true;
}

static uint64_t messages_max(const viewer_traffic *t)
{
    uint64_t max = 0;

    for (size_t i = 0; i < t->link_count; i++)
        if (viewer__link_messages(&t->links[i]) > max)
            max = viewer__link_messages(&t->links[i]);
    return max;
}

int viewer__shape_find(viewer_shape *out, const viewer_traffic *t)
{
    look l = {.traffic = t,
              .links = calloc(t->link_count + 1, sizeof(*l.links)),
              .degrees = calloc(t->place_count + 1, sizeof(*l.degrees))};
    bool found = false;

    *out = (viewer_shape){.sides = {1, 1, 1},
                          .order =
                              calloc(t->place_count + 1, sizeof(*out->order))};
    if (l.links && l.degrees && out->order) {
        look_fill(&l, (uint64_t)(RARE * (double)messages_max(t)) + 1);
        found = recognise(&l, out);
        if (!found) {
            look_fill(&l, 0);
            found = recognise(&l, out);
        }
        if (!found)
            out->pattern = t->link_count ? VIEWER_OTHER : VIEWER_APART;
    }
    free(l.links);
    free(l.degrees);
    if (out->order && l.links && l.degrees)
        return 0;
    viewer__shape_fini(out);
    return pastset_no_memory("for a picture of the run");
}

void viewer__shape_fini(viewer_shape *shape)
{
    free(shape->order);
    shape->order = NULL;
}
