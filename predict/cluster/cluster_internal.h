/* cluster_internal.h - what the files of clusters share. */
#ifndef PREDICT_CLUSTER_INTERNAL_H
#define PREDICT_CLUSTER_INTERNAL_H

#include "paths/map/map.h"
#include "predict/cluster/cluster.h"

/* More would need too much memory for the ways between each two. */
#define PREDICT__MACHINES_MAX 2000

/* As predict_cluster_read, of a text; diagnostics name `file`. */
int predict__cluster_parse(predict_cluster **out, const char *text,
                           size_t bytes, const char *file);

/* Fills in the wires, the links and the ways. `machines` gives the machine of
 * each node, PREDICT_NONE for a switch. Errors: PASTSET_EFORMAT,
 * PASTSET_ENOMEM. */
int predict__cluster_routes(predict_cluster *cluster, const paths_map *map,
                            const uint32_t *machines);

/* Fails with "file:line: name: text". */
int predict__cluster_fail(const paths_map *map, unsigned line, const char *name,
                          const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* --- condition.c --- */

/* "10mbit" to bytes per second. Errors: PASTSET_EINVAL. */
int predict_bandwidth_parse(double *out, const char *text);
/* "400us" to seconds. Errors: PASTSET_EINVAL. */
int predict_time_parse(double *out, const char *text);

#endif
