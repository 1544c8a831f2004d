/* load_changes.h - what was measured of machines and links, for a cluster file.
 *
 * Threads:   one thread per list.
 * Ownership: a list of zeros is empty; clear frees what is in it. Names are
 *            borrowed until then. */
#ifndef MEASURE_LOAD_CHANGES_H
#define MEASURE_LOAD_CHANGES_H

#include "measure/links/links.h"
#include "measure/load/load.h"
#include "predict/cluster/cluster.h"

typedef struct measure_changes {
    predict_cluster_change *items;
    char (*values)[MEASURE_PLACE_BYTES]; /* items[i].value, once it is written;
                                            "": the attribute is taken out */
    size_t count;
} measure_changes;

/* Attributes load, processors, place if it is known, and law if it is not NULL.
 * Errors: PASTSET_ENOMEM. */
int measure_changes_machine(measure_changes *list, const char *machine,
                            const measure_load *load,
                            const predict_scheduler *scheduler);
/* Attributes bandwidth and latency of the link from--to; rate, burst and alone,
 * or none of them if it has no rate of its own. */
int measure_changes_link(measure_changes *list, const char *from,
                         const char *to, const measure_link *link);

/* predict_cluster_update; nothing if the list is empty. A place that stands in
 * the file stays, unless its name is one of load.h's. */
int measure_changes_write(measure_changes *list, const char *file);
void measure_changes_clear(measure_changes *list);

#endif
