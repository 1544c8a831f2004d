/* metric.c - what it takes a program to count (eventspace/metric.h), as a
 * thread of a run that is recorded does: metric_bench.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

static const char map[] =
    "digraph m { subgraph cluster_h0 { t [kind=thread, number=0]; "
    "c [kind=collector, id=0, trace=c]; e [kind=element, type=u64]; } "
    "t -> c [as=out]; c -> e; }\n";

static const char command[] =
    EVENTSPACE " run metric.dot --replace --output=metric.run -- " METRIC_BENCH;

void bench_metric(void)
{
    double ns = 0, bare_ns = 0;
    char line[200];
    FILE *out = fopen("metric.dot", "w");

    if (!out || fputs(map, out) < 0 || fclose(out) != 0) {
        perror("metric.dot");
        exit(1);
    }
    out = popen(command, "r");
    while (out && fgets(line, sizeof(line), out)) {
        const char *took = strstr(line, "took ");
        if (took)
            (void)sscanf(took, "took %lf %lf", &ns, &bare_ns);
    }
    if (!out || pclose(out) != 0 || bare_ns <= 0) {
        fprintf(stderr, "bench: metric_bench has failed\n");
        exit(1);
    }
    bench_print_beside("metric.add", ns, "ns", bare_ns,
                       "an addition to a variable");
}
