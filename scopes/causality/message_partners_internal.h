/* message_partners_internal.h - which operation has sent what another one
 * received, where processes say so (eventspace/collect/message.h).
 *
 * Only of those whose receives may end in another order than the sends have:
 * of counted ends (EVENTSPACE_MESSAGE_COUNTED). Where there are none, as in
 * what was imported, each element holds what goes in turn (cause_internal.h).
 *
 * Threads:   one while they are made; then they may be read by any.
 * Ownership: make gives, destroy takes back. */
#ifndef SCOPES_MESSAGE_PARTNERS_INTERNAL_H
#define SCOPES_MESSAGE_PARTNERS_INTERNAL_H

#include <stdbool.h>

#include "eventspace/run/run.h"
#include "scopes/causality/topology.h"

typedef struct scopes__partners scopes__partners;

/* `*out` becomes NULL where there are none. Errors: PASTSET_ENOMEM,
 * PASTSET_ENOSPC (of a temporary file). */
int scopes__partners_make(scopes__partners **out, const eventspace_run *run,
                          const scopes_topology *topology);
/* NULL is allowed. */
void scopes__partners_destroy(scopes__partners *partners);

/* The name of an operation as one number: its thread, then its sequence. */
#define SCOPES__NO_PARTNER UINT64_MAX
/* Of the operation that has sent what this one received. */
uint64_t scopes__partner_of(const scopes__partners *partners, uint64_t receive);

#endif
