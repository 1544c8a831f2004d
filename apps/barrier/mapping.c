/* mapping.c - the application mapping: a barrier of all threads, and two plain
 * elements through which thread 0 learns what has happened.
 *
 * `arrivals` is of policy `block`, so that no note is lost. Notes are written
 * after the last barrier, when nobody waits for their writer any more, and
 * thread 0, which writes none, takes them out: any capacity will do.
 *
 * `order` keeps its events until thread 0 reads them in the end. It grows,
 * so that nobody ever waits for room between two barriers. */
#include <inttypes.h>

#include "apps/barrier/barrier.h"

static void elements_print(bool unchecked, FILE *out)
{
    fprintf(out, "    together [kind=element];\n"
                 "    arrivals [kind=element, type=\"" BARRIER_NOTES_TYPE "\", "
                 "capacity=64, policy=block];\n");
    if (!unchecked)
        fprintf(out, "    order [kind=element, type=\"" BARRIER_EVENT_TYPE
                     "\", capacity=\"64M\", policy=grow];\n");
}

static void edges_print(uint32_t thread, bool unchecked, FILE *out)
{
    fprintf(out, "    t%" PRIu32 " -> together [use=barrier];\n", thread);
    fprintf(out, "    t%" PRIu32 " -> arrivals [use=%s];\n", thread,
            thread ? "write" : "read");
    if (!unchecked)
        fprintf(out, "    t%" PRIu32 " -> order [use=%s];\n", thread,
                thread ? "write" : "both");
}

int barrier_mapping(const program_options *o, FILE *out)
{
    const barrier_options *own = o->own;
    int err = barrier_check(o);

    if (err)
        return err;
    program_mapping_begin(out, "barrier");
    program_mapping_threads(out, o);
    elements_print(own->unchecked, out);
    for (uint32_t i = 0; i < o->threads; i++)
        edges_print(i, own->unchecked, out);
    program_mapping_end(out);
    return 0;
}
