/* mapping.c - see mapping.h. */
#include "tests/support/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

char *mapping_map(const char *application, unsigned processes,
                  const char *shape, unsigned fanout)
{
    paths_generate_options options = {
        .processes = processes, .shape = shape, .fanout = fanout};
    paths_map *mapping, *map;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    check_status(paths_map_parse(&mapping, application, strlen(application),
                                 "application.dot"),
                 0);
    options.application = mapping;
    check_status(paths_generate(&map, &options), 0);
    check_status(paths_map_write(map, out), 0);
    fclose(out);
    paths_map_destroy(map);
    paths_map_destroy(mapping);
    return text;
}

char *mapping_of(unsigned threads, const char *use, const char *type,
                 const char *more)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph test { all [kind=element, type=\"%s\"];\n", type);
    for (unsigned i = 0; i < threads; i++)
        fprintf(out, "t%u [kind=thread, number=%u]; t%u -> all [use=%s];\n", i,
                i, i, use);
    fprintf(out, "%s}\n", more);
    fclose(out);
    return text;
}
