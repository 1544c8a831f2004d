/* windtunnel_test.c - the lattice gas of apps/windtunnel.
 *
 * The automaton is written here a second time, with one byte a site, a table
 * of collisions and coordinates, and none of the code under test but its
 * random words. Both must agree on every bit. */
#include "apps/common/division.h"
#include "apps/windtunnel/lattice.h"
#include "tests/support/check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define REST (1u << LATTICE_REST)
#define SOLID (1u << LATTICE_OBSTACLE)
#define STATES 128

static const lattice_tunnel small = {192, 37, 7, LATTICE_DISC};
static const lattice_tunnel narrow = {64, 11, 8, LATTICE_PLATE};
static const lattice_tunnel broad = {1280, 22, 9, LATTICE_PLATE};

/* --- the rules, as a table --- */

typedef uint8_t rules[2][STATES]; /* by chirality and state */

static unsigned at(int direction)
{
    return 1u << (direction + 12) % 6;
}

/* Each state turns into the next, or (other chirality) the one before; and
 * the same for their holes. */
static void add_cycle(rules table, const unsigned *states, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned from = states[i];
        unsigned next = states[(i + 1) % count];
        unsigned last = states[(i + count - 1) % count];
        table[0][from] = (uint8_t)next;
        table[1][from] = (uint8_t)last;
        table[0][127 ^ from] = (uint8_t)(127 ^ next);
        table[1][127 ^ from] = (uint8_t)(127 ^ last);
    }
}

static void make_rules(rules table)
{
    const unsigned stars[2] = {at(0) | at(2) | at(4), at(1) | at(3) | at(5)};
    unsigned pairs[3], pairs_rest[3];

    for (unsigned state = 0; state < STATES; state++)
        table[0][state] = table[1][state] = (uint8_t)state;
    for (int i = 0; i < 3; i++) {
        pairs[i] = at(i) | at(i + 3);
        pairs_rest[i] = pairs[i] | REST;
    }
    add_cycle(table, pairs, 3);
    add_cycle(table, pairs_rest, 3);
    add_cycle(table, stars, 2);
    for (int i = 0; i < 6; i++) {
        const unsigned split[2] = {REST | at(i), at(i - 1) | at(i + 1)};
        const unsigned three[3] = {
            at(i) | at(i + 1) | at(i + 4),
            at(i) | at(i + 2) | at(i + 5),
            REST | at(i - 1) | at(i + 1),
        };
        add_cycle(table, split, 2);
        add_cycle(table, three, 3);
    }
}

/* Collides one site with the code under test, at bit `bit` of a word whose
 * other sites hold other things. */
static unsigned collide_site(unsigned state, unsigned chirality, unsigned bit)
{
    uint64_t in[LATTICE_PLANES], out[LATTICE_REST + 1];
    uint64_t random = chirality ? ~0ull : 0;
    unsigned result = 0;

    for (unsigned plane = 0; plane < LATTICE_PLANES; plane++) {
        in[plane] = 0x0123456789abcdefu * (2 * plane + 1);
        in[plane] &= ~(1ull << bit);
        in[plane] |= (uint64_t)(state >> plane & 1) << bit;
    }
    lattice_collide_row(in, &random, out, 1);
    for (unsigned plane = 0; plane <= LATTICE_REST; plane++)
        result |= (unsigned)(out[plane] >> bit & 1) << plane;
    return result;
}

/* East and north momentum; see lattice_flow for their units. */
static int east_of(unsigned state)
{
    static const int east[6] = {2, 1, -1, -2, -1, 1};
    int sum = 0;

    for (unsigned i = 0; i < 6; i++)
        sum += state >> i & 1 ? east[i] : 0;
    return sum;
}

static int north_of(unsigned state)
{
    static const int north[6] = {0, 1, 1, 0, -1, -1};
    int sum = 0;

    for (unsigned i = 0; i < 6; i++)
        sum += state >> i & 1 ? north[i] : 0;
    return sum;
}

Test(windtunnel, collisions_keep_particles_and_momentum, .timeout = 120)
{
    for (unsigned i = 0; i < 2 * STATES; i++) {
        unsigned before = i % STATES;
        unsigned after = collide_site(before, i / STATES, i % 64);
        cr_assert_eq(__builtin_popcount(before), __builtin_popcount(after),
                     "state %#x -> %#x", before, after);
        cr_assert_eq(east_of(before), east_of(after), "state %#x -> %#x",
                     before, after);
        cr_assert_eq(north_of(before), north_of(after), "state %#x -> %#x",
                     before, after);
    }
}

Test(windtunnel, collisions_are_one_to_one, .timeout = 120)
{
    for (unsigned chirality = 0; chirality < 2; chirality++) {
        bool seen[STATES] = {false};
        for (unsigned state = 0; state < STATES; state++) {
            unsigned after = collide_site(state, chirality, 3);
            cr_assert_not(seen[after], "two states become %#x", after);
            seen[after] = true;
        }
    }
}

Test(windtunnel, collisions_follow_the_table_of_fhp_iii, .timeout = 120)
{
    unsigned changed = 0;
    rules table;

    make_rules(table);
    for (unsigned i = 0; i < 2 * STATES; i++) {
        unsigned state = i % STATES, chirality = i / STATES;
        for (unsigned bit = 0; bit < 64; bit += 21)
            cr_assert_eq(
                collide_site(state, chirality, bit), table[chirality][state],
                "state %#x, chirality %u, bit %u", state, chirality, bit);
        changed += table[chirality][state] != state;
    }
    cr_assert_eq(changed, 2 * 76, "%u states change", changed);
}

Test(windtunnel, every_state_that_can_change_does, .timeout = 120)
{
    for (unsigned state = 0; state < STATES; state++) {
        bool can = false;
        for (unsigned other = 0; other < STATES; other++)
            can |= other != state &&
                   __builtin_popcount(other) == __builtin_popcount(state) &&
                   east_of(other) == east_of(state) &&
                   north_of(other) == north_of(state);
        cr_assert_eq(collide_site(state, 0, 9) != state, can, "%#x", state);
        cr_assert_eq(collide_site(state, 1, 9) != state, can, "%#x", state);
    }
}

Test(windtunnel, an_obstacle_throws_particles_back, .timeout = 120)
{
    for (unsigned state = 0; state < STATES; state++) {
        unsigned back = (state & 63) >> 3 | (state & 7) << 3 | (state & REST);
        cr_assert_eq(collide_site(state | SOLID, state & 1, 5), back, "%#x",
                     state);
    }
}

Test(windtunnel, a_row_of_any_length_collides_like_its_words, .timeout = 120)
{
    enum { MAX = 40 };
    uint64_t in[LATTICE_PLANES * MAX], chirality[MAX];
    uint64_t out[(LATTICE_REST + 1) * MAX];

    for (uint32_t words = 1; words <= MAX; words++) {
        for (uint32_t i = 0; i < LATTICE_PLANES * words; i++)
            in[i] = lattice_random(1, 2, 3, words, i);
        for (uint32_t w = 0; w < words; w++)
            chirality[w] = lattice_random(1, 2, 4, words, w);
        lattice_collide_row(in, chirality, out, words);
        for (uint32_t w = 0; w < words; w++) {
            uint64_t one[LATTICE_PLANES], result[LATTICE_REST + 1];
            for (uint32_t plane = 0; plane < LATTICE_PLANES; plane++)
                one[plane] = in[plane * words + w];
            lattice_collide_row(one, &chirality[w], result, 1);
            for (uint32_t plane = 0; plane <= LATTICE_REST; plane++)
                cr_assert_eq(out[plane * words + w], result[plane],
                             "plane %u, word %u of %u", plane, w, words);
        }
    }
}

/* --- the whole automaton, one byte a site --- */

typedef struct plain {
    lattice_tunnel tunnel;
    uint8_t *sites;
    uint64_t steps;
    rules table;
} plain;

static uint8_t *plain_site(const plain *p, int x, int y)
{
    int width = (int)p->tunnel.width;

    return &p->sites[y * width + (x + width) % width];
}

static plain plain_create(const lattice_tunnel *tunnel, lattice_slice *start)
{
    plain p = {.tunnel = *tunnel};

    p.sites = calloc(tunnel->height, tunnel->width);
    cr_assert_not_null(p.sites);
    make_rules(p.table);
    for (uint32_t y = 0; y < tunnel->height; y++) {
        for (uint32_t plane = 0; plane < LATTICE_PLANES; plane++) {
            const uint64_t *bits = lattice_row(start, y, plane);
            for (uint32_t x = 0; x < tunnel->width; x++)
                *plain_site(&p, (int)x, (int)y) |=
                    (uint8_t)((bits[x / 64] >> x % 64 & 1) << plane);
        }
    }
    return p;
}

static bool random_bit(const plain *p, uint32_t stream, int y, uint32_t word,
                       int x)
{
    uint64_t bits =
        lattice_random(p->tunnel.seed, stream, p->steps, (uint32_t)y, word);

    return bits >> x % 64 & 1;
}

/* Exchanges two directions when `when`. */
static unsigned exchanged(unsigned state, int a, int b, bool when)
{
    unsigned rest = state & ~(at(a) | at(b));

    if (!when)
        return state;
    return rest | (state & at(a) ? at(b) : 0) | (state & at(b) ? at(a) : 0);
}

static unsigned plain_fan(const plain *p, unsigned state, int x, int y)
{
    uint32_t word = (uint32_t)x / 64;
    bool bits[LATTICE_FAN_WORDS];
    bool back, only_east, only_west;

    if (word >= lattice_fan_words(&p->tunnel))
        return state;
    for (uint32_t i = 0; i < LATTICE_FAN_WORDS; i++)
        bits[i] =
            random_bit(p, LATTICE_FAN, y, word * LATTICE_FAN_WORDS + i, x);
    if (!bits[0] || !bits[1])
        return state;
    back = bits[2] && bits[3] && bits[4];
    only_east = (state & (at(0) | at(3))) == at(0);
    only_west = (state & (at(0) | at(3))) == at(3);
    state = exchanged(state, 0, 3, back ? only_east : only_west);
    state = exchanged(state, 1, 5, bits[5]);
    return exchanged(state, 2, 4, bits[5]);
}

static unsigned plain_collide(const plain *p, unsigned state, int x, int y)
{
    if (y == 0 || y == (int)p->tunnel.height - 1) {
        state = exchanged(state, 1, 5, true);
        return exchanged(state, 2, 4, true);
    }
    if (state & SOLID) {
        for (int i = 0; i < 3; i++)
            state = exchanged(state, i, i + 3, true);
        return state;
    }
    state = p->table[random_bit(p, LATTICE_CHIRALITY, y, (uint32_t)x / 64, x)]
                    [state];
    return plain_fan(p, state, x, y);
}

/* Where a particle at (x, y) that moves in `direction` comes to. */
static void plain_target(int direction, int *x, int *y)
{
    static const int down[6] = {0, -1, -1, 0, 1, 1};
    static const int right[2][6] = {
        {1, 0, -1, -1, -1, 0}, /* from an even row */
        {1, 1, 0, -1, 0, 1},   /* from an odd row */
    };

    *x += right[*y % 2][direction];
    *y += down[direction];
}

static void plain_step(plain *p)
{
    int width = (int)p->tunnel.width, height = (int)p->tunnel.height;
    plain next = *p;

    next.sites = calloc((size_t)height, (size_t)width);
    cr_assert_not_null(next.sites);
    for (int i = 0; i < width * height; i++) {
        int x = i % width, y = i / width;
        unsigned state = plain_collide(p, *plain_site(p, x, y), x, y);
        *plain_site(&next, x, y) |= (uint8_t)(state & (REST | SOLID));
        for (int direction = 0; direction < 6; direction++) {
            int to_x = x, to_y = y;
            plain_target(direction, &to_x, &to_y);
            if (!(state & at(direction)))
                continue;
            cr_assert(to_y >= 0 && to_y < height, "a particle left");
            *plain_site(&next, to_x, to_y) |= (uint8_t)at(direction);
        }
    }
    free(p->sites);
    *p = next;
    p->steps++;
}

static void check_same(const plain *p, lattice_slice *slice)
{
    for (uint32_t y = 0; y < p->tunnel.height; y++) {
        for (uint32_t plane = 0; plane < LATTICE_PLANES; plane++) {
            const uint64_t *bits = lattice_row(slice, y, plane);
            for (uint32_t x = 0; x < p->tunnel.width; x++)
                cr_assert_eq(bits[x / 64] >> x % 64 & 1,
                             *plain_site(p, (int)x, (int)y) >> plane & 1,
                             "step %lu, row %u, site %u, plane %u",
                             (unsigned long)p->steps, y, x, plane);
        }
    }
}

/* --- slices in this process --- */

enum { MAX_SLICES = 11 };

typedef struct cut {
    lattice_slice *slices[MAX_SLICES];
    uint32_t count;
} cut;

static cut cut_create(const lattice_tunnel *tunnel, uint32_t count)
{
    cut c = {.count = count};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first, rows;
        check_status(
            division_share(NULL, tunnel->height, count, i, &first, &rows), 0);
        c.slices[i] = lattice_slice_create(tunnel, first, rows);
        cr_assert_not_null(c.slices[i]);
    }
    return c;
}

static void cut_destroy(cut *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        lattice_slice_destroy(c->slices[i]);
}

static void cut_step(cut *c)
{
    size_t words = lattice_border_words(lattice_slice_tunnel(c->slices[0]));
    uint64_t *border = calloc(words, sizeof(*border));

    cr_assert_not_null(border);
    for (uint32_t i = 0; i < c->count; i++)
        lattice_collide(c->slices[i]);
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        lattice_border_get(c->slices[i], LATTICE_BELOW, border);
        lattice_border_set(c->slices[i + 1], LATTICE_ABOVE, border);
        lattice_border_get(c->slices[i + 1], LATTICE_ABOVE, border);
        lattice_border_set(c->slices[i], LATTICE_BELOW, border);
    }
    for (uint32_t i = 0; i < c->count; i++)
        lattice_propagate(c->slices[i]);
    free(border);
}

static void cut_run(cut *c, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++) {
        cut_step(c);
        if (step % 5 == 0)
            for (uint32_t i = 0; i < c->count; i++)
                lattice_sample(c->slices[i]);
    }
}

/* All slices in one, by way of their tuples. */
static lattice_slice *cut_join(const cut *c)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(c->slices[0]);
    lattice_slice *whole = lattice_slice_create(tunnel, 0, tunnel->height);

    cr_assert_not_null(whole);
    for (uint32_t i = 0; i < c->count; i++) {
        size_t bytes =
            lattice_result_bytes(tunnel, lattice_slice_rows(c->slices[i]));
        void *tuple = malloc(bytes);
        cr_assert_not_null(tuple);
        lattice_result_pack(c->slices[i], tuple);
        cr_assert_null(lattice_result_unpack(whole, tuple, bytes));
        free(tuple);
    }
    return whole;
}

static lattice_slice *run_in_slices(const lattice_tunnel *tunnel,
                                    uint32_t count, uint32_t steps)
{
    cut c = cut_create(tunnel, count);
    lattice_slice *whole;

    cut_run(&c, steps);
    whole = cut_join(&c);
    cut_destroy(&c);
    return whole;
}

static bool same_words(const lattice_slice *a, const lattice_slice *b)
{
    size_t count_a, count_b;
    const uint64_t *words_a = lattice_words(a, &count_a);
    const uint64_t *words_b = lattice_words(b, &count_b);

    return count_a == count_b &&
           memcmp(words_a, words_b, count_a * sizeof(*words_a)) == 0;
}

static bool same_flow(const lattice_slice *a, const lattice_slice *b)
{
    const lattice_tunnel *tunnel = lattice_slice_tunnel(a);
    size_t bytes = tunnel->width / LATTICE_CELL * sizeof(lattice_flow);

    for (uint32_t row = 0; row < tunnel->height; row++)
        if (memcmp(lattice_flow_row(a, row), lattice_flow_row(b, row), bytes))
            return false;
    return lattice_samples(a) == lattice_samples(b);
}

static void check_against_plain(const lattice_tunnel *tunnel, uint32_t count,
                                uint32_t steps)
{
    cut c = cut_create(tunnel, count);
    lattice_slice *whole = cut_join(&c);
    plain p = plain_create(tunnel, whole);

    for (uint32_t step = 0; step < steps; step++) {
        cut_step(&c);
        plain_step(&p);
        lattice_slice_destroy(whole);
        whole = cut_join(&c);
        check_same(&p, whole);
    }
    lattice_slice_destroy(whole);
    cut_destroy(&c);
    free(p.sites);
}

Test(windtunnel, steps_like_the_plain_automaton, .timeout = 60)
{
    check_against_plain(&small, 1, 300);
}

Test(windtunnel, steps_like_the_plain_automaton_in_slices, .timeout = 60)
{
    check_against_plain(&narrow, 5, 300);
}

Test(windtunnel, steps_like_the_plain_automaton_when_broad, .timeout = 60)
{
    check_against_plain(&broad, 2, 100);
}

Test(windtunnel, does_not_depend_on_the_number_of_slices, .timeout = 60)
{
    static const uint32_t counts[] = {2, 3, 7, MAX_SLICES};
    const lattice_tunnel *tunnels[] = {&small, &narrow, &broad};

    for (size_t t = 0; t < 3; t++) {
        lattice_slice *one = run_in_slices(tunnels[t], 1, 500);
        cr_assert_eq(lattice_slice_steps(one), 500);
        cr_assert_eq(lattice_samples(one), 100);
        for (size_t i = 0; i < 4; i++) {
            lattice_slice *many = run_in_slices(tunnels[t], counts[i], 500);
            cr_assert(same_words(one, many), "tunnel %zu in %u slices", t,
                      counts[i]);
            cr_assert(same_flow(one, many), "tunnel %zu in %u slices", t,
                      counts[i]);
            lattice_slice_destroy(many);
        }
        lattice_slice_destroy(one);
    }
}

Test(windtunnel, neither_makes_nor_loses_particles, .timeout = 60)
{
    lattice_tunnel tunnel = small;

    for (unsigned obstacle = 0; obstacle < LATTICE_OBSTACLES; obstacle++) {
        cut c;
        uint64_t before;
        tunnel.obstacle = (lattice_obstacle)obstacle;
        c = cut_create(&tunnel, 1);
        before = lattice_particles(c.slices[0]);
        for (uint32_t step = 0; step < 1000; step++) {
            cut_step(&c);
            cr_assert_eq(lattice_particles(c.slices[0]), before,
                         "after step %u", step);
        }
        cut_destroy(&c);
    }
}

Test(windtunnel, keeps_the_inside_of_the_obstacle_empty, .timeout = 60)
{
    /* A disc: row 18 crosses it, and site 48 is its middle. */
    lattice_slice *whole = run_in_slices(&small, 1, 500);

    cr_assert(lattice_row(whole, 18, LATTICE_OBSTACLE)[0] >> 48 & 1);
    for (unsigned plane = 0; plane <= LATTICE_REST; plane++)
        cr_assert_not(lattice_row(whole, 18, plane)[0] >> 48 & 1);
    lattice_slice_destroy(whole);
}

Test(windtunnel, starts_with_a_fifth_of_its_places_taken, .timeout = 120)
{
    const lattice_tunnel tunnel = {1024, 512, 1, LATTICE_EMPTY};
    lattice_slice *slice = lattice_slice_create(&tunnel, 0, tunnel.height);
    double places = 7.0 * tunnel.width * (tunnel.height - 2);
    double density = (double)lattice_particles(slice) / places;

    cr_assert(density > 0.197 && density < 0.203, "density %f", density);
    lattice_slice_destroy(slice);
}

Test(windtunnel, blows_to_the_east, .timeout = 60)
{
    const lattice_tunnel tunnel = {256, 128, 1, LATTICE_EMPTY};
    lattice_slice *whole = run_in_slices(&tunnel, 1, 2000);
    int64_t particles = 0, east = 0, north = 0;
    double wind;

    for (uint32_t row = 0; row < tunnel.height; row++) {
        const lattice_flow *flow = lattice_flow_row(whole, row);
        for (uint32_t i = 0; i < tunnel.width / LATTICE_CELL; i++) {
            particles += flow[i].particles;
            east += flow[i].east;
            north += flow[i].north;
        }
    }
    wind = (double)east / 2 / (double)particles;
    cr_assert(wind > 0.2 && wind < 0.35, "wind %f", wind);
    cr_assert(llabs(north) < east / 100);
    lattice_slice_destroy(whole);
}

Test(windtunnel, sums_the_flow_of_each_site, .timeout = 120)
{
    lattice_slice *whole = lattice_slice_create(&narrow, 0, narrow.height);
    plain p = plain_create(&narrow, whole);

    lattice_sample(whole);
    for (uint32_t i = 0; i < narrow.height * (narrow.width / 8); i++) {
        uint32_t row = i / (narrow.width / 8), cell = i % (narrow.width / 8);
        lattice_flow sum = {0, 0, 0};
        const lattice_flow *got = lattice_flow_row(whole, row) + cell;
        for (uint32_t x = 8 * cell; x < 8 * cell + 8; x++) {
            unsigned state = *plain_site(&p, (int)x, (int)row) & 127;
            sum.particles += __builtin_popcount(state);
            sum.east += east_of(state);
            sum.north += north_of(state);
        }
        cr_assert_eq(got->particles, sum.particles);
        cr_assert_eq(got->east, sum.east);
        cr_assert_eq(got->north, sum.north);
    }
    lattice_slice_destroy(whole);
    free(p.sites);
}

Test(windtunnel, differs_with_the_seed, .timeout = 120)
{
    lattice_tunnel other = small;
    lattice_slice *a, *b;

    other.seed++;
    a = run_in_slices(&small, 1, 0);
    b = run_in_slices(&other, 1, 0);
    cr_assert_not(same_words(a, b));
    lattice_slice_destroy(a);
    lattice_slice_destroy(b);
}

Test(windtunnel, draws_other_words_for_each_purpose_time_and_place,
     .timeout = 120)
{
    const uint64_t word = lattice_random(1, 2, 3, 4, 5);
    unsigned ones = 0;

    cr_assert_eq(word, lattice_random(1, 2, 3, 4, 5));
    cr_assert_neq(word, lattice_random(2, 2, 3, 4, 5));
    cr_assert_neq(word, lattice_random(1, 3, 3, 4, 5));
    cr_assert_neq(word, lattice_random(1, 2, 4, 4, 5));
    cr_assert_neq(word, lattice_random(1, 2, 3, 5, 5));
    cr_assert_neq(word, lattice_random(1, 2, 3, 4, 6));
    for (uint64_t i = 0; i < 10000; i++)
        ones += (unsigned)__builtin_popcountll(
            lattice_random(1, 2, i / 100, (uint32_t)i / 10 % 10, i % 10));
    cr_assert(ones > 318000 && ones < 322000, "%u ones", ones);
}

Test(windtunnel, shares_all_rows_evenly, .timeout = 120)
{
    for (uint32_t count = 1; count <= small.height; count++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t first, rows;
            check_status(
                division_share(NULL, small.height, count, i, &first, &rows), 0);
            cr_assert_eq(first, next);
            cr_assert(rows == small.height / count ||
                      rows == small.height / count + 1);
            next += rows;
        }
        cr_assert_eq(next, small.height);
    }
}

Test(windtunnel, says_what_is_wrong_with_a_tunnel, .timeout = 120)
{
    lattice_tunnel tunnel = small;

    cr_assert_null(lattice_tunnel_problem(&tunnel));
    tunnel.width = 100;
    cr_assert_str_eq(lattice_tunnel_problem(&tunnel),
                     "the width must be a multiple of 64");
    tunnel = small;
    tunnel.height = 2;
    cr_assert_not_null(lattice_tunnel_problem(&tunnel));
    tunnel = small;
    tunnel.width = 1 << 20;
    cr_assert_not_null(lattice_tunnel_problem(&tunnel));
    tunnel = small;
    tunnel.obstacle = LATTICE_OBSTACLES;
    cr_assert_not_null(lattice_tunnel_problem(&tunnel));
}

Test(windtunnel, refuses_results_that_are_not_its_own, .timeout = 120)
{
    lattice_slice *whole = lattice_slice_create(&small, 0, small.height);
    lattice_slice *part = lattice_slice_create(&small, 30, 7);
    lattice_slice *upper = lattice_slice_create(&small, 0, 30);
    lattice_slice *alien = lattice_slice_create(&narrow, 0, narrow.height);
    size_t bytes = lattice_result_bytes(&small, 7);
    void *tuple = malloc(bytes);

    lattice_result_pack(part, tuple);
    cr_assert_null(lattice_result_unpack(whole, tuple, bytes));
    cr_assert_str_eq(lattice_result_unpack(whole, tuple, 12),
                     "it is shorter than its header");
    cr_assert_str_eq(lattice_result_unpack(whole, tuple, bytes - 1),
                     "its length does not fit its rows");
    cr_assert_str_eq(lattice_result_unpack(upper, tuple, bytes),
                     "its rows are not in the tunnel");
    cr_assert_str_eq(lattice_result_unpack(alien, tuple, bytes),
                     "it belongs to another tunnel");
    free(tuple);
    lattice_slice_destroy(whole);
    lattice_slice_destroy(part);
    lattice_slice_destroy(upper);
    lattice_slice_destroy(alien);
}
