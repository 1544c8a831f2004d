/* networks_internal.h - which processes reach each other, and over which others
 * the rest do.
 *
 * A process may say in which networks it is, and by which of its addresses it
 * is known there if that is not its `address`:
 *
 *     networks="lan wan=129.242.1.2"
 *
 * Two processes reach each other if they are in a network of the same name. One
 * that says nothing is in all of them. The others go by way of processes that
 * are in several: gateways. Of ways the shortest is taken, and of several such
 * the one whose processes come first in the map.
 *
 * Threads:   one at a time: it keeps the ways to where was last asked for.
 * Ownership: create gives, destroy takes back; the map must outlive it. */
#ifndef PATHS_NETWORKS_INTERNAL_H
#define PATHS_NETWORKS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "paths/map/map.h"
#include "paths/net/address.h"

typedef struct paths__networks paths__networks;

/* NULL in `*out` where no process says so: all reach each other. Errors:
 * PASTSET_EMAP (a name or an address that is none: the process is named),
 * PASTSET_ENOMEM. */
int paths__networks_create(paths__networks **out, const paths_map *map);
void paths__networks_destroy(paths__networks *n); /* NULL is allowed */

/* What follows takes NULL for networks that are not there. */

/* Do they, without a third? */
bool paths__networks_reach(const paths__networks *n, uint32_t from,
                           uint32_t to);
/* Whom `from` goes to first on its way to `to`, which may be that one itself.
 * PATHS_NONE: there is no way. */
uint32_t paths__networks_next(paths__networks *n, uint32_t from, uint32_t to);

/* Writes the address at which `from` reaches `to`, with its port, as the map
 * has it. Errors: PASTSET_EMAP (it has none). */
int paths__networks_address(const paths__networks *n, const paths_map *map,
                            uint32_t from, uint32_t to,
                            char out[PATHS_ADDRESS_TEXT]);

/* Refuses what is not written as above. Errors: PASTSET_EMAP. */
int paths__networks_check(const char *text);
/* Refuses addresses that a process does not listen at which has this one: IPv6
 * where its own is IPv4. */
int paths__networks_check_family(const char *text, const char *address);

#endif
