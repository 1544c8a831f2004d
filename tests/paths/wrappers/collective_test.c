/* collective_test.c - sums and their likes over real processes. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "paths/engine/process.h"
#include "paths/wrappers/reduction.h"
#include "tests/paths/wrappers/collective_round.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/mapping.h"

TestSuite(collective, .timeout = 300);

static const char *const shapes[] = {"flat", "hierarchical", "binomial"};

/* Runs `program` in all threads of a map. */
static void run_map(const char *map, paths_main *program)
{
    process_program programs[] = {{"*", program, NULL}, {NULL, NULL, NULL}};
    processes h = {.map_text = map, .programs = programs};

    processes_start(&h);
    processes_end_well(&h, 100);
    processes_free(&h);
}

/* Of a generated map. */
static void run(const char *application, unsigned count, const char *shape,
                unsigned fanout, paths_main *program)
{
    char *map = mapping_map(application, count, shape, fanout);

    run_map(map, program);
    free(map);
}

static paths_map *parsed(const char *text)
{
    paths_map *map;

    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
    return map;
}

static char *generated(const paths_generate_options *options)
{
    paths_map *map;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    check_status(paths_generate(&map, options), 0);
    check_status(paths_map_write(map, out), 0);
    fclose(out);
    paths_map_destroy(map);
    return text;
}

/* --- sums --- */

typedef struct sample {
    double x[3];
    int64_t n;
} sample;

#define ROUNDS 300

static int sum_rounds(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    uint32_t count = paths_thread_count(self);
    paths_path *path;
    int err = paths_open(&path, self, "all");

    (void)argument;
    for (int r = 0; r < ROUNDS && !err; r++) {
        sample s = {.x = {number, r, number * (double)r}, .n = -(int)number};
        double all = count * (count - 1) / 2;
        err = paths_exchange(path, &s, sizeof(s), &s, sizeof(s));
        if (err)
            return err;
        expect(s.x[0] == all);
        expect(s.x[1] == (double)r * count);
        expect(s.x[2] == all * r);
        expect(s.n == -(int64_t)all);
    }
    return err;
}

Test(collective, sums_are_the_same_in_each_shape_and_on_any_number_of_processes)
{
    for (unsigned count = 1; count <= 4; count++) {
        for (size_t i = 0; i < 3; i++) {
            char *mapping = mapping_of(8, "sum", "f64[3] i64", "");
            run(mapping, count, shapes[i], 0, sum_rounds);
            free(mapping);
        }
    }
}

Test(collective, a_fan_out_makes_the_tree_deeper_and_nothing_else)
{
    char *mapping = mapping_of(9, "sum", "f64[3] i64", "");

    run(mapping, 2, "hierarchical", 2, sum_rounds);
    free(mapping);
}

/* --- every reduction on every type --- */

#define EIGHT 8

/* Packed as tuples are. */
typedef struct __attribute__((packed)) whole {
    int64_t i64[2];
    uint64_t u64[2];
    int32_t i32[2];
    uint32_t u32[2];
    int16_t i16[2];
    uint16_t u16[2];
    int8_t i8[2];
    uint8_t u8[2];
} whole;
#define WHOLE_TYPE "i64[2] u64[2] i32[2] u32[2] i16[2] u16[2] i8[2] u8[2]"

static const char *const reductions[] = {"sum", "product", "min", "max",
                                         "and", "or",      "xor"};
#define REDUCTIONS 7

static uint64_t bits(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 1;

    x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32);
}

static whole whole_of(uint32_t number, int round)
{
    whole w;
    unsigned char *at = (unsigned char *)&w;

    for (size_t i = 0; i < sizeof(w); i++)
        at[i] = (unsigned char)bits(number * 1000 + (uint64_t)round, i);
    return w;
}

/* On what a number of any type becomes in 64 bits; the result's low bits are
 * those of the type. */
static uint64_t together(const char *how, uint64_t a, uint64_t b, bool negative)
{
    bool less = negative ? (int64_t)b < (int64_t)a : b < a;

    if (strcmp(how, "sum") == 0)
        return a + b;
    if (strcmp(how, "product") == 0)
        return a * b;
    if (strcmp(how, "min") == 0)
        return less ? b : a;
    if (strcmp(how, "max") == 0)
        return less ? a : b;
    if (strcmp(how, "and") == 0)
        return a & b;
    return strcmp(how, "or") == 0 ? a | b : a ^ b;
}

#define TOGETHER(field, negative)                                              \
    for (int i = 0; i < 2; i++)                                                \
    all.field[i] = together(how, all.field[i], one.field[i], negative)

static whole whole_wanted(const char *how, int round)
{
    whole all = whole_of(0, round);

    for (uint32_t k = 1; k < EIGHT; k++) {
        whole one = whole_of(k, round);
        TOGETHER(i64, true);
        TOGETHER(u64, false);
        TOGETHER(i32, true);
        TOGETHER(u32, false);
        TOGETHER(i16, true);
        TOGETHER(u16, false);
        TOGETHER(i8, true);
        TOGETHER(u8, false);
    }
    return all;
}

static const char *how; /* of the reduction that is tried */

static int whole_rounds(paths_thread *self, void *argument)
{
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    for (int r = 0; r < 50; r++) {
        whole own = whole_of(paths_thread_number(self), r), all;
        whole wanted = whole_wanted(how, r);
        expect_status(
            paths_exchange(path, &own, sizeof(own), &all, sizeof(all)), 0);
        expect(memcmp(&all, &wanted, sizeof(all)) == 0);
    }
    return 0;
}

Test(collective, reductions_go_by_the_type_of_each_field)
{
    for (int i = 0; i < REDUCTIONS; i++) {
        char *mapping = mapping_of(EIGHT, reductions[i], WHOLE_TYPE, "");
        how = reductions[i];
        run(mapping, 3, shapes[i % 3], 0, whole_rounds);
        free(mapping);
    }
}

/* Powers of two and small numbers: exact in each order. */
typedef struct fractions {
    double f64[2];
    float f32[2];
} fractions;

static fractions fractions_of(uint32_t number, int round)
{
    int sign = (number + (uint32_t)round) % 2 ? -1 : 1;
    fractions f;

    for (int i = 0; i < 2; i++) {
        f.f64[i] = sign * ldexp(1, (int)(number + (uint32_t)(round + i)) % 7);
        f.f32[i] = (float)(-f.f64[i] / 64);
    }
    return f;
}

static double fraction(const char *which, double a, double b)
{
    if (strcmp(which, "sum") == 0)
        return a + b;
    if (strcmp(which, "product") == 0)
        return a * b;
    return (strcmp(which, "min") == 0) == (a < b) ? a : b;
}

static int fraction_rounds(paths_thread *self, void *argument)
{
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    for (int r = 0; r < 50; r++) {
        fractions own = fractions_of(paths_thread_number(self), r), all;
        fractions wanted = fractions_of(0, r);
        for (uint32_t k = 1; k < EIGHT; k++) {
            fractions one = fractions_of(k, r);
            for (int i = 0; i < 2; i++) {
                wanted.f64[i] = fraction(how, wanted.f64[i], one.f64[i]);
                wanted.f32[i] = (float)fraction(how, wanted.f32[i], one.f32[i]);
            }
        }
        expect_status(
            paths_exchange(path, &own, sizeof(own), &all, sizeof(all)), 0);
        expect(memcmp(&all, &wanted, sizeof(all)) == 0);
    }
    return 0;
}

Test(collective, reductions_of_fractions)
{
    for (int i = 0; i < 4; i++) {
        char *mapping = mapping_of(EIGHT, reductions[i], "f64[2] f32[2]", "");
        how = reductions[i];
        run(mapping, 3, shapes[i % 3], 0, fraction_rounds);
        free(mapping);
    }
}

/* --- a function of the program --- */

/* Of 2x2 matrices: it matters who comes first. */
static void multiply(const pastset_type *type, void *into, const void *from)
{
    uint64_t a[4], b[4], c[4];

    (void)type;
    memcpy(a, into, sizeof(a));
    memcpy(b, from, sizeof(b));
    c[0] = a[0] * b[0] + a[1] * b[2];
    c[1] = a[0] * b[1] + a[1] * b[3];
    c[2] = a[2] * b[0] + a[3] * b[2];
    c[3] = a[2] * b[1] + a[3] * b[3];
    memcpy(into, c, sizeof(c));
}

static void matrix_of(uint32_t number, int round, uint64_t m[4])
{
    for (uint64_t i = 0; i < 4; i++)
        m[i] = bits(number * 1000 + (uint64_t)round, i);
}

/* The threads' edges stand in the map in the order of their names; t0 has the
 * highest number, or the lowest. */
static bool descending;

static int matrix_rounds(paths_thread *self, void *argument)
{
    paths_path *path;
    uint64_t own[4], wanted[4];

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    for (int r = 0; r < 50; r++) {
        matrix_of(descending ? EIGHT - 1 : 0, r, wanted);
        for (uint32_t k = 1; k < EIGHT; k++) {
            matrix_of(descending ? EIGHT - 1 - k : k, r, own);
            multiply(NULL, wanted, own);
        }
        matrix_of(paths_thread_number(self), r, own);
        expect_status(paths_exchange(path, own, sizeof(own), own, sizeof(own)),
                      0);
        expect(memcmp(own, wanted, sizeof(own)) == 0);
    }
    return 0;
}

static char *reduce_mapping(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph test { all [kind=element, type=\"u64[4]\", "
                 "function=multiply];\n");
    for (int i = 0; i < EIGHT; i++)
        fprintf(out, "t%d [kind=thread]; t%d -> all [use=reduce];\n", i, i);
    fprintf(out, "}\n");
    fclose(out);
    return text;
}

Test(collective, a_function_of_the_program_is_called_in_the_order_of_edges)
{
    char *mapping = reduce_mapping();

    check_status(paths_reduction_register("multiply", multiply), 0);
    for (int i = 0; i < 3; i++)
        run(mapping, 4, shapes[i], 0, matrix_rounds);
    run(mapping, 2, "hierarchical", 2, matrix_rounds);
    free(mapping);
}

static const char backwards[] =
    "digraph test { subgraph cluster_h0 {\n"
    "all [kind=element, type=\"u64[4]\", policy=discard];\n"
    "top [kind=reduce, function=multiply]; top -> all;\n"
    "t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
    "t2 [kind=thread, number=2]; t3 [kind=thread, number=3];\n"
    "t4 [kind=thread, number=4]; t5 [kind=thread, number=5];\n"
    "t6 [kind=thread, number=6]; t7 [kind=thread, number=7];\n"
    "t7 -> top; t6 -> top; t5 -> top; t4 -> top;\n"
    "t3 -> top; t2 -> top; t1 -> top; t0 -> top; } }\n";

Test(collective, the_order_of_edges_is_that_of_the_map)
{
    check_status(paths_reduction_register("multiply", multiply), 0);
    descending = true;
    run_map(backwards, matrix_rounds);
}

/* --- what is moved, and all other kinds, by whom and where ever --- */

typedef struct setting {
    const char *use;
    unsigned threads, width;
    const char *shape;
} setting;

static int any_rounds(paths_thread *self, void *argument)
{
    const setting *s = argument;
    round_part *p = calloc(1, sizeof(*p));
    paths_path *path;
    int err = paths_open(&path, self, "all");

    p->use = s->use;
    p->place = paths_thread_number(self);
    p->count = s->threads;
    p->width = s->width;
    for (uint64_t r = 0; r < 40 && !err; r++) {
        round_make(p, r);
        err = paths_call(path, &p->arguments);
        if (!err && !round_is_right(p))
            err = pastset_fail(PASTSET_EAPP, "%s: round %d of t%u is wrong",
                               s->use, (int)r, p->place);
    }
    free(p);
    return err;
}

/* The order of the threads in the map is not that of their numbers. */
static char *mixed_mapping(const setting *s)
{
    char *text = NULL, type[32];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph test { all [kind=element, type=\"%s\"];\n",
            round_type(type, s->use, s->threads, s->width));
    for (unsigned i = 0; i < s->threads; i++)
        fprintf(out, "t%u [kind=thread, number=%u]; t%u -> all [use=%s];\n", i,
                (3 * i + 1) % s->threads, i, s->use);
    fprintf(out, "}\n");
    fclose(out);
    return text;
}

static void run_setting(setting *s, unsigned count, paths_spread spread)
{
    process_program programs[] = {{"*", any_rounds, s}, {NULL, NULL, NULL}};
    char *text = mixed_mapping(s), *map = NULL;
    paths_map *application = parsed(text);
    paths_generate_options options = {.application = application,
                                      .processes = count,
                                      .spread = spread,
                                      .shape = s->shape};
    processes h = {.map_text = map = generated(&options), .programs = programs};

    processes_start(&h);
    processes_end_well(&h, 100);
    processes_free(&h);
    paths_map_destroy(application);
    free(map);
    free(text);
}

static void run_everywhere(const char *use)
{
    static const unsigned threads[] = {1, 2, 5, 8}, counts[] = {1, 3, 4};

    for (unsigned i = 0; i < 24; i++) {
        setting s = {.use = use,
                     .threads = threads[i / 6],
                     .width = i / 2 % 2 ? ROUND_WIDTH : 1,
                     .shape = shapes[(i + i / 6) % 3]};
        run_setting(&s, counts[i / 2 % 3], i % 2 ? PATHS_CYCLIC : PATHS_BLOCK);
    }
}

Test(collective, a_broadcast_comes_from_another_thread_each_time)
{
    run_everywhere("broadcast");
}

Test(collective, gathered_blocks_are_in_the_order_of_numbers)
{
    run_everywhere("gather");
}

Test(collective, scattered_blocks_are_in_the_order_of_numbers)
{
    run_everywhere("scatter");
}

Test(collective, each_sends_each_a_block)
{
    run_everywhere("alltoall");
}

Test(collective, sums_with_any_number_of_threads)
{
    run_everywhere("sum");
}

/* --- a barrier --- */

typedef struct arrivals {
    _Atomic uint64_t round[EIGHT];
} arrivals;

static int barrier_rounds(paths_thread *self, void *argument)
{
    arrivals *a = argument;
    uint32_t number = paths_thread_number(self);
    paths_path *path;

    expect_status(paths_open(&path, self, "all"), 0);
    for (uint64_t r = 1; r <= ROUNDS; r++) {
        /* Relaxed: the barrier is what orders them, on one process. */
        atomic_store_explicit(&a->round[number], r, memory_order_relaxed);
        expect_status(paths_barrier(path), 0);
        for (int i = 0; i < EIGHT; i++)
            expect(atomic_load_explicit(&a->round[i], memory_order_relaxed) >=
                   r);
    }
    return 0;
}

Test(collective, nobody_passes_a_barrier_before_all_have_come)
{
    char *mapping = mapping_of(EIGHT, "barrier", "bytes[1]", "");

    for (unsigned count = 1; count <= 4; count++) {
        for (size_t i = 0; i < 3; i++) {
            arrivals *a = shared_memory(sizeof(*a));
            process_program programs[] = {{"*", barrier_rounds, a},
                                          {NULL, NULL, NULL}};
            char *map = mapping_map(mapping, count, shapes[i], 0);
            processes h = {.map_text = map, .programs = programs};
            processes_start(&h);
            processes_end_well(&h, 100);
            processes_free(&h);
            free(map);
        }
    }
    free(mapping);
}

/* --- who only looks --- */

static int add_and_tell(paths_thread *self, void *argument)
{
    int64_t one, all;
    paths_path *path, *told;

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    expect_status(paths_open(&told, self, "told"), 0);
    for (one = 1; one <= ROUNDS; one++)
        expect_status(
            paths_exchange(path, &one, sizeof(one), &all, sizeof(all)), 0);
    expect_status(paths_write(told, &all, sizeof(all)), 0);
    return 0;
}

static int look_at_sums(paths_thread *self, void *argument)
{
    int64_t last = 0, now = 0;
    paths_path *path, *told;

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    expect_status(paths_open(&told, self, "told"), 0);
    while (now < EIGHT * ROUNDS) {
        expect_status(paths_read_last(path, &now, sizeof(now)), 0);
        expect(now >= last && now % EIGHT == 0);
        last = now;
    }
    expect_status(paths_observe(told, &now, sizeof(now)), 0);
    expect(now == EIGHT * ROUNDS);
    expect_status(paths_read_last(path, &now, sizeof(now)), 0);
    expect(now == EIGHT * ROUNDS);
    return 0;
}

Test(collective, the_latest_sum_can_be_read_by_a_plain_path)
{
    char more[600] = "looker [kind=thread, number=8]; "
                     "looker -> all [use=read];\n"
                     "told [kind=element, type=\"i64\", policy=discard];\n"
                     "looker -> told [use=read];\n";
    process_program programs[] = {{"*", add_and_tell, NULL},
                                  {"looker", look_at_sums, NULL},
                                  {NULL, NULL, NULL}};
    char *mapping, *map;
    processes h = {.programs = programs};

    for (int i = 0; i < EIGHT; i++) {
        size_t used = strlen(more);
        snprintf(more + used, sizeof(more) - used, "t%d -> told [use=write];\n",
                 i);
    }
    mapping = mapping_of(EIGHT, "sum", "i64", more);
    h.map_text = map = mapping_map(mapping, 3, "hierarchical", 0);
    processes_start(&h);
    processes_end_well(&h, 100);
    processes_free(&h);
    free(map);
    free(mapping);
}

/* --- rounding --- */

#define TERMS 16

typedef struct rounding {
    double sum[10][TERMS];
    float single[10][TERMS];
} rounding;

/* Of very different sizes, so that the order matters. */
static double term_of(uint32_t number, int round, int i)
{
    uint64_t b = bits(number * 1000 + (uint64_t)round, (uint64_t)i);
    double x = ldexp((double)(b >> 11), (int)(b % 40) - 90);

    return b & 1024 ? -x : x;
}

static int rounded_sums(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    rounding *out = argument;
    paths_path *path;

    expect_status(paths_open(&path, self, "all"), 0);
    for (int r = 0; r < 10; r++) {
        struct {
            double wide[TERMS];
            float single[TERMS];
        } s;
        for (int i = 0; i < TERMS; i++) {
            s.wide[i] = term_of(number, r, i);
            s.single[i] = (float)s.wide[i];
        }
        expect_status(paths_exchange(path, &s, sizeof(s), &s, sizeof(s)), 0);
        if (number == 0) {
            memcpy(out->sum[r], s.wide, sizeof(s.wide));
            memcpy(out->single[r], s.single, sizeof(s.single));
        }
    }
    return 0;
}

static rounding *sums_by(const char *map)
{
    rounding *out = shared_memory(sizeof(*out));
    process_program programs[] = {{"*", rounded_sums, out}, {NULL, NULL, NULL}};
    processes h = {.map_text = map, .programs = programs};

    processes_start(&h);
    processes_end_well(&h, 100);
    processes_free(&h);
    return out;
}

#define ROUNDED_TYPE "f64[16] f32[16]"

Test(collective, the_same_map_rounds_the_same_each_time)
{
    char *mapping = mapping_of(EIGHT, "sum", ROUNDED_TYPE, "");
    char *map = mapping_map(mapping, 4, "hierarchical", 0);
    rounding *first = sums_by(map);

    for (int i = 1; i < 20; i++) {
        rounding *again = sums_by(map);
        cr_assert(memcmp(first, again, sizeof(*first)) == 0, "run %d", i);
        munmap(again, sizeof(*again));
    }
    free(map);
    free(mapping);
}

/* Each of n - 1 additions rounds by half an epsilon of at most the sum of the
 * terms' magnitudes. */
static void check_bound(const rounding *r, const char *what)
{
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < TERMS; i++) {
            long double sum = 0, single = 0, all = 0, bound;
            for (uint32_t n = 0; n < EIGHT; n++) {
                sum += term_of(n, k, i);
                single += (float)term_of(n, k, i);
                all += fabsl(term_of(n, k, i));
            }
            bound = (EIGHT - 1) * all;
            cr_assert_leq(fabsl(r->sum[k][i] - sum), bound * DBL_EPSILON, "%s",
                          what);
            cr_assert_leq(fabsl(r->single[k][i] - single), bound * FLT_EPSILON,
                          "%s", what);
        }
    }
}

/* Lopsided: some threads have one wrapper on their way, others four. */
static char *by_hand(const char *type)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out,
            "digraph by_hand {\n"
            "subgraph cluster_h0 { all [kind=element, type=\"%s\", "
            "policy=discard];\n"
            "t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
            "t2 [kind=thread, number=2]; top [kind=sum]; left [kind=sum]; }\n"
            "subgraph cluster_h1 { t3 [kind=thread, number=3];\n"
            "t4 [kind=thread, number=4]; t5 [kind=thread, number=5];\n"
            "mid [kind=sum]; up [kind=proxy]; past [kind=proxy]; }\n"
            "subgraph cluster_h2 { t6 [kind=thread, number=6];\n"
            "t7 [kind=thread, number=7]; low [kind=sum]; over [kind=proxy]; }\n"
            "top -> all; t5 -> past; past -> top; left -> top; t0 -> top;\n"
            "t2 -> left; up -> left; t1 -> left; mid -> up;\n"
            "t3 -> mid; over -> mid; t4 -> mid; low -> over;\n"
            "t6 -> low; t7 -> low; }\n",
            type);
    fclose(out);
    return text;
}

Test(collective, no_tree_rounds_by_more_than_that_many_additions_can)
{
    char *mapping = mapping_of(EIGHT, "sum", ROUNDED_TYPE, "");
    char *hand = by_hand(ROUNDED_TYPE);

    for (int i = 0; i < 4; i++) {
        char *map = mapping_map(mapping, 4, shapes[i % 3], i == 3 ? 3 : 0);
        check_bound(sums_by(map), shapes[i % 3]);
        free(map);
    }
    check_bound(sums_by(hand), "by hand");
    free(hand);
    free(mapping);
}

Test(collective, a_tree_by_hand_sums_like_any_other)
{
    char *map = by_hand("f64[3] i64");

    run_map(map, sum_rounds);
    free(map);
}

/* --- waiting --- */

static void run_waiting(const char *waiting)
{
    char type[80], *mapping;

    snprintf(type, sizeof(type), "f64[3] i64\", waiting=\"%s", waiting);
    mapping = mapping_of(EIGHT, "sum", type, "");
    run(mapping, 1, "hierarchical", 0, sum_rounds);
    run(mapping, 2, "hierarchical", 0, sum_rounds);
    run(mapping, 4, "flat", 0, sum_rounds);
    free(mapping);
}

Test(collective, waiting_in_any_way_works)
{
    run_waiting("yield");
    run_waiting("sleep");
}

/* Few threads: each of them wants a processor. */
Test(collective, waiting_by_spinning_works)
{
    char *mapping = mapping_of(2, "sum", "f64[3] i64\", waiting=\"spin", "");

    run(mapping, 1, "flat", 0, sum_rounds);
    free(mapping);
}

/* Of the thread that comes first to a barrier; both are in one process. */
static _Atomic pid_t first_tid;
static pthread_t first_thread;

/* It sleeps when all of many looks find it so, and none of them that it has
 * done anything; it is busy when it has used a processor for long. */
#define LOOKS 2000
#define LONG_NS 50000000

static int64_t first_used_ns(void)
{
    clockid_t clock;
    struct timespec used;

    if (pthread_getcpuclockid(first_thread, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static char first_state(void)
{
    char name[64], line[512], *end = NULL;
    FILE *file;

    snprintf(name, sizeof(name), "/proc/self/task/%d/stat", first_tid);
    file = fopen(name, "r");
    if (file && fgets(line, sizeof(line), file))
        end = strrchr(line, ')');
    if (file)
        fclose(file);
    return end ? end[2] : '?';
}

static bool first_sleeps(void)
{
    int64_t begun_ns = first_used_ns(), before_ns = begun_ns;

    for (int asleep = 0; asleep < LOOKS; asleep++) {
        int64_t used_ns = first_used_ns();
        if (used_ns - begun_ns > LONG_NS)
            return false;
        if (used_ns != before_ns || first_state() != 'S')
            asleep = 0;
        before_ns = used_ns;
    }
    return true;
}

static int come_first(paths_thread *self, void *argument)
{
    paths_path *path;
    char byte;

    (void)argument;
    expect_status(paths_open(&path, self, "all"), 0);
    first_thread = pthread_self();
    atomic_store(&first_tid, gettid());
    return paths_exchange(path, "", 1, &byte, 1);
}

static int come_later(paths_thread *self, void *sleeps)
{
    paths_path *path;
    char byte;

    expect_status(paths_open(&path, self, "all"), 0);
    while (atomic_load(&first_tid) == 0)
        sched_yield();
    expect(first_sleeps() == *(bool *)sleeps);
    return paths_exchange(path, "", 1, &byte, 1);
}

static void check_waiting(const char *waiting, bool sleeps)
{
    process_program programs[] = {{"t0", come_first, NULL},
                                  {"t1", come_later, &sleeps},
                                  {NULL, NULL, NULL}};
    char type[80], *mapping, *map;
    processes h = {.programs = programs};

    snprintf(type, sizeof(type), "bytes[1]\", waiting=\"%s", waiting);
    mapping = mapping_of(2, "barrier", type, "");
    h.map_text = map = mapping_map(mapping, 1, "flat", 0);
    processes_start(&h);
    processes_end_well(&h, 100);
    processes_free(&h);
    free(map);
    free(mapping);
}

Test(collective, who_waits_takes_a_processor_only_where_the_map_says_so)
{
    check_waiting("sleep", true);
    check_waiting("yield", false);
    check_waiting("spin", false);
}

/* --- diagnostics --- */

#define ON_H0(body) "digraph g {\nsubgraph cluster_h0 {\n" body "\n}\n}\n"
#define ONE "t0 [kind=thread, number=0];"
#define TWO ONE " t1 [kind=thread, number=1];"
#define ALL(type) "all [kind=element, type=\"" type "\", policy=discard];"

static void check_diagnostic(const char *text, const char *what)
{
    paths_diagnostics diagnostics;
    paths_map *map = parsed(text);
    bool found = false;

    check_status(paths_map_check(map, &diagnostics), PASTSET_EMAP);
    for (size_t i = 0; i < diagnostics.count; i++)
        found = found || strstr(diagnostics.items[i].text, what);
    cr_expect(found, "no \"%s\", but: %s", what, pastset_error());
    paths_diagnostics_clear(&diagnostics);
    paths_map_destroy(map);
}

Test(collective, complains_about_attributes)
{
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum, deadline=soon];"
                                          "t0 -> s; s -> all;"),
                     "write a number above 0 and us, ms or s");
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum, deadline=\"0ms\"];"
                                          "t0 -> s; s -> all;"),
                     "write a number above 0 and us, ms or s");
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum, waiting=doze];"
                                          "t0 -> s; s -> all;"),
                     "waiting=doze: choose spin, yield or sleep");
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=reduce];"
                                          "t0 -> s; s -> all;"),
                     "say what it computes: function=NAME");
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum, function=multiply];"
                                          "t0 -> s; s -> all;"),
                     "function");
}

Test(collective, complains_about_ways)
{
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum]; s -> all;"
                                          "t0 -> all;"),
                     "no edge leads to it: no thread takes part in it");
    check_diagnostic(
        ON_H0(TWO ALL("i64") "s [kind=sum]; d [kind=delay];"
                             "t0 -> d; t1 -> d; d -> s; s -> all;"),
        "several paths join before they reach it through \"d\"");
    check_diagnostic(ON_H0(ONE ALL("i64") "s [kind=sum]; t0 -> s [as=a];"
                                          "t0 -> s [as=b]; s -> all;"),
                     "thread number 0 reaches it on two paths");
    check_diagnostic(
        ON_H0(TWO ALL("i64") "s [kind=sum]; b [kind=barrier];"
                             "t0 -> b; t1 -> s; b -> s; s -> all;"),
        "is a barrier, but passes its rounds on to");
}

#define TOO_MANY 4096

Test(collective, complains_about_too_many_ways)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out,
            "digraph g { subgraph cluster_h0 { " ALL("i64") " s [kind=sum]"
                                                            "; s -> all;\n");
    for (int i = 0; i < TOO_MANY; i++)
        fprintf(out, "t%d [kind=thread, number=%d]; t%d -> s;\n", i, i, i);
    fprintf(out, "} }\n");
    fclose(out);
    check_diagnostic(text, "4096 edges lead to it, and at most 4095 can");
    free(text);
}

Test(collective, complains_about_types)
{
    check_diagnostic(ON_H0(TWO ALL("bytes[8]") "s [kind=sum]; s -> all;"
                                               "t0 -> s; t1 -> s;"),
                     "its tuples must have a fixed length: not bytes[N]");
    check_diagnostic(ON_H0(TWO ALL("i64 f32") "s [kind=xor]; s -> all;"
                                              "t0 -> s; t1 -> s;"),
                     "bits of integers only, not of f32 or f64");
    check_diagnostic(ON_H0(TWO ALL("u8[3]") "s [kind=gather]; s -> all;"
                                            "t0 -> s; t1 -> s;"),
                     "its tuple is one block for each thread that takes part");
    check_diagnostic(ON_H0(TWO ALL("u8[3]") "s [kind=scatter]; s -> all;"
                                            "t0 -> s; t1 -> s;"),
                     "its tuple is one block for each thread that takes part");
    check_diagnostic(ON_H0(TWO ALL("u8[6]") "s [kind=alltoall]; s -> all;"
                                            "t0 -> s; t1 -> s;"),
                     "its tuple is one row for each thread that takes part");
}

Test(collective, complains_about_an_element_that_would_be_full)
{
    check_diagnostic(ON_H0(TWO "all [kind=element, type=i64];"
                               "s [kind=sum]; s -> all; t0 -> s; t1 -> s;"),
                     "write policy=discard");
}
