/* collective_test.c - sums and their likes over hosts that are processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/host.h"
#include "paths/reduction.h"
#include "tests/support/check.h"
#include "tests/support/hosts.h"
#include "tests/support/mapping.h"

TestSuite(collective, .timeout = 300);

static const char *const shapes[] = {"flat", "hierarchical", "binomial"};

/* Runs `program` in all threads of a generated map. */
static void run(char *application, unsigned count, const char *shape,
                unsigned fanout, paths_main *program)
{
    host_program programs[] = {{"*", program, NULL}, {NULL, NULL, NULL}};
    char *map = mapping_map(application, count, shape, fanout);
    hosts h = {.map_text = map, .programs = programs};

    hosts_start(&h);
    hosts_end_well(&h, 100);
    hosts_free(&h);
    free(map);
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

Test(collective, sums_are_the_same_in_each_shape_and_on_any_number_of_hosts)
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
