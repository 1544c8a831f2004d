/* serve_asked_internal.h - what a request asks for: an address and its
 * parameters, as they came over the network, and what is left of them when each
 * has been checked.
 *
 *   (nothing)      the page
 *   live.js, live.css
 *   runs           names of the runs
 *   live           server-sent events
 *   history        ?run=            what each thread did since the run began
 *   report         ?run= from= to= last=
 *   views          the list of views
 *   view/NAME      ?run= from= to= last= detail= threads= name=
 *
 * All of this is small and of fixed size: two requests for the same are equal,
 * which is how answers are found again.
 *
 * Threads: any, each with its own. */
#ifndef VIEWER_SERVE_ASKED_INTERNAL_H
#define VIEWER_SERVE_ASKED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"

#define VIEWER__ASKED_TEXT_BYTES 512 /* the most that a parameter may have */

typedef enum viewer__asked_kind {
    VIEWER__ASKED_PAGE,
    VIEWER__ASKED_SCRIPT,
    VIEWER__ASKED_STYLE,
    VIEWER__ASKED_RUNS,
    VIEWER__ASKED_LIVE,
    VIEWER__ASKED_HISTORY,
    VIEWER__ASKED_VIEWS,
    VIEWER__ASKED_REPORT,
    VIEWER__ASKED_VIEW,
    VIEWER__ASKED_KINDS,
} viewer__asked_kind;

typedef struct viewer__asked {
    viewer__asked_kind kind;
    unsigned given; /* parameters, a bit each: none may come twice */
    uint64_t run;
    const scopes_view *view;         /* of VIEW */
    int64_t from_ns, to_ns, last_ns; /* as in scopes_snapshot_options */
    bool detail;
    char threads[VIEWER__ASKED_TEXT_BYTES]; /* as in --thread; "": all */
    char name[VIEWER__ASKED_TEXT_BYTES];    /* as in --name; "": all */
} viewer__asked;

/* `path`: behind the token and its slash. Errors: PASTSET_ENOENT. */
int viewer__asked_init(viewer__asked *out, const char *path);
/* A parameter. `value` may be NULL. Errors: PASTSET_EINVAL. */
int viewer__asked_set(viewer__asked *asked, const char *key, const char *value);
/* After the last of them; there are `runs` runs. Errors: PASTSET_EINVAL. */
int viewer__asked_check(const viewer__asked *asked, size_t runs);

bool viewer__asked_equal(const viewer__asked *a, const viewer__asked *b);

/* The part of the run that is asked for. */
scopes_snapshot_options viewer__asked_window(const viewer__asked *asked);

#endif
