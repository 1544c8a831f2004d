/* job_pmi2.c - a server that speaks PMI-2: that of MPICH's mpirun (Hydra), and
 * of `srun --mpi=pmi2`, by the client library of Slurm.
 *
 * All tasks have one table, of short words: so the key names the task, and a
 * text is written in hexadecimal digits. */
#include <slurm/pmi2.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/launch/job_internal.h"
#include "pastset/status.h"

#define LIBRARY "libpmi2.so.0"
#define PACKAGE "libpmi2-0"

_Static_assert(2 * EVENTSPACE_JOB_TEXT < PMI2_MAX_VALLEN, "a text has room");

static int (*pmi2_init)(int *, int *, int *, int *);
static int (*pmi2_finalize)(void);
static int (*pmi2_put)(const char *, const char *);
static int (*pmi2_fence)(void);
static int (*pmi2_get)(const char *, int, const char *, char *, int, int *);

static const job_symbol symbols[] = {{"PMI2_Init", &pmi2_init},
                                     {"PMI2_Finalize", &pmi2_finalize},
                                     {"PMI2_KVS_Put", &pmi2_put},
                                     {"PMI2_KVS_Fence", &pmi2_fence},
                                     {"PMI2_KVS_Get", &pmi2_get}};

static int fail(int error, const char *what)
{
    return pastset_fail(PASTSET_EHOST, "PMI-2: cannot %s: error %d", what,
                        error);
}

static int pmi2_open(uint32_t *rank, uint32_t *size)
{
    int spawned, tasks, mine, application, error;
    int err = eventspace__job_library_load(
        LIBRARY, PACKAGE, symbols, sizeof(symbols) / sizeof(symbols[0]));

    if (err)
        return err;
    error = pmi2_init(&spawned, &tasks, &mine, &application);
    if (error != PMI2_SUCCESS)
        return fail(error, "reach the launcher of this job");
    if (mine < 0 || tasks <= mine)
        return fail(PMI2_FAIL, "tell which task this is");
    *rank = (uint32_t)mine;
    *size = (uint32_t)tasks;
    return 0;
}

static void key_name(char name[PMI2_MAX_KEYLEN], uint32_t rank, const char *key)
{
    snprintf(name, PMI2_MAX_KEYLEN, "%s.%u", key, rank);
}

static int pmi2_text_put(uint32_t rank, const char *key, const char *text)
{
    char name[PMI2_MAX_KEYLEN], digits[2 * EVENTSPACE_JOB_TEXT + 1];
    int error;

    key_name(name, rank, key);
    sodium_bin2hex(digits, sizeof(digits), (const unsigned char *)text,
                   strnlen(text, EVENTSPACE_JOB_TEXT - 1));
    error = pmi2_put(name, digits);
    return error == PMI2_SUCCESS ? 0 : fail(error, "say something");
}

static int pmi2_all_fence(void)
{
    int error = pmi2_fence();

    return error == PMI2_SUCCESS ? 0 : fail(error, "meet the other tasks");
}

static int pmi2_text_get(uint32_t rank, const char *key,
                         char text[EVENTSPACE_JOB_TEXT])
{
    char name[PMI2_MAX_KEYLEN], digits[PMI2_MAX_VALLEN] = "";
    size_t bytes;
    int length = 0, error;

    key_name(name, rank, key);
    /* Whose it is, is in its name: anybody's will do. */
    error = pmi2_get(NULL, PMI2_ID_NULL, name, digits, sizeof(digits), &length);
    if (error != PMI2_SUCCESS)
        return fail(error, "get what another task has said");
    if (sodium_hex2bin((unsigned char *)text, EVENTSPACE_JOB_TEXT - 1, digits,
                       strnlen(digits, sizeof(digits)), NULL, &bytes,
                       NULL) != 0)
        return fail(PMI2_FAIL, "read what another task has said");
    text[bytes] = '\0';
    return 0;
}

static void pmi2_close(void)
{
    pmi2_finalize();
}

const job_server eventspace__job_pmi2 = {
    pmi2_open, pmi2_text_put, pmi2_all_fence, pmi2_text_get, pmi2_close, false};
