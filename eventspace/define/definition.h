/* definition.h - what a run is made of and what numbers in its tuples mean,
 * said by the run itself.
 *
 * A definition says of one thing what kind it is, its number, what it belongs
 * to, its name, and attributes. Definitions are tuples of an element
 * "~definitions", one behind the other and never changed:
 *
 *   RUN/definitions   a space with that element: the path map as it ran
 *                     (map_definitions.h), made before anybody runs;
 *   RUN/<process>...  in the space of a process, what it adds while it runs:
 *                     the regions, marks and metrics of its program, what its
 * messages go by (collect/message.h), and what it adds to the map
 *                     (map_additions.h). A definition comes
 *                     before the first tuple that uses it, so whoever has the
 *                     tuple finds its meaning: while the run goes on, after it,
 *                     after a kill.
 *                   Its remark says how many events of the process are
 *                   recorded and lost, as no stream could be made for them.
 *
 * Readers have no other source of meaning. RUN/pathmap.dot, for people, is the
 * same map as Graphviz reads it.
 *
 * A tuple has, in native byte order, 16 bytes and then up to 256 of text:
 *
 *    0 u32 kind    an eventspace_definition_kind; the highest bit says that the
 *                  tuple goes on with the definition of the one before it
 *    4 u32 id      see the kinds
 *    8 u32 parent  id of what it belongs to; EVENTSPACE_NO_PARENT
 *   12 u32 rest    bytes of text that follow in further tuples
 *
 * The text is the name; if there are attributes, then a 0, and for each of them
 * `"` (or `<`: its value is an HTML-like label of Graphviz), key, 0, value, 0.
 *
 * Threads:   an element of definitions has one writer at a time; a reader is
 *            used by one thread.
 * Ownership: what a reader gives is its own, until its next call. */
#ifndef EVENTSPACE_DEFINITION_H
#define EVENTSPACE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pastset/element.h"

#define EVENTSPACE_DEFINITIONS_NAME "~definitions"
#define EVENTSPACE_DEFINITIONS_TYPE "bytes[272]"
#define EVENTSPACE_DEFINITION_BYTES 272
#define EVENTSPACE_DEFINITION_TEXT_MAX (64u << 20) /* as of a file of a map */
#define EVENTSPACE_REGION_NAME 256       /* bytes of its name, with a 0 */
#define EVENTSPACE_DEFINITIONS_MAX 65536 /* names that a program gives */
#define EVENTSPACE_NO_PARENT UINT32_MAX

typedef enum eventspace_definition_kind {
    /* Of a process. Their ids, which are in the `collector` of trace tuples,
     * begin behind those of the map's collectors, at `base`, and are no other
     * process's: the n-th of the process with rank r among the names of p
     * processes (paths_map_rank_processes) has base + n * p + r. */
    EVENTSPACE_DEFINES_REGION = 1, /* a part of the program, by name; `file`,
                                      `line`: where it is in the source */
    EVENTSPACE_DEFINES_MARK,       /* a moment */
    /* Of the run: see map_definitions.h; and of a process, from DEFINES_THREAD
     * on: see map_additions.h. */
    EVENTSPACE_DEFINES_MAP,
    EVENTSPACE_DEFINES_NODE_DEFAULTS,
    EVENTSPACE_DEFINES_EDGE_DEFAULTS,
    EVENTSPACE_DEFINES_PROCESS,
    EVENTSPACE_DEFINES_THREAD,
    EVENTSPACE_DEFINES_WRAPPER,
    EVENTSPACE_DEFINES_COLLECTOR,
    EVENTSPACE_DEFINES_ELEMENT,
    EVENTSPACE_DEFINES_EDGE,
    /* Of a process, for its messages. Ids of these three, and of what it adds
     * to the map, are the process's own, from 0 and ascending; `parent` is one
     * of them. */
    EVENTSPACE_DEFINES_OPERATION,    /* a kind of call: "MPI_Isend" */
    EVENTSPACE_DEFINES_COMMUNICATOR, /* `key`: a text that is the same in all
                                        processes, and no other's */
    EVENTSPACE_DEFINES_CHANNEL,      /* of a communicator; `from`, `to`: numbers
                                        of threads; `posted_by`: of the one that
                                        has counted receives of it, where that
                                        is not the one whose tuple it is */
    /* As regions and marks. */
    EVENTSPACE_DEFINES_METRIC, /* what a program counts (metric.h) */
    EVENTSPACE_DEFINITION_KINDS
} eventspace_definition_kind;

/* "region", "mark" or "metric": what a program names, whose ids are in the
 * `collector` of tuples; NULL for other kinds. */
const char *eventspace_definition_named(uint32_t kind);

typedef struct eventspace_definition {
    uint32_t kind, id, parent;
    const char *name;
    const char *attributes; /* as in the text; NULL: none */
    size_t attribute_bytes;
} eventspace_definition;

/* --- attributes --- */

/* A text of attributes that is being made; all 0 at first. `text` is to be
 * freed. */
typedef struct eventspace_attributes {
    char *text;
    size_t bytes, capacity;
} eventspace_attributes;

/* Adds one. Errors: PASTSET_ENOMEM. */
int eventspace_attributes_add(eventspace_attributes *attributes,
                              const char *key, const char *value, bool html);
/* The value of a definition's attribute; NULL: it has none of that key. */
const char *eventspace_definition_get(const eventspace_definition *definition,
                                      const char *key);

/* --- writing --- */

/* How many tuples of the element a definition takes. */
uint64_t eventspace_definition_tuples(const eventspace_definition *definition);
/* Writes all of them. Errors: those of pastset_write. */
int eventspace_definition_write(pastset_element *element,
                                const eventspace_definition *definition);

/* --- reading --- */

typedef struct eventspace_definition_reader {
    pastset_cursor cursor;           /* what of the element was read */
    uint64_t seen;                   /* tuples, with those that are damaged */
    uint64_t damaged;                /* definitions that are, at least */
    char problem[440];               /* of the first of them */
    bool is_full;                    /* there is no room in it for more */
    uint32_t kind, id, parent, rest; /* of the one that has begun */
    uint32_t pieces;                 /* tuples of the last one */
    char *text;
    size_t used, capacity;
} eventspace_definition_reader;

/* The next whole definition of an element that can be read. What is damaged is
 * counted and left out, and so is a tuple that cannot be read.
 * Errors: PASTSET_EAGAIN (no more for now), PASTSET_ENOMEM; others as of
 * pastset_read_next. */
int eventspace_definition_next(eventspace_definition_reader *reader,
                               pastset_element *element,
                               eventspace_definition *out);
/* The next one will be the last one again, which its reader could not take. */
void eventspace_definition_again(eventspace_definition_reader *reader);
/* Notes one that is damaged for what its reader knows of it. */
void eventspace_definition_damaged(eventspace_definition_reader *reader,
                                   const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void eventspace_definition_reader_fini(eventspace_definition_reader *reader);

#endif
