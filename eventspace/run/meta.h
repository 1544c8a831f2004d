/* meta.h - RUN/<process>.meta: what is known of a process beside its elements.
 *
 * The file is one msgpack map with string keys:
 *
 *   version      u    format of this file: 1
 *   eventspace   str  version of the program that wrote it
 *   host         str  its name, as of the file
 *   pid          u
 *   tick_source  str  see ticks.h
 *   tick_hz      f64  ticks a second
 *   start_tick   u    \  taken together when the process started
 *   start_wall_ns u   /  (nanoseconds since 1970)
 *   end_tick     u    0 while it runs; 0 too when it and its launcher were
 *                     killed, so that nobody was left to write it
 *   threads      u    of this process
 *   state        str  "running", "finished", "failed", "killed"
 *   text         str  why it failed, or the signal that killed it
 *   counter      str  names the counter: processes in whose files it is the
 *                     same read one and the same. "" or left out: not known
 *   start_boot_ns     i the same moment in nanoseconds since the machine was
 *                     started, whatever its wall clock is set to later. Left
 *                     out: not known
 *   counter_offset_ns i by how much its counter and its wall clock are made to
 *                     be ahead, as a test has it (the `counter_offset` of the
 *                     map). Left out: 0
 *
 *   scheduling_ns     i processor time of the thread that records when the
 *                     others had no processor; when the process has ended. Left
 *                     out: 0
 *
 *   map          i    digest of the path map by which it ran
 *                     (paths_map_digest). Left out: not known
 *   machine      str  where it ran. "" or left out: not known
 *   library      str  of MPI, by which it communicated: "Open MPI 4.1.4". ""
 *                     or left out: none
 *
 * It is written whole to a temporary file and renamed; on a full disk, over
 * what is there. */
#ifndef EVENTSPACE_META_H
#define EVENTSPACE_META_H

#include <stdbool.h>
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
    char process[128];
    uint32_t pid;
    char tick_source[32];
    double tick_hz;
    uint64_t start_tick;
    uint64_t start_wall_ns;
    uint64_t end_tick;
    uint32_t threads;
    eventspace_state state;
    char text[1024];
    char counter[128];
    int64_t start_boot_ns;
    int64_t counter_offset_ns;
    int64_t scheduling_ns;
    int64_t map_digest;
    char machine[128];
    char library[64];
} eventspace_meta;

/* Errors: PASTSET_EIO with the file's name; PASTSET_ENOMEM. */
int eventspace_meta_save(const eventspace_meta *meta, const char *file);
/* Errors: PASTSET_ENOENT, PASTSET_EIO, PASTSET_EFORMAT (with what is wrong in
 * the file). Every key that cannot be left out must be there, each at most
 * once, with a value of its type; keys that are not known are skipped. */
int eventspace_meta_load(eventspace_meta *out, const char *file);
/* From memory; `file` only names it in texts. After an error `out` holds what
 * was read so far. Errors: PASTSET_EFORMAT. */
int eventspace_meta_decode(eventspace_meta *out, const void *data,
                           uint64_t bytes, const char *file);

/* Whether two processes stamp with one and the same counter. Where it has no
 * name, the files of older programs, it is taken to be one when it tells the
 * same time between the two starts as the wall clocks do: the counters of two
 * machines begin at 0 when each is switched on. */
bool eventspace_meta_same_counter(const eventspace_meta *a,
                                  const eventspace_meta *b);

/* Gives `meta` the name of this machine. */
void eventspace_meta_machine(eventspace_meta *meta);

/* Notes when a process of this machine begins: now. */
void eventspace_meta_begin(eventspace_meta *meta);
/* The ticks of a process of this machine now: since the machine was started, by
 * what has passed since the process began, whatever its wall clock was set to;
 * else as far as wall clocks tell. */
uint64_t eventspace_meta_now(const eventspace_meta *meta);

#endif
