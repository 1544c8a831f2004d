/* pack_internal.h - what pack.c and unpack.c share (pack_fail.c). */
#ifndef VIEWER_PACK_INTERNAL_H
#define VIEWER_PACK_INTERNAL_H

#include <stdbool.h>

#include "viewer/pack/pack.h"

struct archive;

/* PASTSET_ECANCELED after a signal, else 0. */
int viewer__pack_stopped(void);
/* Does the errno say that the disk is full? */
bool viewer__pack_is_full(int error);
/* What libarchive says of itself, as one of our statuses. `file` is the one
 * that it was about. */
int viewer__pack_fail(struct archive *from, const char *file);

#endif
