/* collide.c - the collisions of FHP-III, 64 sites at a time.
 *
 * A collision leaves the number of particles at a site and their momentum as
 * they are. FHP-III (d'Humieres, Lallemand: Numerical simulations of
 * hydrodynamics with lattice gas automata in two dimensions, Complex Systems
 * 1, 1987) changes each of the 76 states, of 128, that another state with the
 * same number and momentum can take the place of; no other rules give so low
 * a viscosity. With the directions numbered 0 to 5 counter-clockwise from
 * east, modulo 6, and r for rest, the states with up to three particles turn
 * into each other like this, and always one to one:
 *
 *     pair      {i, i+3} with or without r
 *               -> the pair at i+1, or at i-1
 *     split     {r, i} <-> {i-1, i+1}
 *     star      {0, 2, 4} <-> {1, 3, 5}
 *     cycle     a = {i, i+1, i+4}, b = {i, i+2, i+5}, c = {r, i-1, i+1}:
 *               a -> b -> c -> a, or a -> c -> b -> a
 *
 * Where there is a choice, one random bit, the chirality, makes it for the
 * site. States with four and more particles follow the same rules with the
 * holes in place of the particles.
 *
 * Here, each variable holds one truth about 64 sites, and each rule is a few
 * ands and ors. collide_words has no branch and is vectorised by the
 * compiler; it is compiled three times, for the width of vectors that the
 * processor turns out to have. */
#include "apps/windtunnel/lattice.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Before a loop: what it writes at one index it reads at no other. The
 * compilers cannot see that, as the distance of two planes varies. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* when not optimised */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* `a` where `which` has a one, else `b`. */
static ALWAYS_INLINE uint64_t choose(uint64_t which, uint64_t a, uint64_t b)
{
    return b ^ (which & (a ^ b));
}

static ALWAYS_INLINE uint64_t majority(uint64_t a, uint64_t b, uint64_t c)
{
    return choose(a ^ b, c, a);
}

static ALWAYS_INLINE void collide_words(const uint64_t *restrict in,
                                        const uint64_t *restrict chirality,
                                        uint64_t *restrict out, size_t words)
{
    INDEPENDENT
    for (size_t w = 0; w < words; w++) {
        const uint64_t n0 = in[w], n1 = in[words + w];
        const uint64_t n2 = in[2 * words + w], n3 = in[3 * words + w];
        const uint64_t n4 = in[4 * words + w], n5 = in[5 * words + w];
        const uint64_t n6 = in[6 * words + w], wall = in[7 * words + w];
        const uint64_t s = chirality[w];

        /* The number of particles, in binary: four, two, one. */
        const uint64_t one_a = n0 ^ n1 ^ n2, two_a = majority(n0, n1, n2);
        const uint64_t one_b = n3 ^ n4 ^ n5, two_b = majority(n3, n4, n5);
        const uint64_t one = one_a ^ one_b ^ n6;
        const uint64_t two_c = majority(one_a, one_b, n6);
        const uint64_t two = two_a ^ two_b ^ two_c;
        const uint64_t four = majority(two_a, two_b, two_c);

        /* From here on there are at most three, particles or holes. */
        const uint64_t m0 = n0 ^ four, m1 = n1 ^ four, m2 = n2 ^ four;
        const uint64_t m3 = n3 ^ four, m4 = n4 ^ four, m5 = n5 ^ four;
        const uint64_t r = n6 ^ four;
        const uint64_t only_two = (two ^ four) & ~(one ^ four);
        const uint64_t loose = only_two | r;

        /* Two that are opposite, and two with one direction between. */
        const uint64_t o0 = m0 & m3, o1 = m1 & m4, o2 = m2 & m5;
        const uint64_t t0 = m5 & m1, t1 = m0 & m2, t2 = m1 & m3;
        const uint64_t t3 = m2 & m4, t4 = m3 & m5, t5 = m4 & m0;

        /* Stars, and pairs, which turn. */
        const uint64_t y0 = t1 & m4, y1 = t2 & m5;
        const uint64_t p0 = o0 & loose, p1 = o1 & loose, p2 = o2 & loose;
        const uint64_t to_p0 = choose(s, p1, p2);
        const uint64_t to_p1 = choose(s, p2, p0);
        const uint64_t to_p2 = choose(s, p0, p1);

        /* Cycles. With a pair beside i there are three, and no r. */
        const uint64_t a0 = m0 & o1, a1 = m1 & o2, a2 = m2 & o0;
        const uint64_t a3 = m3 & o1, a4 = m4 & o2, a5 = m5 & o0;
        const uint64_t b0 = m0 & o2, b1 = m1 & o0, b2 = m2 & o1;
        const uint64_t b3 = m3 & o2, b4 = m4 & o0, b5 = m5 & o1;
        const uint64_t c0 = t0 & r, c1 = t1 & r, c2 = t2 & r;
        const uint64_t c3 = t3 & r, c4 = t4 & r, c5 = t5 & r;
        const uint64_t to_a0 = choose(s, b0, c0), to_a1 = choose(s, b1, c1);
        const uint64_t to_a2 = choose(s, b2, c2), to_a3 = choose(s, b3, c3);
        const uint64_t to_a4 = choose(s, b4, c4), to_a5 = choose(s, b5, c5);
        const uint64_t to_b0 = choose(s, c0, a0), to_b1 = choose(s, c1, a1);
        const uint64_t to_b2 = choose(s, c2, a2), to_b3 = choose(s, c3, a3);
        const uint64_t to_b4 = choose(s, c4, a4), to_b5 = choose(s, c5, a5);
        const uint64_t to_c0 = choose(s, a0, b0), to_c1 = choose(s, a1, b1);
        const uint64_t to_c2 = choose(s, a2, b2), to_c3 = choose(s, a3, b3);
        const uint64_t to_c4 = choose(s, a4, b4), to_c5 = choose(s, a5, b5);

        /* Splits: from {r, i}, and to it. */
        const uint64_t from_r = r & only_two;
        const uint64_t e0 = t0 & only_two, e1 = t1 & only_two;
        const uint64_t e2 = t2 & only_two, e3 = t3 & only_two;
        const uint64_t e4 = t4 & only_two, e5 = t5 & only_two;

        /* What comes: one at i, both at its sides, both of a pair. */
        const uint64_t i0 = e0 | to_a0 | to_b0 | y1;
        const uint64_t i1 = e1 | to_a1 | to_b1 | y0;
        const uint64_t i2 = e2 | to_a2 | to_b2 | y1;
        const uint64_t i3 = e3 | to_a3 | to_b3 | y0;
        const uint64_t i4 = e4 | to_a4 | to_b4 | y1;
        const uint64_t i5 = e5 | to_a5 | to_b5 | y0;
        const uint64_t v0 = (from_r & m0) | to_c0, v1 = (from_r & m1) | to_c1;
        const uint64_t v2 = (from_r & m2) | to_c2, v3 = (from_r & m3) | to_c3;
        const uint64_t v4 = (from_r & m4) | to_c4, v5 = (from_r & m5) | to_c5;
        const uint64_t q0 = to_p0 | to_a2 | to_a5 | to_b1 | to_b4;
        const uint64_t q1 = to_p1 | to_a0 | to_a3 | to_b2 | to_b5;
        const uint64_t q2 = to_p2 | to_a1 | to_a4 | to_b0 | to_b3;

        const uint64_t t = t0 | t1 | t2 | t3 | t4 | t5;
        const uint64_t stay = ~(from_r | o0 | o1 | o2 | (t & loose) | y0 | y1);
        const uint64_t turn_r = from_r | (t & loose) | to_c0 | to_c1 | to_c2 |
                                to_c3 | to_c4 | to_c5;

        /* Walls throw back; all else collides. */
        out[w] = choose(wall, n3, four ^ ((m0 & stay) | i0 | v5 | v1 | q0));
        out[words + w] =
            choose(wall, n4, four ^ ((m1 & stay) | i1 | v0 | v2 | q1));
        out[2 * words + w] =
            choose(wall, n5, four ^ ((m2 & stay) | i2 | v1 | v3 | q2));
        out[3 * words + w] =
            choose(wall, n0, four ^ ((m3 & stay) | i3 | v2 | v4 | q0));
        out[4 * words + w] =
            choose(wall, n1, four ^ ((m4 & stay) | i4 | v3 | v5 | q1));
        out[5 * words + w] =
            choose(wall, n2, four ^ ((m5 & stay) | i5 | v4 | v0 | q2));
        out[6 * words + w] = choose(wall, n6, four ^ r ^ turn_r);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512vl,avx512dq"))) static void
collide_avx512(const uint64_t *in, const uint64_t *chirality, uint64_t *out,
               size_t words)
{
    collide_words(in, chirality, out, words);
}

__attribute__((target("avx2"))) static void
collide_avx2(const uint64_t *in, const uint64_t *chirality, uint64_t *out,
             size_t words)
{
    collide_words(in, chirality, out, words);
}
#endif

void lattice_collide_row(const uint64_t *in, const uint64_t *chirality,
                         uint64_t *out, uint32_t words)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        collide_avx512(in, chirality, out, words);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        collide_avx2(in, chirality, out, words);
        return;
    }
#endif
    collide_words(in, chirality, out, words);
}
