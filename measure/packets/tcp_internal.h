/* tcp_internal.h - messages from frames, wherever these come from: an interface
 * or a file of packets (packets.c).
 *
 * Threads:   one thread per measure_tcp.
 * Ownership: create gives, destroy takes back, with what `end` lent. */
#ifndef MEASURE_TCP_INTERNAL_H
#define MEASURE_TCP_INTERNAL_H

#include "measure/packets/packets.h"

typedef struct measure_tcp measure_tcp;

/* NULL: memory is out. */
measure_tcp *measure_tcp_create(void);
void measure_tcp_destroy(measure_tcp *tcp);

/* One link-layer frame: `link` is a pcap-linktype (DLT_EN10MB, DLT_LINUX_SLL,
 * DLT_LINUX_SLL2, DLT_RAW, DLT_NULL). `length` is what it was on the wire,
 * `count` what is there. Errors: PASTSET_ENOMEM. */
int measure_tcp_frame(measure_tcp *tcp, int link, int64_t at_ns,
                      const uint8_t *bytes, size_t count, size_t length);
/* No more frames come: what was found. Errors: PASTSET_ENOMEM. */
int measure_tcp_end(measure_tcp *tcp, const measure_packets **out);

#endif
