/* problem.c - see sor.h. */
#include "apps/sor/sor.h"

#include <inttypes.h>

#include "pastset/status.h"

#define PI 3.14159265358979323846

enum { KEY_EQUATION = PROGRAM_KEY, KEY_REBALANCE, KEY_COMMIT };

static const char *const equations[] = {"laplace", "poisson", NULL};

const struct argp_option sor_options[] = {
    {"equation", KEY_EQUATION, "NAME", 0,
     "laplace (default): f = 0, u = x^2 - y^2 + x y; or poisson: f = 6, u = 2 "
     "x^2 "
     "+ y^2 - x y",
     2},
    {"rebalance", KEY_REBALANCE, NULL, 0,
     "Every tenth iteration, divide the rows again if a process's share was "
     "changed ('eventspace tune RUN share=0.5 --process=h0'; default: each "
     "thread keeps its rows)",
     2},
    {"commit", KEY_COMMIT, "N", 0,
     "Keep the grid after each N iterations, a multiple of 10; when a process "
     "dies, all are started again, and go on from there (default: never)",
     2},
    {0},
};

int sor_parse(program_options *options, int key, const char *text)
{
    sor_own *o = options->own;
    uint64_t number = 0;
    int err;

    switch (key) {
    case KEY_EQUATION:
        return program_parse_name(&o->equation, "equation", text, equations);
    case KEY_REBALANCE:
        o->rebalances = true;
        return 0;
    case KEY_COMMIT:
        err = program_parse_number(&number, "commit", text, SOR_CHECK,
                                   UINT32_MAX);
        o->commit = (uint32_t)number;
        if (!err && number % SOR_CHECK)
            err = pastset_fail(PASTSET_EINVAL,
                               "--commit=%s: expected a multiple of %u", text,
                               SOR_CHECK);
        return err;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void sor_make_of(sor *s, uint32_t n, sor_equation equation)
{
    double h = 1.0 / (n + 1);

    *s = (sor){
        .n = n,
        .seed = 1,
        .equation = equation,
        .source = equation == SOR_POISSON ? 6 * h * h : 0,
        .omega = 2 / (1 + sin(PI * h)),
        .residual = SOR_ACCURACY * 8 / 3 * h * h,
    };
}

int sor_make(sor *s, const program_options *options)
{
    static const struct {
        char size;
        uint32_t n;
    } sizes[] = {{'S', 120}, {'W', 600}, {'A', 1600}, {'B', 2800}, {'C', 4000}};
    const sor_own *o = options->own;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].size != options->size)
            continue;
        sor_make_of(s, sizes[i].n, (sor_equation)o->equation);
        s->rounds = options->rounds;
        s->seed = options->seed;
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "--size=%c: expected S, W, A, B or C",
                        options->size);
}

double sor_solution(const sor *s, uint32_t row, uint32_t column)
{
    double x = (double)column / (s->n + 1), y = (double)row / (s->n + 1);

    if (s->equation == SOR_POISSON)
        return 2 * x * x + y * y - x * y;
    return x * x - y * y + x * y;
}

double sor_start(const sor *s, uint32_t row, uint32_t column)
{
    uint64_t place = (uint64_t)row << 32 | column;

    if (row == 0 || column == 0 || row > s->n || column > s->n)
        return sor_solution(s, row, column);
    return program_fraction(program_mix(place ^ program_mix(s->seed)));
}

bool sor_is_asked(const sor *s, uint32_t iteration)
{
    return iteration % SOR_CHECK == 0 || iteration == s->rounds;
}

/* A limit, for the case that something is wrong: it takes about 5 n. */
bool sor_is_over(const sor *s, uint32_t iteration, double residual)
{
    if (s->rounds)
        return iteration == s->rounds;
    return residual <= s->residual || iteration >= 50 * s->n + 1000;
}

/* --- results --- */

static double error_find(const sor_report *report)
{
    const sor *s = report->problem;
    const double *point = report->rows;
    double max = 0;

    for (uint32_t row = 1; row <= s->n; row++) {
        for (uint32_t column = 0; column < s->n + 2; column++) {
            double error = fabs(*point++ - sor_solution(s, row, column));
            max = error > max ? error : max;
        }
    }
    return max;
}

/* FNV-1a, 64 bits, of the bytes of all rows. */
static uint64_t checksum(const sor_report *report)
{
    const unsigned char *bytes = (const unsigned char *)report->rows;
    size_t points = (size_t)report->problem->n * (report->problem->n + 2);
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < points * sizeof(double); i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

int sor_report_write(const sor_report *report, program_result *result)
{
    const sor *s = report->problem;
    double error = error_find(report);
    char sum[17];

    snprintf(sum, sizeof(sum), "%016" PRIx64, checksum(report));
    program_text(result, "equation", equations[s->equation]);
    program_count(result, "n", s->n);
    program_value(result, "omega", s->omega);
    program_count(result, "iterations", report->iterations);
    program_value(result, "residual", report->residual);
    program_value(result, "error", error);
    program_text(result, "checksum", sum);
    if (report->rebalances) {
        program_count(result, "divisions", report->divisions);
        program_text(result, "division", report->division);
    }
    if (s->rounds || error <= SOR_ACCURACY)
        return 0;
    return pastset_fail(PASTSET_EAPP,
                        "after %" PRIu32 " iterations the residual is %g, and "
                        "the error %g, above %g: this is a bug",
                        report->iterations, report->residual, error,
                        SOR_ACCURACY);
}
