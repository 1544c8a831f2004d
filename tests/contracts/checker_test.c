/* checker_test.c - contracts as texts, and against runs that are made up here
 * interval by interval, of which it is known what is wrong with them. */
#include "contracts/check/checker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "predict/cluster/cluster_internal.h"
#include "tests/support/check.h"

#define TEXT                                                                   \
    "interval 0.5;\ntolerance 0.1;\nviolated 3;\n"                             \
    "metric intrinsic size = bytes / operations;\n"                            \
    "metric performance rate = operations / seconds;\n"                        \
    "class intrinsic of \"p0\" (100) deviates (1) seen 10;\n"                  \
    "class intrinsic of \"p1\" (100) deviates (1) seen 10;\n"                  \
    "class intrinsic of \"p1\" (300) deviates (1) seen 10;\n"                  \
    "class intrinsic of \"p2\" (100) deviates (1) seen 10;\n"                  \
    "class performance of \"p0\" (1000) deviates (10) seen 10;\n"              \
    "class performance of \"p1\" (1000) deviates (10) seen 10;\n"              \
    "class performance of \"p2\" (1000) deviates (10) seen 10;\n"              \
    "class performance of all (1000) deviates (10) seen 10;\n"                 \
    "project \"p2\" rate by 0.5;\n"                                            \
    "usual \"p0\" computing 0.0005 ready 0 sleeping 0 waiting 0.0002 "         \
    "transfer 0.0003;\n"                                                       \
    "usual \"p0\" with \"p1\" waiting 0.00015 transfer 0.0001;\n"              \
    "usual \"p0\" with \"p2\" waiting 5e-05 transfer 0.0002;\n"                \
    "usual \"p1\" computing 0.0005 ready 0 sleeping 0 waiting 0.0002 "         \
    "transfer 0.0003;\n"                                                       \
    "usual \"p2\" computing 0.0005 ready 0 sleeping 0 waiting 0.0002 "         \
    "transfer 0.0003;\n"

static contracts_contract *contract_of(const char *text)
{
    contracts_contract *c;

    check_status(contracts__contract_parse(&c, text, "text"), 0);
    return c;
}

static char *text_of(const contracts_contract *c)
{
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    cr_assert_not_null(out);
    check_status(contracts_contract_print(c, out), 0);
    fclose(out);
    return text;
}

Test(contract, is_printed_as_it_was_read, .timeout = 60)
{
    contracts_contract *c = contract_of(TEXT);
    char *text = text_of(c);

    cr_assert_str_eq(text, TEXT);
    cr_assert_eq(c->class_count, 8);
    cr_assert_eq(c->sizes[CONTRACTS_INTRINSIC], 1);
    free(text);
    contracts_contract_destroy(c);
}

Test(contract, is_refused_where_it_is_wrong, .timeout = 60)
{
    static const char *const wrong[][2] = {
        {"", "text: there is no metric in it"},
        {"interval 0;", "text:1:10: an interval is of"},
        {"interval 1", "expected \";\", not the end of the file"},
        {"tolerance -1;", "text:1:11: a tolerance is above 0"},
        {"violated 0;", "text:1:10: violated after"},
        {"promise 3;", "text:1:1: expected interval, tolerance"},
        {"rules \"no/such.rules\";", "cannot open no/such.rules"},
        {"rules \"a\nb\";", "1:7: a quotation mark is missing in this line"},
        {"class intrinsic of all (1) deviates (1) seen 3;",
         "1:17: there are no intrinsic metrics before this class"},
        {"metric intrinsic a = bytes;\nclass intrinsic of p0 (1)",
         "2:20: expected a process in quotation marks, or all"},
        {"metric intrinsic a = bytes;\nclass intrinsic of all (1, 2)",
         "2:26: expected \")\""},
        {"metric intrinsic a = bytes;\nclass intrinsic of all (1) deviates "
         "(-1)",
         "2:38: a deviation is not below 0"},
        {"metric intrinsic a = bytes;\n"
         "class intrinsic of all (1) deviates (1) seen 3;\n"
         "metric intrinsic b = bytes;",
         "3:8: metrics come before classes"},
        {"metric intrinsic a = bytes;\nproject \"p\" a by 2;",
         "2:13: an intrinsic metric is the same everywhere"},
        {"metric performance a = bytes;\nproject \"p\" a by 0;",
         "2:18: a factor of a projection is above 0"},
        {"metric performance a = bytes;\nproject \"p\" b by 1;",
         "2:13: expected the name of a metric"},
        {"metric performance a = bytes;\n"
         "class performance of all (1) deviates (1) seen 3 with 1;",
         "2:55: there is no intrinsic class of this number before it"},
        {"metric intrinsic a = bytes;\nmetric performance b = bytes;\n"
         "class intrinsic of all (1) deviates (1) seen 3;\n"
         "class intrinsic of all (2) deviates (1) seen 3;\n"
         "class performance of all (1) deviates (1) seen 3 with 1.5;",
         "5:55: there is no intrinsic class of this number before it"},
        {"metric intrinsic a = bytes;\n"
         "class intrinsic of all (1) deviates (1) seen 3 with none;",
         "only classes of performance are with others"},
        {"cluster \"no.dot\";", "no.dot: cannot open it"},
        {"cluster no;", "1:9: expected a file in quotation marks"},
        {"usual \"p\" waiting -1;", "1:19: a time is not below 0"},
        {"group x", "1:7: expected a group in quotation marks"},
        {"group \"a\" \"b\";", "1:11: expected of"},
        {"group \"\" of \"b\";", "1:13: the group  of b cannot be written"},
        {"group \"a\" of ;", "1:14: expected a process in quotation marks"},
        {"usual \"p\" resting 1;", "1:11: expected \";\""},
        {"usual \"p\" with \"q\" waiting 1;",
         "1:16: what is usual with others comes right behind"},
        {"usual \"p\" waiting 1;\nusual \"p\" with \"q\" computing 1;",
         "2:20: expected \";\""},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        contracts_contract *c;
        check_status(contracts__contract_parse(&c, wrong[i][0], "text"),
                     strstr(wrong[i][1], "cannot open") ? PASTSET_EIO
                                                        : PASTSET_EFORMAT);
        cr_assert_null(c);
        check_error(wrong[i][1]);
    }
}

/* --- runs that are made up --- */

#define PROCESSES 3
#define INTERVALS 12

static const char *const names[] = {"p0", "p1", "p2"};

static contracts_course *course_made(void)
{
    contracts_course *c = calloc(1, sizeof(*c));

    c->interval_ns = 500000000;
    c->intervals = INTERVALS;
    c->processes = PROCESSES;
    c->width = CONTRACTS_QUANTITIES;
    c->quantities = calloc(PROCESSES * INTERVALS * CONTRACTS_QUANTITIES,
                           sizeof(*c->quantities));
    return c;
}

/* So many operations in an interval, each of which takes so long. */
static void interval_set(const contracts_course *c, uint32_t process,
                         size_t interval, double operations, double bytes,
                         double computing, double ready, double waiting,
                         double transfer)
{
    double *q = contracts_course_at(c, process, interval);

    q[CONTRACTS_SECONDS] = 0.5;
    q[CONTRACTS_THREADS] = 1;
    q[CONTRACTS_OPERATIONS] = q[CONTRACTS_MESSAGES] = operations;
    q[CONTRACTS_BYTES] = operations * bytes;
    q[CONTRACTS_COMPUTING] = operations * (computing + ready);
    q[CONTRACTS_CPU] = operations * computing;
    q[CONTRACTS_READY] = operations * ready;
    q[CONTRACTS_WAITING] = operations * waiting;
    q[CONTRACTS_COMMUNICATING] = operations * (waiting + transfer);
}

static void all_well(const contracts_course *c)
{
    for (size_t i = 0; i < INTERVALS; i++)
        for (uint32_t p = 0; p < PROCESSES; p++)
            interval_set(c, p, i, p == 2 ? 250 : 500, 100, p == 2 ? 1e-3 : 5e-4,
                         0, p == 2 ? 4e-4 : 2e-4, p == 2 ? 6e-4 : 3e-4);
}

/* They are added in their order. */
static void between_add(contracts_course *c, size_t interval, uint32_t process,
                        uint32_t other, double waiting, double transfer)
{
    c->betweens =
        realloc(c->betweens, (c->between_count + 1) * sizeof(*c->betweens));
    c->betweens[c->between_count++] =
        (contracts_between){interval, process, other, waiting, transfer};
}

static void wait_add(contracts_course *c, size_t interval, uint32_t process,
                     uint32_t other, double seconds)
{
    between_add(c, interval, process, other, seconds, 0);
}

typedef struct checked_course {
    contracts_contract *contract;
    contracts_checker *checker;
    contracts_course *course;
} checked_course;

static checked_course begin(void)
{
    checked_course k = {.contract = contract_of(TEXT), .course = course_made()};

    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    return k;
}

static const contracts_judgement *next_of(checked_course *k, size_t interval)
{
    const contracts_judgement *j;

    check_status(contracts_checker_next(k->checker, &j, k->course, interval),
                 0);
    return j;
}

static void end(checked_course *k)
{
    contracts_checker_destroy(k->checker);
    contracts_contract_destroy(k->contract);
    contracts_course_destroy(k->course);
}

Test(checker, has_nothing_to_say_while_all_is_well, .timeout = 60)
{
    checked_course k = begin();

    /* Another class; faster than promised. */
    interval_set(k.course, 1, 5, 500, 300, 5e-4, 0, 2e-4, 3e-4);
    interval_set(k.course, 0, 6, 5000, 100, 5e-5, 0, 2e-5, 3e-5);
    for (size_t i = 0; i < INTERVALS; i++) {
        const contracts_judgement *j = next_of(&k, i);
        for (uint32_t p = 0; p < PROCESSES; p++) {
            for (int kind = 0; kind < CONTRACTS_KINDS; kind++)
                cr_assert_float_eq(j[p].levels[kind].level, 0, 1e-12,
                                   "process %u, interval %zu", p, i);
            cr_assert_eq(j[p].cause, CONTRACTS_NO_CAUSE);
        }
        /* p2 is expected to be half as fast: that is no fault of all. */
        cr_assert_float_eq(j[PROCESSES].levels[CONTRACTS_PERFORMANCE].level, 0,
                           1e-12);
        cr_assert(isnan(j[PROCESSES].levels[CONTRACTS_INTRINSIC].level));
    }
    end(&k);
}

/* What is done at the end, which takes longer, is no promise for the rest. */
Test(checker, promises_a_rate_with_what_is_done_then, .timeout = 60)
{
    static const char text[] =
        "interval 0.5;\ntolerance 0.1;\nviolated 1;\n"
        "metric intrinsic size = bytes / operations;\n"
        "metric performance rate = operations / seconds;\n"
        "class intrinsic of \"p0\" (100) deviates (1) seen 90;\n"
        "class intrinsic of \"p0\" (0) deviates (0) seen 10;\n"
        "class performance of \"p0\" (1000) deviates (10) seen 90 with 1;\n"
        "class performance of \"p0\" (480) deviates (10) seen 10 with 2;\n"
        "class performance of \"p0\" (300) deviates (1) seen 3 with none;\n";
    static const struct {
        double operations, bytes, expected;
        bool is_violated;
    } intervals[] = {
        {500, 100, 1000, false}, {240, 100, 1000, true}, {240, 0, 480, false},
        {600, 0, 480, false},    {150, 0, 480, true},    {150, 100, 1000, true},
        {150, 50, 300, false}, /* it does something else */
    };
    checked_course k = {.contract = contract_of(text), .course = course_made()};
    char *printed = text_of(k.contract);

    cr_assert_str_eq(printed, text);
    free(printed);
    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
        const contracts_level *level;
        interval_set(k.course, 0, i, intervals[i].operations,
                     intervals[i].bytes, 5e-4, 0, 2e-4, 3e-4);
        level = &next_of(&k, i)->levels[CONTRACTS_PERFORMANCE];
        cr_assert_float_eq(level->expected, intervals[i].expected, 1e-9,
                           "interval %zu: %g", i, level->expected);
        cr_assert_eq(level->is_violated, intervals[i].is_violated,
                     "interval %zu", i);
    }
    end(&k);
}

/* At the end something is done in too few intervals, or too unsteadily, for a
 * rate to be promised: that of another phase is none for it. */
Test(checker, promises_no_rate_of_what_was_done_unsteadily, .timeout = 60)
{
    checked_course k = {
        .contract = contract_of(
            "interval 0.5;\ntolerance 0.1;\nviolated 1;\n"
            "metric intrinsic size = bytes / operations;\n"
            "metric performance rate = operations / seconds;\n"
            "class intrinsic of \"p0\" (100) deviates (1) seen 90;\n"
            "class intrinsic of \"p0\" (7) deviates (0) seen 4;\n"
            "class performance of \"p0\" (1000) deviates (10) seen 90 with "
            "1;\n"),
        .course = course_made()};
    const contracts_level *level;

    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    interval_set(k.course, 0, 0, 200, 7, 5e-4, 0, 2e-4, 3e-4);
    interval_set(k.course, 0, 1, 200, 100, 5e-4, 0, 2e-4, 3e-4);
    level = &next_of(&k, 0)->levels[CONTRACTS_PERFORMANCE];
    cr_assert(isnan(level->level));
    cr_assert(!level->is_violated);
    cr_assert(next_of(&k, 1)->levels[CONTRACTS_PERFORMANCE].is_violated);
    /* Where nothing ends, it is what ends next that is done. */
    for (size_t i = 2; i < 8; i++)
        interval_set(k.course, 0, i, 0, 0, 0, 0, 0, 0);
    interval_set(k.course, 0, 4, 2, 7, 5e-4, 0, 2e-4, 3e-4);
    interval_set(k.course, 0, 6, 2, 100, 5e-4, 0, 2e-4, 3e-4);
    for (size_t i = 2; i < 7; i++) {
        level = &next_of(&k, i)->levels[CONTRACTS_PERFORMANCE];
        cr_assert_eq(isnan(level->level), i <= 4, "interval %zu", i);
        cr_assert_eq(level->is_violated, i > 4, "interval %zu", i);
    }
    end(&k);
}

/* A contract that is made of the course has these lines. */
static void expect_learnt(const checked_course *k, const char *wanted)
{
    contracts_signature *signature;
    char *text;

    check_status(
        contracts_contract_signature(&signature, k->contract, k->course, names),
        0);
    check_status(
        contracts_contract_learn(
            k->contract, &(contracts_example){k->course, signature, names}, 1),
        0);
    text = text_of(k->contract);
    cr_assert(strstr(text, wanted), "%s", text);
    free(text);
    contracts_signature_destroy(signature);
}

/* A run that gathers its result in the last third. */
Test(contract, learns_with_what_a_rate_was_seen, .timeout = 60)
{
    static const char wanted[] =
        "class intrinsic of \"p0\" (100) deviates (0) seen 8;\n"
        "class intrinsic of \"p0\" (0) deviates (0) seen 4;\n"
        "class performance of \"p0\" (1000) deviates (0) seen 8 with 1;\n"
        "class performance of \"p0\" (400) deviates (0) seen 4 with 2;\n";
    checked_course k = {.contract = contract_of(TEXT), .course = course_made()};

    all_well(k.course);
    for (size_t i = 8; i < INTERVALS; i++)
        interval_set(k.course, 0, i, 200, 0, 5e-4, 0, 2e-4, 3e-4);
    expect_learnt(&k, wanted);
    end(&k);
}

/* What no run has enough of is promised by several, of which one has another
 * process before its first one; whom it waits for is told by name. */
Test(contract, learns_of_several_runs_together, .timeout = 60)
{
    static const char *const shifted[PROCESSES] = {"p9", "p0", "p1"};
    static const char *const wanted[] = {
        "class intrinsic of \"p0\" (100) deviates (0) seen 20;\n"
        "class intrinsic of \"p0\" (0) deviates (0) seen 4;\n"
        "class performance of \"p0\" (1000) deviates (0) seen 20 with 1;\n"
        "class performance of \"p0\" (400) deviates (0) seen 4 with 2;\n",
        "class intrinsic of \"p9\" (100) ",
        "class performance of all (633.333333) deviates (0) seen 4 with 2;\n",
        /* 10.8 s, of 20 intervals with 500 operations and 4 with 200 */
        "usual \"p0\" with \"p1\" waiting 0.001 transfer 0;\n"};
    checked_course k = {.contract = contract_of(TEXT), .course = course_made()};
    contracts_course *other = course_made();
    contracts_example runs[2] = {{k.course, NULL, names},
                                 {other, NULL, shifted}};
    contracts_signature *signatures[2];
    char *text;

    wait_add(other, 3, 1, 2, 10.8);
    all_well(k.course);
    all_well(other);
    for (size_t i = 10; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 200, 0, 5e-4, 0, 2e-4, 3e-4);
        interval_set(other, 1, i, 200, 0, 5e-4, 0, 2e-4, 3e-4);
    }
    for (size_t i = 0; i < 2; i++) {
        check_status(contracts_signature_make(
                         &signatures[i], k.contract->metrics, runs[i].course),
                     0);
        runs[i].signature = signatures[i];
    }
    check_status(contracts_contract_learn(k.contract, runs, 2), 0);
    text = text_of(k.contract);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        cr_assert(strstr(text, wanted[i]), "%s%s", wanted[i], text);
    free(text);
    contracts_signature_destroy(signatures[0]);
    contracts_signature_destroy(signatures[1]);
    contracts_course_destroy(other);
    end(&k);
}

/* What is gathered at the end takes several intervals at a time. */
Test(contract, learns_that_what_takes_long_is_one_thing, .timeout = 60)
{
    static const char wanted[] =
        /* 4 without an operation, and 3 with 2 a second */
        "class performance of \"p0\" (0.857142857) deviates (0.989743319) "
        "seen 7 with 2;\n";
    checked_course k = {.contract = contract_of(TEXT), .course = course_made()};

    all_well(k.course);
    for (size_t i = 5; i < INTERVALS; i++) {
        bool is_end = i == 7 || i == 9 || i == 11;
        interval_set(k.course, 0, i, is_end ? 1 : 0, is_end ? 7 : 0, 0, 0, 0,
                     0.1);
    }
    expect_learnt(&k, wanted);
    end(&k);
}

#define PAIR                                                                   \
    "group \"pair\" of \"p0\", \"p2\", \"elsewhere\";\n"                       \
    "class performance of \"pair\" (1000) deviates (10) seen 10;\n"

/* The mean of some is judged as that of all is; p2 is projected. */
Test(checker, judges_groups, .timeout = 60)
{
    static const char *const rows[] = {"p0", "p1", "p2", "all", "pair"};
    contracts_contract *contract = contract_of(TEXT PAIR);
    checked_course k = {.contract = contract, .course = course_made()};
    char *text = text_of(contract);

    cr_assert(
        strstr(text, "group \"pair\" of \"p0\", \"p2\", \"elsewhere\";\n"));
    cr_assert(
        strstr(text, "class performance of \"pair\" (1000) deviates (10)"));
    free(text);
    check_status(
        contracts_checker_create(&k.checker, contract, names, PROCESSES), 0);
    cr_assert_eq(contracts_checker_rows(k.checker), 5);
    for (uint32_t row = 0; row < 5; row++)
        cr_assert_str_eq(contracts_checker_name(k.checker, row), rows[row]);
    cr_assert(contracts_checker_knows(k.checker, 4));
    all_well(k.course);
    for (size_t i = 1; i < 5; i++) { /* one that is not in it */
        interval_set(k.course, 1, i, 100, 100, 5e-4, 1e-3, 2e-4, 3e-4);
        if (i > 1)
            interval_set(k.course, 2, i, 50, 100, 1e-3, 2e-3, 4e-4, 6e-4);
    }
    for (size_t i = 0; i < 5; i++) {
        const contracts_judgement *j = next_of(&k, i);
        const contracts_level *level = &j[4].levels[CONTRACTS_PERFORMANCE];
        cr_assert(isnan(j[4].levels[CONTRACTS_INTRINSIC].level));
        cr_assert_float_eq(level->value, i > 1 ? (1000 + 200) / 2.0 : 1000,
                           1e-9);
        cr_assert_float_eq(level->level, i > 1, 1e-9);
        cr_assert_eq(level->is_violated, i > 3);
        cr_assert_eq(j[4].cause,
                     i > 3 ? CONTRACTS_PROCESSOR : CONTRACTS_NO_CAUSE);
        cr_assert_eq(j[4].link, CONTRACTS_NONE);
    }
    end(&k);
}

Test(checker, refuses_a_group_with_the_name_of_a_process, .timeout = 60)
{
    contracts_contract *c = contract_of(TEXT "group \"p1\" of \"p0\";");
    contracts_checker *checker;

    check_status(contracts_checker_create(&checker, c, names, PROCESSES),
                 PASTSET_EINVAL);
    check_error("the group p1 of the contract has the name of a process");
    cr_assert_null(checker);
    contracts_contract_destroy(c);
}

/* Nobody is left of it. */
Test(checker, does_not_judge_a_group_that_is_elsewhere, .timeout = 60)
{
    contracts_contract *c = contract_of(
        TEXT "group \"away\" of \"q0\";\n"
             "class performance of \"away\" (1000) deviates (10) seen 10;\n");
    checked_course k = {.contract = c, .course = course_made()};

    check_status(contracts_checker_create(&k.checker, c, names, PROCESSES), 0);
    cr_assert(!contracts_checker_knows(k.checker, 4));
    all_well(k.course);
    cr_assert(isnan(next_of(&k, 0)[4].levels[CONTRACTS_PERFORMANCE].level));
    end(&k);
}

/* Of a group that the metrics' file has. */
Test(contract, learns_of_a_group, .timeout = 60)
{
    checked_course k = {
        .contract = contract_of(
            "interval 0.5;\nmetric performance rate = operations / seconds;\n"
            "group \"pair\" of \"p0\", \"p2\";\n"),
        .course = course_made()};

    all_well(k.course);
    expect_learnt(
        &k, "class performance of \"pair\" (750) deviates (0) seen 12;\n");
    end(&k);
}

/* One that is never twice alike has no class, and is in no mean: neither when
 * it is learnt nor when it is checked. */
Test(contract, takes_the_mean_of_those_that_it_is_about, .timeout = 60)
{
    checked_course k = {.contract = contract_of(
                            "interval 0.5;\nviolated 1;\n"
                            "metric performance rate = operations / seconds;\n"
                            "group \"pair\" of \"p0\", \"p2\";\n"),
                        .course = course_made()};

    all_well(k.course);
    for (size_t i = 0; i < INTERVALS; i++) {
        double operations = 100 * pow(2, (double)i);
        interval_set(k.course, 2, i, operations, 100, 1e-6, 0, 0, 0);
    }
    expect_learnt(&k, "class performance of all (1000) deviates "
                      "(1.13686838e-13) seen 12;\n"
                      "class performance of \"pair\" (1000) deviates ");
    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    for (size_t i = 0; i < INTERVALS; i++) {
        const contracts_judgement *j = next_of(&k, i);
        for (uint32_t row = PROCESSES; row < PROCESSES + 2; row++)
            cr_assert_eq(j[row].levels[CONTRACTS_PERFORMANCE].level, 0,
                         "row %u, interval %zu: %g", row, i,
                         j[row].levels[CONTRACTS_PERFORMANCE].level);
    }
    end(&k);
}

/* It has other classes, but of one metric no value: the mean is without it. */
Test(checker, takes_the_mean_of_those_that_have_classes_of_a_kind,
     .timeout = 60)
{
    checked_course k = {
        .contract = contract_of(
            "interval 0.5;\nviolated 1;\n"
            "metric intrinsic size = bytes / operations;\n"
            "metric performance met = rounds / rounds * operations;\n"
            "class intrinsic of \"p0\" (100) deviates (1) seen 9;\n"
            "class intrinsic of \"p1\" (100) deviates (1) seen 9;\n"
            "class performance of \"p0\" (500) deviates (1) seen 9;\n"
            "class performance of all (500) deviates (1) seen 9;\n"),
        .course = course_made()};

    all_well(k.course);
    for (size_t i = 0; i < INTERVALS; i++)
        contracts_course_at(k.course, 0, i)[CONTRACTS_ROUNDS] = 1;
    interval_set(k.course, 0, 1, 50, 100, 5e-4, 0, 2e-4, 3e-4);
    contracts_course_at(k.course, 0, 1)[CONTRACTS_ROUNDS] = 1;
    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    for (size_t i = 0; i < 2; i++) {
        const contracts_level *level =
            &next_of(&k, i)[PROCESSES].levels[CONTRACTS_PERFORMANCE];
        cr_assert_float_eq(level->level, i, 1e-9, "%g", level->level);
    }
    end(&k);
}

/* Another contract of the same processes: what was off stays off, and is
 * violated when it has been so for long enough. */
Test(checker, goes_on_where_another_was, .timeout = 60)
{
    checked_course k = begin();
    contracts_contract *other = contract_of(TEXT PAIR);
    contracts_checker *next;

    for (size_t i = 0; i < 3; i++)
        interval_set(k.course, 0, i, 50, 100, 5e-4, 1e-3, 2e-4, 3e-4);
    next_of(&k, 0);
    cr_assert(!next_of(&k, 1)->levels[CONTRACTS_PERFORMANCE].is_violated);
    check_status(contracts_checker_create(&next, other, names, PROCESSES), 0);
    contracts_checker_continue(next, k.checker);
    contracts_checker_destroy(k.checker);
    k.checker = next;
    cr_assert(next_of(&k, 2)->levels[CONTRACTS_PERFORMANCE].is_violated);
    cr_assert(!next_of(&k, 3)->levels[CONTRACTS_PERFORMANCE].is_violated);
    contracts_contract_destroy(k.contract);
    k.contract = other;
    end(&k);
}

/* Bytes come with operations: where none ends, with those that end next, or
 * have ended last. */
Test(checker, allows_for_the_bytes_of_an_operation, .timeout = 60)
{
    static const double operations[] = {2, 0, 2, 0, 0};
    checked_course k = {
        .contract = contract_of(
            "interval 0.5;\ntolerance 0.1;\nviolated 3;\n"
            "metric performance sent = bytes / seconds;\n"
            "class performance of \"p0\" (400) deviates (0) seen 10;\n"),
        .course = course_made()};

    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    for (size_t i = 0; i < INTERVALS; i++)
        interval_set(k.course, 0, i, i < 5 ? operations[i] : 0, 100, 0, 0, 0,
                     0);
    for (size_t i = 0; i < 5; i++) { /* 200 a second are one operation */
        const contracts_level *level =
            &next_of(&k, i)->levels[CONTRACTS_PERFORMANCE];
        cr_assert_float_eq(level->distance, operations[i] > 0 ? 0 : 2, 1e-9,
                           "interval %zu: %g", i, level->distance);
    }
    end(&k);
}

/* Two a second is what one operation makes of half a second: 5 are promised. */
Test(checker, allows_for_what_is_counted_in_whole_numbers, .timeout = 60)
{
    static const double operations[] = {5, 4, 2, 1, 0};
    static const double levels[] = {0, 0, 0, 0.364, 0.636};
    checked_course k = {
        .contract = contract_of(
            "interval 0.5;\ntolerance 0.1;\nviolated 3;\n"
            "metric performance rate = operations / seconds;\n"
            "metric performance cells = 100 * computing / seconds;\n"
            "class performance of \"p0\" (10, 50) deviates (0, 0) seen 10;\n"),
        .course = course_made()};

    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    for (size_t i = 0; i < 5; i++) {
        const contracts_level *level;
        interval_set(k.course, 0, i, operations[i], 100, 0, 0, 0, 0);
        contracts_course_at(k.course, 0, i)[CONTRACTS_COMPUTING] = 0.25;
        level = &next_of(&k, i)->levels[CONTRACTS_PERFORMANCE];
        cr_assert_float_eq(level->level, levels[i], 5e-4, "%g of %g",
                           level->level, operations[i]);
    }
    /* What is no number of operations is not allowed for. */
    interval_set(k.course, 0, 5, 5, 100, 0, 0, 0, 0);
    contracts_course_at(k.course, 0, 5)[CONTRACTS_COMPUTING] = 0.2;
    cr_assert_float_eq(next_of(&k, 5)->levels[CONTRACTS_PERFORMANCE].level, 1,
                       1e-9);
    end(&k);
}

/* The tolerance is 3 units: a rate of 865 is 4.05 off, of 850 4.5, of 800 6. */
Test(checker, has_the_levels_of_the_rulebase, .timeout = 60)
{
    static const double rates[] = {900,
                                   1000 - 350 / 3.0,
                                   1000 - 400 / 3.0,
                                   850,
                                   1000 - 500 / 3.0,
                                   1000 - 550 / 3.0,
                                   800,
                                   1};
    static const double levels[] = {0, 0.207, 0.364, 0.5, 0.636, 0.793, 1, 1};
    checked_course k = begin();

    for (size_t i = 0; i < 8; i++) {
        const contracts_level *level;
        interval_set(k.course, 0, i, rates[i] / 2, 100, 5e-4, 1e-4, 2e-4, 3e-4);
        level = &next_of(&k, i)->levels[CONTRACTS_PERFORMANCE];
        cr_assert_float_eq(level->level, levels[i], 5e-4, "%g of %g",
                           level->level, rates[i]);
        cr_assert_float_eq(level->value, rates[i], 1e-9);
        cr_assert_float_eq(level->expected, 1000, 1e-9);
        cr_assert_eq(level->metric, 1);
    }
    end(&k);
}

/* From the third interval on, until one is kept; one of which nothing is known
 * is no end of it. */
Test(checker, finds_it_violated_after_as_many_intervals, .timeout = 60)
{
    static const bool slow[INTERVALS] = {0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1};
    static const bool want[INTERVALS] = {0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0};
    checked_course k = begin();

    for (size_t i = 0; i < INTERVALS; i++) {
        const contracts_judgement *j;
        if (slow[i])
            interval_set(k.course, 0, i, 250, 100, 5e-4, 1e-3, 2e-4, 3e-4);
        if (i == 7)
            contracts_course_at(k.course, 0, i)[CONTRACTS_OPERATIONS] = NAN;
        j = next_of(&k, i);
        cr_assert_eq(j->levels[CONTRACTS_PERFORMANCE].is_violated, want[i],
                     "interval %zu", i);
        cr_assert_eq(j->cause,
                     want[i] ? CONTRACTS_PROCESSOR : CONTRACTS_NO_CAUSE);
    }
    end(&k);
}

static const contracts_judgement *judged(checked_course *k)
{
    const contracts_judgement *j = NULL;

    for (size_t i = 0; i < INTERVALS; i++)
        j = next_of(k, i);
    return j;
}

/* p1 waits for p0, whose processor others have, and p2 for p1. */
Test(checker, does_not_accuse_who_waits, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 100, 5e-4, 1e-3, 2e-4, 3e-4);
        interval_set(k.course, 1, i, 250, 100, 5e-4, 0, 1.2e-3, 3e-4);
        interval_set(k.course, 2, i, 125, 100, 1e-3, 0, 2.4e-3, 6e-4);
        wait_add(k.course, i, 1, 0, 0.2);
        wait_add(k.course, i, 1, 2, 0.1);
        wait_add(k.course, i, 2, 1, 0.3);
    }
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_PROCESSOR);
    cr_assert_eq(j[1].cause, CONTRACTS_WAITS);
    cr_assert_eq(j[1].other, 0);
    cr_assert_eq(j[2].cause, CONTRACTS_WAITS);
    cr_assert_eq(j[2].other, 0);
    cr_assert_eq(j[PROCESSES].cause, CONTRACTS_PROCESSOR);
    for (uint32_t p = 0; p < PROCESSES; p++)
        cr_assert(!j[p].levels[CONTRACTS_INTRINSIC].is_violated);
    end(&k);
}

/* p0 always waits longest for p1, and communicates longest with p2; what has
 * grown is for p2, and with p1. */
Test(checker, goes_by_what_has_grown, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        bool waits = i < INTERVALS / 2;
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, waits ? 3.5e-4 : 2e-4,
                     waits ? 3e-4 : 4.5e-4);
        between_add(k.course, i, 0, 1, 250 * 1.6e-4,
                    250 * (waits ? 1e-4 : 2.4e-4));
        between_add(k.course, i, 0, 2, 250 * (waits ? 1.5e-4 : 4e-5),
                    250 * 2.1e-4);
        j = next_of(&k, i);
        if (j->levels[CONTRACTS_PERFORMANCE].is_violated) {
            cr_assert_eq(j->cause, waits ? CONTRACTS_WAITS : CONTRACTS_LINK);
            cr_assert_eq(j->other, waits ? 2 : 1);
        }
    }
    cr_assert(j->levels[CONTRACTS_PERFORMANCE].is_violated);
    end(&k);
}

/* The network of p1 is not slow: p1 has no processor to answer by. It violates
 * nothing, as it is expected to be as slow as that. */
Test(checker, does_not_accuse_the_link_to_who_has_no_processor, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 2e-4, 1.3e-3);
        interval_set(k.course, 1, i, 480, 100, 5e-4, 9e-4, 2e-4, 3e-4);
        between_add(k.course, i, 0, 1, 0, 250 * 1.2e-3);
    }
    j = judged(&k);
    cr_assert(!j[1].levels[CONTRACTS_PERFORMANCE].is_violated);
    cr_assert_eq(j[1].cause, CONTRACTS_NO_CAUSE);
    cr_assert_eq(j[0].cause, CONTRACTS_WAITS);
    cr_assert_eq(j[0].other, 1);
    end(&k);
}

static predict_cluster *cluster_made(void)
{
    static const char text[] =
        "digraph { s0 [kind=switch]; core [kind=switch]; s1 [kind=switch];"
        "p0; p1; p2;"
        "edge [latency=\"10us\", bandwidth=\"100mbit\"];"
        "p0 -> s0; s0 -> core; s1 -> p1; s1 -> p2;"
        "core -> s1 [bandwidth=\"10mbit\"]; }";
    predict_cluster *cluster;

    check_status(predict__cluster_parse(&cluster, text, strlen(text), "text"),
                 0);
    return cluster;
}

/* p0 exchanges messages with p1 and with p2. */
Test(checker, finds_the_link_over_which_all_is_slow, .timeout = 60)
{
    static const struct {
        double with_p1, with_p2, ready_of_p2; /* seconds of an operation */
        const char *link;
    } cases[] = {
        {1.1e-3, 2.1e-4, 0, "s1 -- p1"},
        {1.1e-3, 1.2e-3, 0, "core -- s1"}, /* the narrowest that both share */
        {1.1e-4, 1.2e-3, 0, "s1 -- p2"},
        /* What is said of p1 alone is all that is known. */
        {1.1e-3, 2.1e-4, 1e-2, "core -- s1"},
    };

    for (size_t at = 0; at < sizeof(cases) / sizeof(*cases); at++) {
        checked_course k = {.contract = contract_of(TEXT),
                            .course = course_made()};
        char link[CONTRACTS_LINK_BYTES];
        const contracts_judgement *j;
        k.contract->cluster = cluster_made();
        check_status(
            contracts_checker_create(&k.checker, k.contract, names, PROCESSES),
            0);
        all_well(k.course);
        for (size_t i = 0; i < INTERVALS; i++) {
            interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 2e-4,
                         cases[at].with_p1 + cases[at].with_p2);
            interval_set(k.course, 2, i, 250, 100, 1e-3, cases[at].ready_of_p2,
                         4e-4, 6e-4);
            between_add(k.course, i, 0, 1, 0, 250 * cases[at].with_p1);
            between_add(k.course, i, 0, 2, 0, 250 * cases[at].with_p2);
        }
        j = judged(&k);
        contracts_link_text(link, k.contract, j[0].link);
        cr_expect_eq(j[0].cause, CONTRACTS_LINK, "case %zu", at);
        cr_expect_str_eq(link, cases[at].link, "case %zu: %s", at, link);
        cr_expect_eq(j[PROCESSES].link, j[PROCESSES].cause == CONTRACTS_LINK
                                            ? j[0].link
                                            : CONTRACTS_NONE);
        end(&k);
    }
}

/* How long an exchange takes is not known of one that has not ended anything,
 * and of which nothing is known: it tells nothing of the links. */
Test(checker, goes_by_links_of_what_ends, .timeout = 60)
{
    static const char more[] =
        "usual \"p1\" with \"p2\" waiting 0 transfer 0.0001;\n";
    char text[sizeof(TEXT) + sizeof(more)];
    const char *behind = strstr(TEXT, "usual \"p2\"");

    snprintf(text, sizeof(text), "%.*s%s%s", (int)(behind - TEXT), TEXT, more,
             behind);
    for (int is_known = 0; is_known < 2; is_known++) {
        checked_course k = {.contract = contract_of(text),
                            .course = course_made()};
        char link[CONTRACTS_LINK_BYTES];
        const contracts_judgement *j;
        k.contract->cluster = cluster_made();
        check_status(
            contracts_checker_create(&k.checker, k.contract, names, PROCESSES),
            0);
        all_well(k.course);
        for (size_t i = 0; i < INTERVALS; i++) {
            interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 2e-4, 1.3e-3);
            interval_set(k.course, 1, i, 0, 0, 0, 0, 0, 0);
            if (!is_known)
                contracts_course_at(k.course, 1, i)[CONTRACTS_OPERATIONS] = NAN;
            between_add(k.course, i, 0, 1, 0, 250 * 1e-4);
            between_add(k.course, i, 0, 2, 0, 250 * 1.2e-3);
            between_add(k.course, i, 1, 2, 0, 0.3);
        }
        j = judged(&k);
        contracts_link_text(link, k.contract, j[0].link);
        cr_expect_eq(j[0].cause, CONTRACTS_LINK);
        cr_expect_str_eq(link, "s1 -- p2", "%s", link);
        end(&k);
    }
}

/* Machines that are not in the cluster, or have no way: no link is named. */
Test(checker, names_no_link_that_it_does_not_know, .timeout = 60)
{
    static const char text[] = "digraph { p0; other; }";
    checked_course k = {.contract = contract_of(TEXT), .course = course_made()};
    const contracts_judgement *j;

    check_status(predict__cluster_parse(&k.contract->cluster, text,
                                        strlen(text), "text"),
                 0);
    check_status(
        contracts_checker_create(&k.checker, k.contract, names, PROCESSES), 0);
    all_well(k.course);
    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 2e-4, 1.3e-3);
        between_add(k.course, i, 0, 1, 0, 250 * 1.1e-3);
    }
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_LINK);
    cr_assert_eq(j[0].other, 1);
    cr_assert_eq(j[0].link, CONTRACTS_NONE);
    end(&k);
}

/* What grew by next to nothing explains nothing: it is not known with whom. */
Test(checker, names_nobody_for_next_to_nothing, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        bool waits = i < INTERVALS / 2;
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, waits ? 1.2e-3 : 2e-4,
                     waits ? 3e-4 : 1.3e-3);
        between_add(k.course, i, 0, 1, 250 * 1.6e-4, 250 * 1.1e-4);
        j = next_of(&k, i);
        if (!j->levels[CONTRACTS_PERFORMANCE].is_violated)
            continue;
        cr_assert_eq(j->cause, waits ? CONTRACTS_UNKNOWN : CONTRACTS_LINK);
        cr_assert_eq(j->other, CONTRACTS_NONE);
    }
    cr_assert(j->levels[CONTRACTS_PERFORMANCE].is_violated);
    end(&k);
}

/* p0 and p1 wait for each other, and p1 for p2, too, which has no processor. */
Test(checker, sees_who_is_to_blame_behind_a_circle, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 1.2e-3, 3e-4);
        interval_set(k.course, 1, i, 250, 100, 5e-4, 0, 1.2e-3, 3e-4);
        interval_set(k.course, 2, i, 125, 100, 1e-3, 2e-3, 4e-4, 6e-4);
        wait_add(k.course, i, 0, 1, 250 * 1.15e-3);
        wait_add(k.course, i, 1, 0, 250 * 6.5e-4);
        wait_add(k.course, i, 1, 2, 250 * 5.5e-4);
    }
    j = judged(&k);
    for (uint32_t p = 0; p < 2; p++) {
        cr_assert_eq(j[p].cause, CONTRACTS_WAITS);
        cr_assert_eq(j[p].other, 2);
    }
    cr_assert_eq(j[PROCESSES].cause, CONTRACTS_PROCESSOR);
    end(&k);
}

/* An interval in which something else is done is allowed: it does not make the
 * program the cause of what lasts. */
Test(checker, is_not_led_astray_by_one_odd_interval, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, i == 8 ? 200 : 100, 5e-4, 1e-3, 2e-4,
                     3e-4);
        j = next_of(&k, i);
        cr_assert(!j->levels[CONTRACTS_INTRINSIC].is_violated);
        if (j->levels[CONTRACTS_PERFORMANCE].is_violated)
            cr_assert_eq(j->cause, CONTRACTS_PROCESSOR);
    }
    end(&k);
}

/* What is usual need not say everything. */
Test(checker, does_without_what_is_not_known_to_be_usual, .timeout = 60)
{
    contracts_contract *c = contract_of(
        "metric performance rate = operations / seconds;\n"
        "class performance of \"p0\" (1000) deviates (1) seen 40;\n"
        "usual \"p0\" computing 5e-4 ready 0 waiting 2e-4 transfer 3e-4;\n");
    checked_course k = {.contract = c, .course = course_made()};
    const contracts_judgement *j;

    check_status(contracts_checker_create(&k.checker, c, names, PROCESSES), 0);
    for (size_t i = 0; i < INTERVALS; i++)
        interval_set(k.course, 0, i, 250, 100, 5e-4, 1e-3, 2e-4, 3e-4);
    j = judged(&k);
    cr_assert_eq(j->cause, CONTRACTS_PROCESSOR);
    end(&k);
}

/* What is slow to be woken is so for those who have its processor. */
Test(checker, accuses_no_link_where_the_processor_is_crowded, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++)
        interval_set(k.course, 0, i, 250, 100, 5e-4, 2e-4, 2e-4, 1.1e-3);
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_PROCESSOR);
    end(&k);
}

/* Within the few operations of an interval the processor may by chance never be
 * taken away. */
Test(checker, remembers_for_a_while_who_had_the_processor, .timeout = 60)
{
    static const struct {
        double operations, ready;
        contracts_cause cause;
    } course[] = {
        {250, 2e-4, CONTRACTS_NO_CAUSE},  {250, 2e-4, CONTRACTS_NO_CAUSE},
        {250, 2e-4, CONTRACTS_PROCESSOR}, {20, 0, CONTRACTS_PROCESSOR},
        {20, 0, CONTRACTS_PROCESSOR},     {250, 0, CONTRACTS_LINK},
        {250, 0, CONTRACTS_LINK}};
    checked_course k = begin();

    for (size_t i = 0; i < sizeof(course) / sizeof(course[0]); i++) {
        interval_set(k.course, 0, i, course[i].operations, 100, 5e-4,
                     course[i].ready, 2e-4, 1.1e-3);
        cr_assert_eq(next_of(&k, i)->cause, course[i].cause, "%zu", i);
    }
    end(&k);
}

Test(checker, tells_whose_fault_it_is, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 200, 1e-3, 0, 2e-4, 3e-4);
        interval_set(k.course, 1, i, 250, 100, 5e-4, 0, 2e-4, 1.3e-3);
        interval_set(k.course, 2, i, 125, 100, 3e-3, 0, 4e-4, 6e-4);
    }
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_PROGRAM);
    cr_assert_eq(j[1].cause, CONTRACTS_LINK);
    cr_assert_eq(j[2].cause, CONTRACTS_PROCESSOR);
    end(&k);
}

/* Each for the other: there is an end of it. */
Test(checker, follows_no_circle, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        for (uint32_t p = 0; p < 2; p++) {
            interval_set(k.course, p, i, 250, 100, 5e-4, 0, 1.2e-3, 3e-4);
            wait_add(k.course, i, p, 1 - p, 0.2);
        }
    }
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_WAITS);
    cr_assert_eq(j[0].other, 1);
    cr_assert_eq(j[1].other, 0);
    end(&k);
}

/* A rate that is promised for one phase is none for another one. */
Test(checker, is_not_content_with_the_slowest_class, .timeout = 60)
{
    static const double rates[] = {1000, 950, 1300, 200, 205,
                                   195,  250, 500,  700};
    static const bool kept[] = {1, 1, 1, 1, 1, 1, 0, 0, 0};
    contracts_contract *c = contract_of(
        "metric performance rate = operations / seconds;\n"
        "class performance of \"p0\" (1000) deviates (1) seen 40;\n"
        "class performance of \"p0\" (200) deviates (1) seen 20;\n");
    checked_course k = {.contract = c, .course = course_made()};

    check_status(contracts_checker_create(&k.checker, c, names, PROCESSES), 0);
    cr_assert(contracts_checker_knows(k.checker, 0));
    cr_assert(!contracts_checker_knows(k.checker, 1));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        interval_set(k.course, 0, i, rates[i] / 2, 100, 1e-3, 0, 0, 0);
        cr_assert_eq(next_of(&k, i)->levels[CONTRACTS_PERFORMANCE].level < 0.5,
                     kept[i], "%g", rates[i]);
    }
    end(&k);
}

/* Nothing at all is done: who waits is known, too. */
Test(checker, knows_who_waits_where_nothing_ends, .timeout = 60)
{
    checked_course k = begin();
    const contracts_judgement *j;

    for (size_t i = 0; i < INTERVALS; i++) {
        double *q = contracts_course_at(k.course, 0, i);
        interval_set(k.course, 0, i, 0, 0, 0, 0, 0, 0);
        q[CONTRACTS_COMPUTING] = q[CONTRACTS_SECONDS];
        q[CONTRACTS_READY] = q[CONTRACTS_SECONDS];
        q = contracts_course_at(k.course, 1, i);
        interval_set(k.course, 1, i, 0, 0, 0, 0, 0, 0);
        q[CONTRACTS_COMMUNICATING] = q[CONTRACTS_WAITING] =
            q[CONTRACTS_SECONDS];
        wait_add(k.course, i, 1, 0, 0.2);
        wait_add(k.course, i, 1, 2, 0.3); /* with whom nothing is wrong */
    }
    j = judged(&k);
    cr_assert_eq(j[0].cause, CONTRACTS_PROCESSOR);
    cr_assert_eq(j[1].cause, CONTRACTS_WAITS);
    cr_assert_eq(j[1].other, 0);
    end(&k);
}

/* It sleeps outside of operations. */
Test(checker, tells_sleeping_from_computing, .timeout = 60)
{
    checked_course k = begin();

    for (size_t i = 0; i < INTERVALS; i++) {
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 2e-4, 3e-4);
        contracts_course_at(k.course, 0, i)[CONTRACTS_COMPUTING] += 250e-3;
    }
    cr_assert_eq(judged(&k)->cause, CONTRACTS_SLEEPS);
    end(&k);
}

/* Where it is not known when a process had a processor, all computing counts.
 */
Test(checker, compares_what_is_known_of_both, .timeout = 60)
{
    checked_course k = begin();

    for (size_t i = 0; i < INTERVALS; i++) {
        double *q = contracts_course_at(k.course, 0, i);
        interval_set(k.course, 0, i, 250, 100, 5e-4, 0, 1.2e-3, 3e-4);
        q[CONTRACTS_CPU] = q[CONTRACTS_READY] = NAN;
        wait_add(k.course, i, 0, 1, 0.2);
    }
    cr_assert_eq(judged(&k)->cause, CONTRACTS_WAITS);
    end(&k);
}

Test(checker, knows_all_only_if_each_is_known, .timeout = 60)
{
    checked_course k = begin();

    contracts_course_at(k.course, 1, 3)[CONTRACTS_OPERATIONS] = NAN;
    for (size_t i = 0; i < INTERVALS; i++)
        cr_assert_eq(
            isnan(
                next_of(&k, i)[PROCESSES].levels[CONTRACTS_PERFORMANCE].level),
            i == 3);
    end(&k);
}

Test(checker, is_refused_for_other_processes, .timeout = 60)
{
    static const char *const others[] = {"q0", "q1"};
    contracts_contract *c = contract_of(TEXT);
    contracts_checker *k;

    check_status(contracts_checker_create(&k, c, others, 2), PASTSET_EINVAL);
    check_error("has classes of none of the processes of this run");
    contracts_contract_destroy(c);
}
