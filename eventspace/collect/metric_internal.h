/* metric_internal.h - the metrics of this process; see metric.h. */
#ifndef EVENTSPACE_METRIC_INTERNAL_H
#define EVENTSPACE_METRIC_INTERNAL_H

/* By each thread that may have some, at its end, before that of its regions. */
void eventspace__metrics_thread_ends(void);
/* After all threads, and before regions are closed. */
void eventspace__metrics_close(void);

#endif
