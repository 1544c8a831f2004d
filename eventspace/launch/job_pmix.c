/* job_pmix.c - a server that speaks PMIx: that of Open MPI's mpirun, and of
 * `srun --mpi=pmix`. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/launch/job_internal.h"
#include "pastset/status.h"

#define LIBRARY "libpmix.so.2"
#define PACKAGE "libpmix2"

static pmix_status_t (*pmix_init)(pmix_proc_t *, pmix_info_t *, size_t);
static pmix_status_t (*pmix_finalize)(const pmix_info_t *, size_t);
static pmix_status_t (*pmix_put)(pmix_scope_t, const char *, pmix_value_t *);
static pmix_status_t (*pmix_commit)(void);
static pmix_status_t (*pmix_fence)(const pmix_proc_t *, size_t,
                                   const pmix_info_t *, size_t);
static pmix_status_t (*pmix_get)(const pmix_proc_t *, const char *,
                                 const pmix_info_t *, size_t, pmix_value_t **);
static const char *(*pmix_error)(pmix_status_t);

static const job_symbol symbols[] = {
    {"PMIx_Init", &pmix_init},         {"PMIx_Finalize", &pmix_finalize},
    {"PMIx_Put", &pmix_put},           {"PMIx_Commit", &pmix_commit},
    {"PMIx_Fence", &pmix_fence},       {"PMIx_Get", &pmix_get},
    {"PMIx_Error_string", &pmix_error}};

static pmix_proc_t self; /* a process is one client only */

static int fail(pmix_status_t status, const char *what)
{
    return pastset_fail(PASTSET_EHOST, "PMIx: cannot %s: %s", what,
                        pmix_error(status));
}

/* The values are those of the types that are asked for here. */
static int value_get(pmix_value_t **out, uint32_t rank, const char *key,
                     pmix_data_type_t type)
{
    pmix_proc_t of = self;
    pmix_status_t status;

    of.rank = rank;
    *out = NULL;
    status = pmix_get(&of, key, NULL, 0, out);
    if (status != PMIX_SUCCESS)
        return fail(status, "get what another task has said");
    if (*out && (*out)->type == type)
        return 0;
    free(*out);
    return pastset_fail(PASTSET_EHOST, "PMIx: %s is of an unknown type", key);
}

static int pmix_open(uint32_t *rank, uint32_t *size)
{
    pmix_value_t *value;
    pmix_status_t status;
    int err = eventspace__job_library_load(
        LIBRARY, PACKAGE, symbols, sizeof(symbols) / sizeof(symbols[0]));

    if (err)
        return err;
    status = pmix_init(&self, NULL, 0);
    if (status != PMIX_SUCCESS)
        return fail(status, "reach the launcher of this job");
    err = value_get(&value, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32);
    if (err) {
        pmix_finalize(NULL, 0);
        return err;
    }
    *rank = self.rank;
    *size = value->data.uint32;
    free(value);
    return 0;
}

static int pmix_text_put(uint32_t rank, const char *key, const char *text)
{
    pmix_value_t value = {.type = PMIX_STRING};
    char copy[EVENTSPACE_JOB_TEXT];
    pmix_status_t status;

    (void)rank; /* it is known */
    snprintf(copy, sizeof(copy), "%s", text);
    value.data.string = copy;
    status = pmix_put(PMIX_GLOBAL, key, &value);
    return status == PMIX_SUCCESS ? 0 : fail(status, "say something");
}

static int pmix_all_fence(void)
{
    pmix_info_t collect = {
        .key = PMIX_COLLECT_DATA,
        .value = {.type = PMIX_BOOL, .data = {.flag = true}}};
    pmix_status_t status = pmix_commit();

    if (status == PMIX_SUCCESS)
        status = pmix_fence(NULL, 0, &collect, 1);
    return status == PMIX_SUCCESS ? 0 : fail(status, "meet the other tasks");
}

static int pmix_text_get(uint32_t rank, const char *key,
                         char text[EVENTSPACE_JOB_TEXT])
{
    pmix_value_t *value;
    int err = value_get(&value, rank, key, PMIX_STRING);

    if (err)
        return err;
    snprintf(text, EVENTSPACE_JOB_TEXT, "%s", value->data.string);
    free(value->data.string);
    free(value);
    return 0;
}

static void pmix_close(void)
{
    pmix_finalize(NULL, 0);
}

const job_server eventspace__job_pmix = {
    pmix_open, pmix_text_put, pmix_all_fence, pmix_text_get, pmix_close, false};
