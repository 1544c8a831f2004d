/* import_channels_internal.h - which message of a trace is which.
 *
 * A channel has all messages from one rank to another in a communicator. MPI
 * gives the n-th message with a tag to the n-th receive, of those that got this
 * tag, in the order in which receives began. So which is which is known where
 * one thread has sent and one has received all with a tag, and none is missing
 * before another. Not all tracers record all: where lengths of both ends
 * differ, what is missing is not known.
 *
 * Who reads a run takes the n-th write of an element for what its n-th read
 * got, by their begins (scopes/causality/cause.c), and receives need not end in
 * the order of the sends, whatever their tags. So a channel is divided into
 * lanes, in each of which they do, between two threads: each message goes to
 * the first lane in which it comes later than all before. That makes as few
 * lanes as there can be, one where both ends have the same order. A lane
 * becomes an element.
 *
 * Tags tell people what messages are for. A channel with few of them has lanes
 * of its own for each; one with many, which may have a new one for each
 * message, has lanes for all. Lanes are limited; messages for which there are
 * no more, and those of which it is not known which is which, go to one that is
 * not matched.
 *
 * Threads:   one.
 * Ownership: make gives, destroy takes back. */
#ifndef VIEWER_IMPORT_CHANNELS_INTERNAL_H
#define VIEWER_IMPORT_CHANNELS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

/* Tags that a channel has lanes of their own for. */
#define IMPORT_TAGS_MAX 16
/* Lanes, more than one for each channel, in the whole trace. */
#define IMPORT_LANES_MAX 16000

typedef struct channel_key {
    uint32_t comm;     /* of the trace */
    uint32_t from, to; /* threads that are the ranks */
} channel_key;

typedef struct channel_end {
    uint32_t thread, tag;
    bool is_received;
    union {
        uint32_t bytes; /* of its length, the lower ones */
        uint32_t lane;  /* once all are matched; OTF2_NONE: none yet */
    };
    union {
        uint64_t posted;      /* of a receive: as in otf2_event */
        struct {              /* once all are matched; OTF2_NONE: not known */
            uint32_t ordinal; /* among those with the tag */
            uint32_t other;   /* where the other end is */
        };
    };
} channel_end;

typedef struct import_channel {
    channel_key key;
    channel_end *ends; /* in the order of the threads, of each in its own */
    uint32_t count;
    uint32_t given; /* of them, to one who walks once more */
    uint32_t tags;  /* how many there are, once all are matched */
    bool *failed;
    UT_hash_handle hh;
} import_channel;

typedef struct import_lane {
    uint32_t channel;
    uint32_t tag;
    bool has_tag; /* all have this one */
    bool is_matched;
} import_lane;

typedef struct import_channels {
    import_channel *by_key, **items;
    uint32_t count;
    import_lane *lanes;
    uint32_t lane_count;
    uint32_t more; /* lanes that there may still be */
} import_channels;

/* NULL: no memory. */
import_channels *viewer__import_channels_make(void);
void viewer__import_channels_destroy(import_channels *channels);

/* The next end, as a thread is walked. Errors: PASTSET_ENOMEM,
 * PASTSET_ELIMIT. */
int viewer__import_channels_note(import_channels *channels,
                                 const channel_key *key,
                                 const channel_end *end);
/* The same end when all is walked once more; NULL: it was not there before. */
const channel_end *viewer__import_channels_next(import_channels *channels,
                                                const channel_key *key,
                                                const channel_end *end);

/* Of a channel: may its messages be known at all? */
typedef bool import_is_known(const channel_key *key, const void *context);

/* All ends have been noted: finds which is which, and the lanes. `all_ended`:
 * no receive is missing that has ended. Errors: PASTSET_ENOMEM. */
int viewer__import_channels_match(import_channels *channels, bool all_ended,
                                  import_is_known *is_known,
                                  const void *context);

#endif
