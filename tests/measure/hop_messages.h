/* hop_messages.h - the messages over the hops of a run, as its trace tuples
 * tell them: for comparing with packets.
 *
 * Made from the map and from `eventspace view RUN tuples --format csv`, and
 * from the description of the wire: an operation over a proxy is a request of
 * 48 bytes and what it writes, and a reply of 48 bytes and what it reads.
 *
 * A way is a thread and another process, of which it uses elements: it has a
 * connection of its own. What goes there stands in the order in which the
 * operations passed the collector above the proxy, what comes back in the
 * order in which they left the one below. */
#ifndef TESTS_MEASURE_HOP_MESSAGES_H
#define TESTS_MEASURE_HOP_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#define HOP_WAYS 16

typedef struct hop_message {
    uint64_t ticks; /* of the process where it was sent */
    uint64_t bytes;
} hop_message;

typedef struct hop_way {
    char thread[32];
    char process[32];         /* where it leads */
    unsigned port;            /* of that process */
    hop_message *messages[2]; /* there; back */
    size_t count;
} hop_way;

typedef struct hop_messages {
    hop_way ways[HOP_WAYS];
    size_t way_count;
} hop_messages;

/* `csv` is what the view printed. Fails the test when the two do not belong
 * together. */
void hop_messages_make(hop_messages *out, const char *map, const char *csv);
void hop_messages_free(hop_messages *messages);

#endif
