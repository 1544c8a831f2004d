/* meta.h - RUN/<host>.meta: what is known of a host beside its elements.
 *
 * The file is one msgpack map with string keys:
 *
 *   version      u    format of this file: 1
 *   eventspace   str  version of the program that wrote it
 *   host         str
 *   pid          u
 *   tick_source  str  see ticks.h
 *   tick_hz      f64  ticks a second
 *   start_tick   u    \  taken together when the host started
 *   start_wall_ns u   /  (nanoseconds since 1970)
 *   end_tick     u    0 while it runs
 *   threads      u    of this host
 *   state        str  "running", "finished", "failed", "killed"
 *   text         str  why it failed, or the signal that killed it
 *
 * It is written whole to a temporary file and renamed. */
#ifndef EVENTSPACE_META_H
#define EVENTSPACE_META_H

#include <stdint.h>

#define EVENTSPACE_META_VERSION 1
#define EVENTSPACE_META_MAX_BYTES 65536

typedef enum eventspace_state {
    EVENTSPACE_RUNNING,
    EVENTSPACE_FINISHED,
    EVENTSPACE_FAILED,
    EVENTSPACE_KILLED,
} eventspace_state;

const char *eventspace_state_name(eventspace_state state);

typedef struct eventspace_meta {
    char eventspace[32];
    char host[128];
    uint32_t pid;
    char tick_source[32];
    double tick_hz;
    uint64_t start_tick;
    uint64_t start_wall_ns;
    uint64_t end_tick;
    uint32_t threads;
    eventspace_state state;
    char text[1024];
} eventspace_meta;

/* Errors: PASTSET_EIO with the file's name; PASTSET_ENOMEM. */
int eventspace_meta_save(const eventspace_meta *meta, const char *file);
/* Errors: PASTSET_ENOENT, PASTSET_EIO, PASTSET_EFORMAT (with what is wrong in
 * the file). Every key must be there, once, with a value of its type; keys
 * that are not known are skipped. */
int eventspace_meta_load(eventspace_meta *out, const char *file);
/* From memory; `file` only names it in texts. After an error `out` holds what
 * was read so far. Errors: PASTSET_EFORMAT. */
int eventspace_meta_decode(eventspace_meta *out, const void *data,
                           uint64_t bytes, const char *file);

#endif
