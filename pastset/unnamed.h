/* unnamed.h - files that have no name until they are whole: whoever is killed
 * while it writes one leaves nothing behind. Not all file systems have them. */
#ifndef PASTSET_UNNAMED_H
#define PASTSET_UNNAMED_H

#include <stdbool.h>
#include <sys/types.h>

/* A file to be written, in the folder in which `file` is. -1: there is none. */
int pastset_unnamed_open(const char *file, mode_t mode);

/* Gives it a name that no file has. Sets errno when that fails. */
bool pastset_unnamed_name(int fd, const char *file);

#endif
