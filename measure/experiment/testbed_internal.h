/* testbed_internal.h - several machines, simulated on this one, with links of
 * a known rate between them.
 *
 * Each machine is a network namespace; between each two of them there is a veth
 * pair, so that every link is of its own. A link's rate is limited with
 * `tc tbf` at both ends; a packet is one of 1500 bytes on it, as on Ethernet
 * (segmentation offload is off), so that the rate holds for short messages too.
 * Made with ip(8) and tc(8) of iproute2; needs CAP_NET_ADMIN and CAP_SYS_ADMIN.
 *
 * Machine i of the testbed NAME is the namespace `NAME-i`, which the attribute
 * `netns` of a process in a path map names (docs/map.md), with an address
 * 10.x.y.i+1, x and y being of the name.
 *
 * Threads:   one thread per testbed.
 * Ownership: create gives, destroy takes back. What a killed process left
 * behind is removed by the next one of that name. */
#ifndef MEASURE_TESTBED_INTERNAL_H
#define MEASURE_TESTBED_INTERNAL_H

#include <stdint.h>

typedef struct measure_testbed measure_testbed;

/* Errors: PASTSET_ENOTSUP: no right to, or no ip or tc (the text says which,
 * and what to do without); PASTSET_EIO. */
int measure_testbed_create(measure_testbed **out, const char *name,
                           uint32_t machines);
void measure_testbed_destroy(measure_testbed *testbed);

uint32_t measure_testbed_machines(const measure_testbed *testbed);
const char *measure_testbed_namespace(const measure_testbed *testbed,
                                      uint32_t machine);
const char *measure_testbed_address(const measure_testbed *testbed,
                                    uint32_t machine);

/* Limits the link between two machines, both ways; bytes per second. 0: not
 * limited. */
int measure_testbed_limit(measure_testbed *testbed, uint32_t a, uint32_t b,
                          double bandwidth);

#endif
