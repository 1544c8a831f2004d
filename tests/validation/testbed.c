/* testbed.c - a testbed (testbed_internal.h) for scripts: makes it,
 * tells its machines, obeys standard input, and removes it when that ends.
 *
 *     testbed NAME MACHINES
 *
 *   tells      machine I NAMESPACE ADDRESS  one line each, then "ready"
 *   obeys      limit A B BYTES_PER_SECOND   0: not limited
 *              load PROCESSOR COUNT         processes that compete there, in
 *                                           place of those before
 *   answers    ok, or error and why */
#include "measure/load/load.h"
#include "measure/experiment/testbed_internal.h"
#include "pastset/status.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static measure_background_load *background_load;

static int obey(measure_testbed *testbed, const char *line)
{
    unsigned a, b;
    double rate;

    if (sscanf(line, "limit %u %u %lf", &a, &b, &rate) == 3)
        return measure_testbed_limit(testbed, a, b, rate);
    if (sscanf(line, "load %u %u", &a, &b) == 2) {
        measure_background_load_destroy(background_load);
        background_load = NULL;
        return b ? measure_background_load_create(&background_load, (int)a, b)
                 : 0;
    }
    return pastset_fail(PASTSET_EINVAL, "what is \"%s\"?", line);
}

int main(int argc, char **argv)
{
    measure_testbed *testbed;
    char line[200];

    if (argc != 3) {
        fprintf(stderr, "usage: %s NAME MACHINES\n", argv[0]);
        return 2;
    }
    /* When it is interrupted the script ends, and then our input. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    if (measure_testbed_create(&testbed, argv[1], (uint32_t)atoi(argv[2]))) {
        fprintf(stderr, "%s\n", pastset_error());
        return 1;
    }
    for (uint32_t i = 0; i < measure_testbed_machines(testbed); i++)
        printf("machine %u %s %s\n", i, measure_testbed_namespace(testbed, i),
               measure_testbed_address(testbed, i));
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (obey(testbed, line))
            printf("error %s\n", pastset_error());
        else
            puts("ok");
        fflush(stdout);
    }
    measure_background_load_destroy(background_load);
    measure_testbed_destroy(testbed);
    return 0;
}
