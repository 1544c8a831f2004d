/* history_test.c - histories against lists that the test keeps itself: read,
 * made coarser, killed, torn, damaged, and on a disk that is full. */
#include "measure/sensors/history_internal.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 1764216000000
#define MINUTE_MS 60000

static const measure__history_options load = {"availability of n0", "share",
                                              5000};

static measure__history_writer *writer_open(const char *file)
{
    measure__history_writer *w;

    check_status(measure__history_open(&w, file, &load), 0);
    return w;
}

static measure_history *history_read(const char *file)
{
    measure_history *h;

    check_status(measure_history_read(&h, file), 0);
    return h;
}

/* Some numbers of all sizes; those of a history have nine digits. */
static double value_at(size_t i)
{
    return floor(1e8 * (1.5 + sin((double)i) + 0.1 * sin(7.3 * (double)i))) *
           (i % 5 == 0   ? 1e-13
            : i % 7 == 0 ? 1e4
                         : 1e-8);
}

TestSuite(history, .init = scratch_make, .fini = scratch_remove);

Test(history, what_was_added_is_read)
{
    const char *file = scratch_file("a.history");
    measure__history_writer *w = writer_open(file);
    measure_history *h;
    size_t first;

    for (size_t i = 0; i < 1000; i++) {
        if (i == 500) { /* it is gone on with */
            measure__history_close(w);
            w = writer_open(file);
        }
        check_status(
            measure__history_add(w, START_MS + 5000 * (int64_t)i, value_at(i)),
            0);
    }
    measure__history_close(w);
    h = history_read(file);
    cr_assert_str_eq(h->series, "availability of n0");
    cr_assert_str_eq(h->unit, "share");
    cr_assert_eq(h->count, 1000);
    cr_assert(!h->torn);
    cr_assert_eq(measure_history_alike(h), 0);
    for (size_t i = 0; i < 1000; i++) {
        cr_assert(!measure_history_is_gap(h, i));
        cr_assert_eq(h->rows[i].time_ms, START_MS + 5000 * (int64_t)i);
        cr_assert_float_eq(h->rows[i].value, value_at(i),
                           1e-9 * fabs(value_at(i)), "%zu: %.17g", i,
                           h->rows[i].value);
        cr_assert_eq(h->rows[i].lasts_ms, 0);
    }
    cr_assert_eq(
        measure_history_between(h, START_MS + 5001, START_MS + 20000, &first),
        2);
    cr_assert_eq(first, 2);
    cr_assert_eq(measure_history_between(h, START_MS + 5, START_MS, &first), 0);
    measure_history_destroy(h);
}

/* Each number as strtod reads it. */
Test(history, numbers_are_read_exactly)
{
    static const char *const texts[] = {
        "0",
        "0.1",
        "123456789.25",
        "1e-9",
        "3.7e-05",
        "1.5e+10",
        "-2.25",
        "9007199254740993",
        "0.1234567890123456789",
        "1e-300",
        "4.9e99",
        "2.2250738585072014e-308",
    };
    char text[2000] = "# eventspace history 1\n# series: x\n# unit: s\n"
                      "# interval: 1000 ms\n";
    size_t count = sizeof(texts) / sizeof(*texts);
    measure_history *h;

    for (size_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%zu,%s\n", i, texts[i]);
    check_status(measure_history_parse(&h, text, strlen(text), "x"), 0);
    cr_assert_eq(h->count, count);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(h->rows[i].value, strtod(texts[i], NULL), "%s", texts[i]);
    measure_history_destroy(h);
}

/* --- coarser steps --- */

#define DAYS 800
#define EVERY_MS (7 * MINUTE_MS)
#define SAMPLES ((size_t)(DAYS * MEASURE__DAY_MS / EVERY_MS))

/* What a row of samples should be, from all of them. */
static void check_row(const measure_history_row *row, size_t *next)
{
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    size_t from = *next, count;

    while (*next < SAMPLES && START_MS + EVERY_MS * (int64_t)*next <
                                  row->time_ms + row->lasts_ms) {
        double value = value_at((*next)++);
        sum += value;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    count = *next - from;
    cr_assert_eq(row->count, count, "%u, not %zu", row->count, count);
    for (size_t i = from; i < *next; i++)
        squares += pow(value_at(i) - sum / (double)count, 2);
    cr_assert_float_eq(row->value, sum / (double)count, 1e-8 * most);
    cr_assert_float_eq(row->deviation, sqrt(squares / (double)count),
                       1e-5 * most);
    cr_assert_float_eq(row->least, least, 1e-8 * most);
    cr_assert_float_eq(row->most, most, 1e-8 * most);
}

static int64_t step_for(int64_t age_ms)
{
    return age_ms > 730 * MEASURE__DAY_MS  ? 60 * MINUTE_MS
           : age_ms > 30 * MEASURE__DAY_MS ? 10 * MINUTE_MS
                                           : MINUTE_MS;
}

/* As many samples as there were before that time, none of them coarser. */
static void samples_write(const char *file, size_t count)
{
    FILE *f = fopen(file, "w");
    char text[1024];

    measure__history_head_text(text, sizeof(text), &load);
    fputs(text, f);
    for (size_t i = 0; i < count; i++) {
        measure_history_row row = {.time_ms = START_MS + EVERY_MS * (int64_t)i,
                                   .value = value_at(i)};
        measure__history_row_text(text, &row);
        fputs(text, f);
    }
    fclose(f);
}

/* The last ten days are added one by one, so that rows become coarser in many
 * goes. */
Test(history, what_is_old_becomes_coarser_and_nothing_is_lost)
{
    const char *file = scratch_file("a.history");
    size_t there = SAMPLES - (size_t)(10 * MEASURE__DAY_MS / EVERY_MS);
    int64_t now_ms = START_MS + EVERY_MS * (int64_t)(SAMPLES - 1);
    int64_t slack_ms = MEASURE__DAY_MS / 2 + 60 * MINUTE_MS;
    measure__history_writer *w;
    size_t next = 0;
    measure_history *h;

    samples_write(file, there);
    w = writer_open(file);
    for (size_t i = there; i < SAMPLES; i++)
        check_status(measure__history_add(w, START_MS + EVERY_MS * (int64_t)i,
                                          value_at(i)),
                     0);
    measure__history_close(w);
    h = history_read(file);
    for (size_t i = 0; i < h->count; i++) {
        const measure_history_row *row = &h->rows[i];
        int64_t age_ms = now_ms - row->time_ms;
        if (row->lasts_ms) {
            /* it became so some time before now */
            cr_assert(row->lasts_ms >= step_for(age_ms - slack_ms));
            cr_assert(row->lasts_ms <= step_for(age_ms));
            cr_assert_eq(row->time_ms % row->lasts_ms, 0);
            check_row(row, &next);
            continue;
        }
        cr_assert_eq(row->time_ms, START_MS + EVERY_MS * (int64_t)next);
        cr_assert(age_ms <= 2 * MEASURE__DAY_MS + slack_ms);
        next++;
    }
    cr_assert_eq(next, SAMPLES);
    cr_assert_lt(h->count, SAMPLES);
    measure_history_destroy(h);
}

/* --- kills --- */

#define KILLS 100

/* Adds samples twenty minutes apart, so that old ones are put together again
 * and again, and tells how many are there. */
static void add_until_killed(const char *file, atomic_ullong *added)
{
    measure__history_writer *w;

    if (measure__history_open(&w, file, &load))
        _exit(1);
    for (uint64_t i = *added;; i++) {
        int err = measure__history_add(
            w, START_MS + 20 * MINUTE_MS * (int64_t)i, value_at(i));
        /* what was written when it was killed, but not counted */
        if (err && err != PASTSET_EINVAL)
            _exit(2);
        *added = i + 1;
    }
}

Test(history, kills_lose_nothing, .timeout = 900)
{
    const char *file = scratch_file("a.history");
    atomic_ullong *added = mmap(NULL, sizeof(*added), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t samples = 0;
    measure_history *h;

    for (unsigned i = 0; i < KILLS; i++) {
        uint64_t until = *added + 1 + (i * 37) % 200;
        int status;
        pid_t pid = fork();
        if (pid == 0)
            add_until_killed(file, added);
        while (*added < until && waitpid(pid, &status, WNOHANG) == 0)
            sched_yield();
        cr_assert_geq(*added, until, "the child ended by itself");
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    h = history_read(file);
    for (size_t i = 0; i < h->count; i++)
        samples += h->rows[i].count;
    cr_assert(samples == *added || samples == *added + 1, "%llu of %llu",
              (unsigned long long)samples, (unsigned long long)*added);
    cr_assert(!h->torn);
    measure_history_destroy(h);
}

/* --- torn and damaged --- */

static void append(const char *file, const char *text)
{
    FILE *f = fopen(file, "a");

    fputs(text, f);
    fclose(f);
}

Test(history, a_torn_line_is_left_out_and_cut_off)
{
    const char *file = scratch_file("a.history");
    measure__history_writer *w = writer_open(file);
    measure_history *h;

    check_status(measure__history_add(w, START_MS, 0.5), 0);
    measure__history_close(w);
    append(file, "17642160050");
    h = history_read(file);
    cr_assert(h->torn);
    cr_assert_eq(h->count, 1);
    measure_history_destroy(h);
    w = writer_open(file);
    check_status(measure__history_add(w, START_MS + 60000, 0.25), 0);
    measure__history_close(w);
    h = history_read(file);
    cr_assert(!h->torn);
    cr_assert_eq(h->count, 2);
    cr_assert_eq(h->rows[1].value, 0.25);
    cr_assert(measure_history_is_gap(h, 1));
    measure_history_destroy(h);
}

#define HEAD                                                                   \
    "# eventspace history 1\n# series: a of b\n# unit: s\n"                    \
    "# interval: 1000 ms\n"

Test(history, damage_is_told_with_its_place)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "x is no history"},
        {"# eventspace history 2\n", "x is no history"},
        {"1,2\n", "x is no history"},
        {"# eventspace history 1\n1,2\n", "does not say what series"},
        {HEAD "1\n", "x:5: there are neither 2 fields"},
        {HEAD "1,2,3\n", "x:5: there are neither 2 fields"},
        {HEAD "1,2\n1,2\n", "x:6: it is of the same time"},
        {HEAD "2,2\n1,2\n", "x:6: it is earlier"},
        {HEAD "1,nan\n", "x:5: a field is not a number"},
        {HEAD "1,inf\n", "x:5: a field is not a number"},
        {HEAD "1,1e999\n", "x:5: a field is not a number"},
        {HEAD "1,-1e101\n", "x:5: a number is too large"},
        {HEAD "1,0x10\n", "x:5: a field is not a number"},
        {HEAD "1,\n", "x:5: a field is not a number"},
        {HEAD "1,2,\n", "x:5: a field is not a number"},
        {HEAD ",2\n", "x:5: a field is not a number"},
        {HEAD "\n", "x:5: a field is not a number"},
        {HEAD "1.5,2\n", "x:5: the time is not in whole"},
        {HEAD "-1,2\n", "x:5: the time is not in whole"},
        {HEAD "1e300,2\n", "x:5: the time is not in whole"},
        {HEAD "1,2,3,4,5,6,7,8\n", "x:5: there are more than 7 fields"},
        {HEAD "0,2,1000,0,0,1,3\n", "x:5: the mean is not between"},
        {HEAD "0,2,1000,2,-1,1,3\n", "x:5: the mean is not between"},
        {HEAD "0,5,1000,2,1,1,3\n", "x:5: the mean is not between"},
        {HEAD "0,2,0,2,1,1,3\n", "x:5: how long it lasts"},
        {HEAD "0,2,1000,2,1,1,3\n500,1\n", "x:6: it is earlier"},
        {HEAD "1,2\n1000,2,1000,2,1,1,3\n", "x:6: means stand behind"},
        {HEAD "# interval: 0 ms\n", "x:5: the interval is not"},
        {HEAD "# interval: 5s\n", "x:5: the interval is not"},
    };
    measure_history *h;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        check_status(measure_history_parse(&h, cases[i].text,
                                           strlen(cases[i].text), "x"),
                     PASTSET_EFORMAT);
        check_error(cases[i].says);
    }
}

Test(history, nobody_writes_into_other_files)
{
    const char *file = scratch_write("notes.txt", "my notes");
    measure__history_options latency = {"latency of n0-n1", "s", 5000};
    measure__history_writer *w;
    size_t bytes;
    char *text;

    check_status(measure__history_open(&w, file, &load), PASTSET_EFORMAT);
    check_error("is no history");
    text = file_read(file, &bytes);
    cr_assert_str_eq(text, "my notes");
    free(text);
    file = scratch_file("a.history");
    measure__history_close(writer_open(file));
    check_status(measure__history_open(&w, file, &latency), PASTSET_EFORMAT);
    check_error("is a history of availability of n0 in share, not of latency");
}

Test(history, one_process_writes)
{
    const char *file = scratch_file("a.history");
    measure__history_writer *w = writer_open(file), *other;

    check_status(measure__history_open(&other, file, &load), PASTSET_EAGAIN);
    check_error("is being written by another process");
    /* Also when a coarser copy has taken its place. */
    for (size_t i = 0; i < 4; i++)
        check_status(measure__history_add(
                         w, START_MS + 3 * MEASURE__DAY_MS * (int64_t)i, 1),
                     0);
    check_status(measure__history_open(&other, file, &load), PASTSET_EAGAIN);
    measure__history_close(w);
    measure__history_close(writer_open(file));
}

Test(history, what_is_no_sample_is_refused)
{
    measure__history_writer *w = writer_open(scratch_file("a.history"));

    check_status(measure__history_add(w, START_MS, (double)NAN),
                 PASTSET_EINVAL);
    check_status(measure__history_add(w, START_MS, (double)INFINITY),
                 PASTSET_EINVAL);
    check_status(measure__history_add(w, START_MS, 1), 0);
    check_status(measure__history_add(w, START_MS, 1), PASTSET_EINVAL);
    check_status(measure__history_add(w, START_MS - 2500, 1), PASTSET_EINVAL);
    check_error("the clock is 2.500 s behind the last sample");
    measure__history_close(w);
}

/* A minute apart, then five seconds: none of these is a gap, also when all are
 * put together. */
Test(history, each_row_has_its_interval)
{
    const char *file = scratch_file("a.history");
    measure__history_options slow = load;
    measure__history_writer *w;
    measure_history *h;
    int64_t at = START_MS;

    slow.interval_ms = 60000;
    check_status(measure__history_open(&w, file, &slow), 0);
    for (; at < START_MS + 2 * MEASURE__DAY_MS; at += 60000)
        check_status(measure__history_add(w, at, 1), 0);
    measure__history_close(w);
    w = writer_open(file);
    for (; at < START_MS + 3 * MEASURE__DAY_MS; at += 5000)
        check_status(measure__history_add(w, at, 2), 0);
    measure__history_close(w);
    h = history_read(file);
    cr_assert_gt(h->first_sample, 0);
    cr_assert_eq(measure_history_alike(h), h->first_sample);
    cr_assert_eq(h->rows[h->first_sample].interval_ms, 60000);
    cr_assert_eq(h->rows[h->count - 1].interval_ms, 5000);
    for (size_t i = 0; i < h->count; i++)
        cr_assert(!measure_history_is_gap(h, i), "%zu", i);
    measure_history_destroy(h);
}

/* Behind a mean there is no sample before its end. */
Test(history, a_mean_ends_before_the_next_sample)
{
    const char *file = scratch_write(
        "a.history", "# eventspace history 1\n# series: availability of n0\n"
                     "# unit: share\n# interval: 5000 ms\n"
                     "3600000,0.5,3600000,3,0,0.5,0.5\n");
    measure__history_writer *w = writer_open(file);

    check_status(measure__history_add(w, 7199999, 1), PASTSET_EINVAL);
    check_status(measure__history_add(w, INT64_MAX, 1), PASTSET_EINVAL);
    check_status(measure__history_add(w, 7200000, 1), 0);
    measure__history_close(w);
    measure_history_destroy(history_read(file));
}

Test(history, a_file_that_is_gone_is_told)
{
    const char *file = scratch_file("a.history");
    measure__history_writer *w = writer_open(file);

    check_status(measure__history_add(w, START_MS, 1), 0);
    unlink(file);
    check_status(measure__history_add(w, START_MS + 1, 1), PASTSET_EIO);
    check_error("has been removed or replaced");
    measure__history_close(w);
}

Test(history, a_pipe_is_no_history)
{
    const char *file = scratch_file("a.history");
    measure_history *h;

    mkfifo(file, 0600);
    check_status(measure_history_read(&h, file), PASTSET_EIO);
    check_error("is not a file");
}

/* A limit for files stands for a disk that is full. */
Test(history, a_full_disk_loses_no_line)
{
    const char *file = scratch_file("a.history");
    measure__history_writer *w = writer_open(file);
    struct rlimit before, limit;
    struct stat about;
    measure_history *h;

    signal(SIGXFSZ, SIG_IGN);
    check_status(measure__history_add(w, START_MS, 1), 0);
    stat(file, &about);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)about.st_size + 7; /* a part of a line */
    setrlimit(RLIMIT_FSIZE, &limit);
    check_status(measure__history_add(w, START_MS + 5000, 2), PASTSET_ENOSPC);
    setrlimit(RLIMIT_FSIZE, &before);
    check_status(measure__history_add(w, START_MS + 10000, 3), 0);
    measure__history_close(w);
    h = history_read(file);
    cr_assert_eq(h->count, 2);
    cr_assert_eq(h->rows[1].value, 3);
    measure_history_destroy(h);
}

/* --- of a certain time --- */

Test(history, has_a_value_for_as_long_as_it_is_fresh)
{
    static const char text[] = "# eventspace history 1\n"
                               "# series: availability of n0\n"
                               "# unit: share\n"
                               "# interval: 1000 ms\n"
                               "100000,0.25,60000,12,0.01,0.2,0.3\n"
                               "160000,0.5\n"
                               "161000,0.75\n"
                               "161500,0.25\n"
                               "200000,0.125\n";
    static const struct {
        int64_t from, to;
        double value;
    } expected[] = {
        {99000, 99500, NAN},
        {100000, 101000, 0.25},
        {159000, 160000, 0.25},
        {160000, 160500, 0.5},
        {160500, 161000, 0.5},
        {161000, 162000, 0.5},
        {161200, 161300, 0.75},
        {162900, 163000, 0.25},
        {163100, 163200, NAN},
        {199999, 200001, 0.125},
        {200500, 201000, 0.125},
        {203000, 204000, NAN}, /* a gap is none */
        {1000000000, 1000000001, NAN},
    };
    measure_history *h;

    check_status(measure_history_parse(&h, text, strlen(text), "text"), 0);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        double value =
            measure_history_value(h, expected[i].from, expected[i].to);
        cr_expect(isnan(expected[i].value)
                      ? isnan(value)
                      : fabs(value - expected[i].value) < 1e-12,
                  "%lld: %g", (long long)expected[i].from, value);
    }
    measure_history_destroy(h);
}

/* From each time on, the rows of a long file are the same as those of all of
 * it; and of a late time, few are read. */
Test(history, is_read_from_a_time_on)
{
    const char *file = scratch_file("long.history");
    FILE *out = fopen(file, "w");
    measure_history *all, *part;
    size_t rows = 40000, first;

    cr_assert(out);
    fputs("# eventspace history 1\n# series: availability of n0\n"
          "# unit: share\n# interval: 5000 ms\n",
          out);
    for (size_t i = 0; i < rows; i++) {
        if (i == rows / 2)
            fputs("# interval: 1000 ms\n", out);
        fprintf(out, "%lld,%.9g\n", START_MS + 5000 * (long long)i,
                value_at(i));
    }
    fputs("17642", out); /* torn */
    cr_assert_eq(fclose(out), 0);
    all = history_read(file);
    cr_assert_eq(all->count, rows);
    for (size_t from = 0; from <= rows; from += from < 10 ? 1 : 997) {
        int64_t from_ms = START_MS + 5000 * (int64_t)from;
        check_status(measure_history_read_since(&part, file, from_ms), 0);
        cr_expect(part->torn);
        first = all->count - part->count;
        cr_assert_leq(first, from);
        cr_assert(first == 0 || all->rows[first].time_ms <= from_ms);
        cr_expect_str_eq(part->series, all->series);
        for (size_t i = 0; i < part->count; i++) {
            cr_assert_eq(part->rows[i].time_ms, all->rows[first + i].time_ms);
            cr_assert_float_eq(part->rows[i].value, all->rows[first + i].value,
                               0);
        }
        if (from == rows)
            cr_expect_lt(part->count, 4000);
        measure_history_destroy(part);
    }
    measure_history_destroy(all);
    /* What is wrong is told by its line in the file. */
    out = fopen(file, "r+");
    cr_assert(out);
    cr_assert_eq(fseek(out, -40, SEEK_END), 0);
    fputs("\nx\n", out);
    fclose(out);
    check_status(measure_history_read_since(&part, file, INT64_MAX),
                 PASTSET_EFORMAT);
    cr_expect(strstr(pastset_error(), "long.history:40005: "), "%s",
              pastset_error());
}
