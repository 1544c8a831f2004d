/* cluster_fuzz.c - whatever is read as a cluster has machines, places and ways
 * that make sense. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/cluster/cluster_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static void check_machine(const predict_cluster *cluster, uint32_t machine)
{
    const predict_machine *h = &cluster->machines[machine];

    must(h->load >= 0 && isfinite(h->load), "a load is a number from 0");
    must(h->speed > 0 && isfinite(h->speed), "a speed is above 0");
    must(h->scheduler.credit_s >= 0, "a law has a credit");
    must(h->place < cluster->place_count, "a machine has a place");
    must(cluster->processors[h->place] > 0, "a place has processors");
    must(predict_cluster_find(cluster, h->name) == machine,
         "a machine is found by its name");
}

static void check_flow(const predict_flow *f, const predict_wire *w)
{
    must(f->rate >= 0 && isfinite(f->rate), "a rate is a number from 0");
    must(f->burst >= 0 && isfinite(f->burst), "a burst is a number from 0");
    must(f->latency_s >= 0 && isfinite(f->latency_s), "alone is a number");
    must(f->rate > 0 || (f->burst == 0 && f->latency_s == 0),
         "no rate has no burst");
    must(w->bandwidth > 0 || f->rate == 0, "no way has no flow");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    predict_cluster *cluster;
    /* A copy of that length, so that reading behind its end is found. */
    char *text = malloc(bytes ? bytes : 1);
    int err;

    memcpy(text, data, bytes);
    err = predict__cluster_parse(&cluster, text, bytes, "fuzz.dot");
    free(text);
    if (err)
        return 0;
    must(cluster->machine_count > 0, "there is a machine");
    for (uint32_t i = 0; i < cluster->machine_count; i++)
        check_machine(cluster, i);
    for (size_t i = 0;
         i < (size_t)cluster->machine_count * cluster->machine_count; i++) {
        const predict_wire *w = &cluster->wires[i];
        must(w->bandwidth >= 0 && isfinite(w->bandwidth), "B is a number");
        must(w->latency_s >= 0 && isfinite(w->latency_s), "L is a number");
        must(w->bandwidth > 0 || w->latency_s == 0, "no way has no latency");
        if (cluster->flows)
            check_flow(&cluster->flows[i], w);
    }
    predict_cluster_destroy(cluster);
    return 0;
}
