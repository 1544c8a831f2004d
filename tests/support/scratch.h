/* scratch.h - a temporary directory that is gone when the test ends,
 * also when it is skipped. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stddef.h>

/* For `.init` and `.fini` of a suite or a test. */
void scratch_make(void);
void scratch_remove(void);

/* "<directory>/<name>", made of a format. The last 16 stay valid. */
const char *scratch_file(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Writes a text to a file of the directory; gives its whole name. */
const char *scratch_write(const char *name, const char *text);

/* The whole file, with a 0 behind it; the caller frees it. */
char *file_read(const char *file, size_t *bytes);

#endif
