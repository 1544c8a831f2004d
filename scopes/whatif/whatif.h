/* whatif.h - how long a run would have taken if something in it had been
 * otherwise.
 *
 * All operations are replayed with what they cost, as it was recorded, but for
 * the changes that are asked for; waiting is what comes out. Without a change
 * the replay gives the very times of the run. What it cannot know: that threads
 * which have less to do leave their processor to others, and that another order
 * of arrivals changes what a program does.
 *
 * Threads:   one per whatif.
 * Ownership: create gives, destroy takes back; what the input refers to is
 *            borrowed. */
#ifndef SCOPES_WHATIF_H
#define SCOPES_WHATIF_H

#include "scopes/views/view.h"

typedef enum scopes_change_kind {
    /* Of threads: the time between two operations. */
    SCOPES_CHANGE_COMPUTING, /* on a processor, or where it is not known */
    SCOPES_CHANGE_RUNNABLE,  /* without one, since others ran */
    SCOPES_CHANGE_SLEEPING,
    SCOPES_CHANGE_CALLS, /* of threads: in operations, without waiting */
    SCOPES_CHANGE_HOP,   /* on the way through a wrapper or process boundary, or
                            of what is on its way to an element's reader */
    SCOPES_CHANGE_ROOM,  /* an element never keeps a writer waiting for room;
                            has no factor */
    SCOPES_CHANGE_BALANCE, /* all who meet at a collective have computed, or
                              slept, equally long since the round before; has
                              no factor */
} scopes_change_kind;

typedef struct scopes_change {
    scopes_change_kind kind;
    const char *what; /* threads, as a list of numbers, names and patterns; or
                         the name of a wrapper, an element, or a collective.
                         BALANCE, NULL: all threads, step by step */
    double factor;    /* times as long, up to a million; 0: no time */
    bool to_peers;    /* COMPUTING, in place of a factor: as long as the others
                         do between the same calls, in the median, each time */
} scopes_change;

/* What is long enough for it: "compute", "hop" ...: the word of a kind. */
const char *scopes_change_word(scopes_change_kind kind);

typedef struct scopes_whatif scopes_whatif;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC, PASTSET_ELIMIT (more operations than
 * can be numbered), PASTSET_ENOENT (there are none). */
int scopes_whatif_create(scopes_whatif **out,
                         const scopes_view_input *view_input);
/* NULL is allowed. */
void scopes_whatif_destroy(scopes_whatif *whatif);

/* How long the run took, from the first begin of a thread that communicates to
 * the last end of one; and by a replay without changes, which is the same. */
int64_t scopes_whatif_recorded_ns(const scopes_whatif *whatif);
int64_t scopes_whatif_replayed_ns(scopes_whatif *whatif);

/* How long with all of these changes, one after the other; those of one kind
 * and of the same name are one, with the product of their factors. Errors:
 * PASTSET_ENOENT (no thread, wrapper or element of that name, or none that it
 * has an effect on), PASTSET_EINVAL (a list that is none, a factor that is
 * none, below 0 or too large), PASTSET_ENOMEM. */
int scopes_whatif_time(scopes_whatif *whatif, const scopes_change *changes,
                       size_t count, int64_t *time_ns);

#endif
