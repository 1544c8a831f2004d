/* collective_visit_internal.h - what the views of collectives share: a visit to
 * each collective site, with its rounds. */
#ifndef SCOPES_COLLECTIVE_VISIT_INTERNAL_H
#define SCOPES_COLLECTIVE_VISIT_INTERNAL_H

#include "scopes/tables/sample_internal.h"
#include "scopes/views/view_internal.h"

/* Where what comes by an input has its origin: a thread, or the collective site
 * that stands above. */
typedef struct scopes__origin {
    const char *name; /* "" when not known */
    const char *process;
} scopes__origin;

typedef struct scopes__visit {
    const scopes_view_input *view_input;
    const scopes_site *site;
    uint32_t number; /* of the collective site */
    const scopes_rounds *rounds;
    uint32_t inputs;
    const scopes_series **series; /* by input; NULL: it has no collector */
    const scopes_series *below;   /* NULL: no collector */
    scopes__origin *origins;      /* by input */
    bool *told;                   /* by input: do threads that were asked for
                                     come by it? */
    int64_t *times;               /* by input: for scopes__visit_times */
    scopes__sample *samples;      /* by input, empty at the beginning */
} scopes__visit;

/* Calls `each` for every collective site that the subject is about. A non-zero
 * answer ends it and is returned. Errors: PASTSET_ENOMEM, those of `each`. */
typedef int scopes__visiting(scopes_table *out, scopes__visit *visit);
int scopes__visit_sites(scopes_table *out, const scopes_view_input *view_input,
                        scopes__visiting *each);

/* The event of an input in a round; NULL when it is missing. */
const eventspace_trace *scopes__visit_event(const scopes__visit *visit,
                                            uint32_t round, uint32_t input);
/* The one below; NULL. */
const eventspace_trace *scopes__visit_below(const scopes__visit *visit,
                                            uint32_t round);

/* What the times of a round's inputs have in common. */
typedef struct scopes__spread {
    bool full;           /* all inputs that have a collector have a time */
    int64_t first, last; /* SCOPES_BLANK when there is none */
    uint32_t latest;     /* the input whose time is `last` */
} scopes__spread;

/* Puts into `visit->times` when each input's event started (or ended, with
 * `ends`), SCOPES_BLANK where it is missing. */
scopes__spread scopes__visit_times(scopes__visit *visit, uint32_t round,
                                   bool ends);
/* The same of times that are there already. */
scopes__spread scopes__spread_of(const scopes__visit *visit);

/* The input that came last in a round. Where no collector stands below, it is
 * the one that started last, if none is missing. SCOPES_MISSING: not known.
 * Needs the times of the starts. */
uint32_t scopes__visit_last(const scopes__visit *visit, uint32_t round,
                            const scopes__spread *starts);

/* Is the input told, and is it when its operation was one of a thread that was
 * asked for? */
bool scopes__visit_tells(const scopes__visit *visit, uint32_t input);
bool scopes__visit_is_thread(const scopes__visit *visit, uint32_t thread);

int64_t scopes__ns(const scopes_view_input *view_input,
                   const scopes_series *series, uint64_t ticks);
/* The name of an input's collector; "" when it has none. */
const char *scopes__visit_input(const scopes__visit *visit, uint32_t input);

/* Leaves the text of PASTSET_ENOMEM, and returns it. */
int scopes__no_memory(void);

#endif
