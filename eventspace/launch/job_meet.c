/* job_meet.c - how the launchers of a job come to one run: each starts one
 * process of the map, that of its rank.
 *
 *     round        gives                             so that
 *     begin        machine, digest of the map,       all have one map, and know
 *                  public key, name of the host      whether loopback will do
 *     addresses    where the process listens         all fill in their maps
 *     directory    the first has made it, or each    all look for it
 *                  its own if they share no files
 *     seen         it is there                       processes may start
 *
 * The run's key is the first task's. What is in the server may be read by
 * whoever can read the server's files or the network between its parts, so the
 * key is sealed for each task, with the public key that this task has made for
 * that; it is never anywhere in clear but in the memory of launchers. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/launch/job_internal.h"
#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run_map.h"
#include "paths/net/address.h"
#include "pastset/status.h"

#define SEALED_BYTES (EVENTSPACE_KEY_BYTES + crypto_box_SEALBYTES)
#define PUBLIC_DIGITS (2 * crypto_box_PUBLICKEYBYTES)
#define MACHINE_BYTES 100
#define HOST_BYTES 80
/* A network file system may show late what another machine has made. */
#define SEE_MS 10000
#define LOOK_MS 50

_Static_assert(sizeof(((launch_meeting *)0)->open_key) ==
                       crypto_box_PUBLICKEYBYTES &&
                   sizeof(((launch_meeting *)0)->secret_key) ==
                       crypto_box_SECRETKEYBYTES,
               "keys have room");

/* --- begin --- */

/* Processes of one machine reach each other by loopback if their network is one
 * as well: what is told apart here is both. */
static void machine_name(char out[MACHINE_BYTES])
{
    char boot[48] = "", network[40] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    ssize_t length;

    if (file && fgets(boot, sizeof(boot), file))
        boot[strcspn(boot, "\n")] = '\0';
    if (file)
        fclose(file);
    length = readlink("/proc/self/ns/net", network, sizeof(network) - 1);
    network[length > 0 ? length : 0] = '\0';
    /* Without them, nobody is taken to be here. */
    if (!*boot || !*network)
        snprintf(boot, sizeof(boot), "%d.%ld", getpid(), (long)time(NULL));
    snprintf(out, MACHINE_BYTES, "%s/%s", boot, network);
}

typedef struct greeting {
    char machine[MACHINE_BYTES];
    uint64_t digest;
    char open_key[PUBLIC_DIGITS + 1];
    char host[HOST_BYTES];
} greeting;

static int greeting_read(greeting *out, const eventspace_job *job,
                         uint32_t rank)
{
    if (sscanf(eventspace__job_text(job, rank),
               "%99s %" SCNx64 " %64s %79[^\n]", out->machine, &out->digest,
               out->open_key, out->host) == 4)
        return 0;
    return pastset_fail(PASTSET_EPROTO,
                        "task %u is of another version of EventSpace", rank);
}

/* The run's key for one task. */
static int key_put(const launch_meeting *m, uint32_t rank, const greeting *of,
                   const uint8_t *key)
{
    uint8_t open_key[crypto_box_PUBLICKEYBYTES], sealed[SEALED_BYTES];
    char digits[2 * SEALED_BYTES + 1], name[40];
    size_t bytes = 0;

    if (sodium_hex2bin(open_key, sizeof(open_key), of->open_key, PUBLIC_DIGITS,
                       NULL, &bytes, NULL) != 0 ||
        bytes != sizeof(open_key) ||
        crypto_box_seal(sealed, key, EVENTSPACE_KEY_BYTES, open_key) != 0)
        return pastset_fail(PASTSET_EPROTO, "task %u has sent no public key",
                            rank);
    sodium_bin2hex(digits, sizeof(digits), sealed, sizeof(sealed));
    snprintf(name, sizeof(name), "eventspace.key.%u", rank);
    return eventspace__job_put(m->job, name, digits);
}

static int greetings_take(launch_meeting *m, const uint8_t *key)
{
    uint32_t size = eventspace_job_size(m->job);
    greeting first, other;
    int err = greeting_read(&first, m->job, 0);

    m->one_machine = true;
    for (uint32_t i = 1; i < size && !err; i++) {
        err = greeting_read(&other, m->job, i);
        if (err)
            break;
        m->one_machine &= strcmp(first.machine, other.machine) == 0;
        if (first.digest != other.digest)
            return eventspace__job_all_fail(
                m->job,
                pastset_fail(PASTSET_EMAP,
                             "the tasks have read different maps: that of task "
                             "%u on %s is not that of task 0 on %s; give all "
                             "the same file, on a file system that their "
                             "machines share",
                             i, other.host, first.host));
        if (m->rank == 0)
            err = key_put(m, i, &other, key);
    }
    return err;
}

int eventspace__meet_begin(launch_meeting *m, eventspace_job *job,
                           const paths_map *map, const uint8_t *key)
{
    char text[EVENTSPACE_JOB_TEXT], machine[MACHINE_BYTES];
    char digits[PUBLIC_DIGITS + 1], host[HOST_BYTES] = "?";
    int err;

    m->job = job;
    m->rank = eventspace_job_rank(job);
    crypto_box_keypair(m->open_key, m->secret_key);
    sodium_bin2hex(digits, sizeof(digits), m->open_key, sizeof(m->open_key));
    machine_name(machine);
    gethostname(host, sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    snprintf(text, sizeof(text), "%s %" PRIx64 " %s %s", machine,
             paths_map_digest(map), digits, host);
    err = eventspace__job_exchange(job, text);
    return err ? err : greetings_take(m, key);
}

int eventspace__meet_listen_at(const launch_meeting *m,
                               char out[PATHS_ADDRESS_TEXT])
{
    if (!m->one_machine)
        return eventspace__host_address(out);
    snprintf(out, PATHS_ADDRESS_TEXT, "%s", PATHS_ADDRESS_LOOPBACK);
    return 0;
}

/* --- addresses --- */

static int address_take(const launch_meeting *m, paths_map *map, uint32_t rank)
{
    const char *text = eventspace__job_text(m->job, rank);
    paths_address parsed = {.port = 0};
    int err = paths_address_parse(&parsed, text);

    if (!err && !parsed.port)
        err = pastset_fail(PASTSET_EPROTO, "'%s' has no port", text);
    if (err)
        return pastset_fail_while(err, "the address of task %u", rank);
    return paths_attributes_set(&map->processes[rank].attributes, "address",
                                text);
}

static int key_take(launch_meeting *m, uint8_t *key)
{
    char digits[EVENTSPACE_JOB_TEXT], name[40];
    uint8_t sealed[SEALED_BYTES];
    size_t bytes = 0;
    int err;

    snprintf(name, sizeof(name), "eventspace.key.%u", m->rank);
    err = eventspace__job_get(m->job, 0, name, digits);
    if (err)
        return err;
    if (sodium_hex2bin(sealed, sizeof(sealed), digits, strlen(digits), NULL,
                       &bytes, NULL) == 0 &&
        bytes == sizeof(sealed) &&
        crypto_box_seal_open(key, sealed, sizeof(sealed), m->open_key,
                             m->secret_key) == 0)
        return 0;
    return pastset_fail(PASTSET_EAUTH, "the key of the run that the first task "
                                       "has sent cannot be opened");
}

int eventspace__meet_addresses(launch_meeting *m, paths_map *map,
                               const char *mine, uint8_t *key)
{
    int err = eventspace__job_exchange(m->job, mine);

    for (uint32_t i = 0; i < map->process_count && !err; i++)
        err = address_take(m, map, i);
    if (!err && m->rank != 0)
        err = key_take(m, key);
    sodium_memzero(m->secret_key, sizeof(m->secret_key));
    return err;
}

/* --- the run directory --- */

/* Whether it is this run that is in it. */
static bool is_ours(const char *directory, const paths_map *map)
{
    char problem[EVENTSPACE_RUN_PROBLEM];
    paths_map *there;
    uint32_t nodes;
    bool same;

    if (eventspace_run_map_read(&there, directory, problem, sizeof(problem),
                                &nodes) != 0)
        return false;
    same = !*problem && paths_map_digest(there) == paths_map_digest(map) &&
           there->process_count == map->process_count;
    for (uint32_t i = 0; same && i < map->process_count; i++) {
        const char *wanted =
            paths_attributes_get(&map->processes[i].attributes, "address");
        uint32_t at = paths_map_find_process(there, map->processes[i].name);
        const char *got =
            at == PATHS_NONE ? NULL
                             : paths_attributes_get(
                                   &there->processes[at].attributes, "address");
        same = got && strcmp(got, wanted) == 0;
    }
    paths_map_destroy(there);
    return same;
}

static int directory_see(const launch_meeting *m, const char *directory,
                         const paths_map *map)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    uint32_t left = eventspace__job_wait_ms(m->job) / 2; /* others wait, too */
    char host[HOST_BYTES] = "?";

    for (left = left < SEE_MS ? left : SEE_MS;;
         left -= left < LOOK_MS ? left : LOOK_MS) {
        if (is_ours(directory, map))
            return 0;
        if (left == 0)
            break;
        nanosleep(&pause, NULL);
    }
    gethostname(host, sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    return pastset_fail(PASTSET_ENOENT,
                        "%s: task %u on %s does not see the run directory that "
                        "task 0 has made: it must be on a file system that all "
                        "machines of the job share",
                        directory, m->rank, host);
}

int eventspace__meet_directory(launch_meeting *m, const char *directory,
                               const paths_map *map)
{
    int err = eventspace__job_exchange(m->job, "made");

    if (!err && m->rank != 0 && !eventspace__job_is_apart(m->job))
        err = directory_see(m, directory, map);
    if (!err)
        err = eventspace__job_exchange(m->job, "seen");
    return err;
}
