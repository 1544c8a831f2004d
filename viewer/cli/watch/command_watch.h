/* command_watch.h - what the files of `eventspace watch` share. */
#ifndef VIEWER_COMMAND_WATCH_H
#define VIEWER_COMMAND_WATCH_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "measure/sensors/sampling.h"

typedef struct watch_arguments {
    const char *folder;
    const char *cluster, *remote; /* both or none */
    const char *listen;           /* NULL: nobody is answered */
    bool lines;                   /* to standard output, not to files */
    measure_sampling_options o;
    measure_sampling_link *links;
    sigset_t ending; /* signals that end it; they are blocked */
} watch_arguments;

/* Of what came over, and where it goes: the samples of one or of many
 * machines. Threads: those of measure_sampling_calls. */
typedef struct watch_sink {
    const watch_arguments *a;
    measure_histories *histories; /* NULL: lines */
    bool failed;                  /* the last sample could not be kept */
    atomic_bool ended;            /* standard output takes no more */
    bool shows;                   /* a line on the terminal */
    uint64_t samples;
} watch_sink;

int cli_watch_sink_init(watch_sink *sink, const watch_arguments *a);
void cli_watch_sink_fini(watch_sink *sink);
/* What cannot be kept is told on standard error, once. */
void cli_watch_sink_add(watch_sink *sink, measure_kind kind, const char *place,
                        int64_t time_ms, double value);
void cli_watch_say(watch_sink *sink, const char *place, int err);

/* Starts `eventspace watch --lines` on each machine of the cluster file, and
 * keeps what they tell, until a signal of `ending` comes. Errors: those of
 * predict_cluster_read; PASTSET_EINVAL, PASTSET_ENOMEM. */
int cli_watch_remote(watch_sink *sink);

#endif
