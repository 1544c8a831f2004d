/* gather_internal.h - what the files of gather trees share. */
#ifndef SCOPES_GATHER_INTERNAL_H
#define SCOPES_GATHER_INTERNAL_H

#include "pastset/waiter.h"
#include "scopes/gather/gather_message.h"

/* --- gather_message.c --- */

/* Gives all records of a message, then its ledger. */
int scopes__gather_deliver(const void *message, size_t bytes, gather_head *head,
                           scopes_each_record *each, void *context);

/* --- gather_map.c --- */

/* The tree of two processes: "server", with all leaves, and "scope". */
int scopes__gather_map_pair(paths_map **out,
                            const scopes_gather_options *options,
                            const char *address);

/* --- gather_mirror.c --- */

/* Has the process said that no more tuples will come? */
bool scopes_mirror_ended(const scopes_mirror *mirror, size_t process);

#endif
