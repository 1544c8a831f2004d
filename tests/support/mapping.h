/* mapping.h - maps that are generated within a test. */
#ifndef TESTS_SUPPORT_MAPPING_H
#define TESTS_SUPPORT_MAPPING_H

#include "paths/generate/generate.h"

/* The text of the map that `paths_generate` makes of an application mapping
 * on `processes` processes h0, h1 ...; fails the test if it does not. To be
 * freed. */
char *mapping_map(const char *application, unsigned processes,
                  const char *shape, unsigned fanout);

/* An application mapping of `threads` threads t0 ... that all use an element
 * "all" of the type by `use`, and whatever `more` says. To be freed. */
char *mapping_of(unsigned threads, const char *use, const char *type,
                 const char *more);

#endif
