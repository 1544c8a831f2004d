/* otf2_make.c - see otf2_make.h. */
#include "tests/viewer/otf2_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS 64
#define BASE_NS INT64_C(100000000000) /* before which no clock begins */

struct otf2_make {
    OTF2_Archive *archive;
    OTF2_EvtWriter **writers;
    uint64_t *counts;
    uint32_t ranks;
    const char *name, *communicator;
    uint64_t a_second, bytes;
    const int64_t *ahead_ns;
    char *regions[REGIONS];
    uint32_t region_count;
    uint64_t last;
};

static void must(OTF2_ErrorCode code)
{
    if (code == OTF2_SUCCESS)
        return;
    fprintf(stderr, "otf2_make: %s\n", OTF2_Error_GetDescription(code));
    abort();
}

static OTF2_FlushType flush(void *data, OTF2_FileType type,
                            OTF2_LocationRef location, void *caller, bool final)
{
    (void)data;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp flushed(void *data, OTF2_FileType type,
                              OTF2_LocationRef location)
{
    (void)data;
    (void)type;
    (void)location;
    return 0;
}

otf2_make *otf2_make_begin(const char *directory, uint32_t ranks,
                           const int64_t *ahead_ns)
{
    static OTF2_FlushCallbacks calls = {flush, flushed};
    otf2_make *m = calloc(1, sizeof(*m));

    m->ranks = ranks;
    m->ahead_ns = ahead_ns;
    m->bytes = 8;
    m->writers = calloc(2 * ranks, sizeof(OTF2_EvtWriter *));
    m->counts = calloc(2 * ranks, sizeof(*m->counts));
    m->archive = OTF2_Archive_Open(directory, "trace", OTF2_FILEMODE_WRITE,
                                   1024 * 1024, 4 * 1024 * 1024,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    must(OTF2_Archive_SetFlushCallbacks(m->archive, &calls, NULL));
    must(OTF2_Archive_SetSerialCollectiveCallbacks(m->archive));
    must(OTF2_Archive_OpenEvtFiles(m->archive));
    for (uint32_t i = 0; i < ranks; i++)
        m->writers[i] = OTF2_Archive_GetEvtWriter(m->archive, i);
    return m;
}

uint32_t otf2_make_helper(otf2_make *m, uint32_t rank)
{
    uint32_t helper = m->ranks + rank;

    if (!m->writers[helper]) {
        m->writers[helper] = OTF2_Archive_GetEvtWriter(m->archive, helper);
    }
    return helper;
}

void otf2_make_name(otf2_make *m, const char *processes,
                    const char *communicator)
{
    m->name = processes;
    m->communicator = communicator;
}

void otf2_make_ticks(otf2_make *m, uint64_t a_second)
{
    m->a_second = a_second;
}

static uint64_t stamp(otf2_make *m, uint32_t rank, int64_t ns)
{
    uint64_t ticks =
        (uint64_t)(BASE_NS + ns +
                   (m->ahead_ns ? m->ahead_ns[rank % m->ranks] : 0));

    m->counts[rank]++;
    m->last = ticks > m->last ? ticks : m->last;
    return ticks;
}

static uint32_t region_of(otf2_make *m, const char *name)
{
    for (uint32_t i = 0; i < m->region_count; i++)
        if (strcmp(m->regions[i], name) == 0)
            return i;
    m->regions[m->region_count] = strdup(name);
    return m->region_count++;
}

void otf2_enter(otf2_make *m, uint32_t rank, int64_t ns, const char *region)
{
    must(OTF2_EvtWriter_Enter(m->writers[rank], NULL, stamp(m, rank, ns),
                              region_of(m, region)));
}

void otf2_leave(otf2_make *m, uint32_t rank, int64_t ns, const char *region)
{
    must(OTF2_EvtWriter_Leave(m->writers[rank], NULL, stamp(m, rank, ns),
                              region_of(m, region)));
}

void otf2_make_bytes(otf2_make *m, uint64_t bytes)
{
    m->bytes = bytes;
}

void otf2_send(otf2_make *m, uint32_t rank, int64_t ns, uint32_t to,
               uint32_t tag)
{
    must(OTF2_EvtWriter_MpiSend(m->writers[rank], NULL, stamp(m, rank, ns), to,
                                0, tag, m->bytes));
}

void otf2_receive(otf2_make *m, uint32_t rank, int64_t ns, uint32_t from,
                  uint32_t tag)
{
    must(OTF2_EvtWriter_MpiRecv(m->writers[rank], NULL, stamp(m, rank, ns),
                                from, 0, tag, m->bytes));
}

void otf2_request(otf2_make *m, uint32_t rank, int64_t ns, uint64_t id)
{
    must(OTF2_EvtWriter_MpiIrecvRequest(m->writers[rank], NULL,
                                        stamp(m, rank, ns), id));
}

void otf2_call_wait(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns,
                    uint32_t from, uint32_t tag, uint64_t id)
{
    otf2_enter(m, rank, from_ns, "MPI_Wait");
    must(OTF2_EvtWriter_MpiIrecv(m->writers[rank], NULL, stamp(m, rank, to_ns),
                                 from, 0, tag, m->bytes, id));
    otf2_leave(m, rank, to_ns, "MPI_Wait");
}

void otf2_collective(otf2_make *m, uint32_t rank, int64_t ns,
                     OTF2_CollectiveOp operation, uint32_t root)
{
    must(OTF2_EvtWriter_MpiCollectiveEnd(
        m->writers[rank], NULL, stamp(m, rank, ns), operation, 0, root, 8, 8));
}

void otf2_thread(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns)
{
    if (to_ns < 0)
        must(OTF2_EvtWriter_ThreadBegin(m->writers[rank], NULL,
                                        stamp(m, rank, from_ns),
                                        OTF2_UNDEFINED_COMM, 0));
    else
        must(OTF2_EvtWriter_ThreadEnd(m->writers[rank], NULL,
                                      stamp(m, rank, to_ns),
                                      OTF2_UNDEFINED_COMM, 0));
}

void otf2_other(otf2_make *m, uint32_t rank, int64_t ns)
{
    must(OTF2_EvtWriter_BufferFlush(m->writers[rank], NULL, stamp(m, rank, ns),
                                    stamp(m, rank, ns)));
    m->counts[rank]--;
}

void otf2_call_send(otf2_make *m, uint32_t rank, int64_t from_ns, int64_t to_ns,
                    uint32_t to, uint32_t tag)
{
    otf2_enter(m, rank, from_ns, "MPI_Send");
    otf2_send(m, rank, from_ns, to, tag);
    otf2_leave(m, rank, to_ns, "MPI_Send");
}

void otf2_call_receive(otf2_make *m, uint32_t rank, int64_t from_ns,
                       int64_t to_ns, uint32_t from, uint32_t tag)
{
    otf2_enter(m, rank, from_ns, "MPI_Recv");
    otf2_receive(m, rank, to_ns, from, tag);
    otf2_leave(m, rank, to_ns, "MPI_Recv");
}

void otf2_call_collective(otf2_make *m, uint32_t rank, int64_t from_ns,
                          int64_t to_ns, const char *region,
                          OTF2_CollectiveOp operation, uint32_t root)
{
    otf2_enter(m, rank, from_ns, region);
    must(OTF2_EvtWriter_MpiCollectiveBegin(m->writers[rank], NULL,
                                           stamp(m, rank, from_ns)));
    otf2_collective(m, rank, to_ns, operation, root);
    otf2_leave(m, rank, to_ns, region);
}

/* --- definitions --- */

static OTF2_StringRef string(OTF2_GlobalDefWriter *d, const char *text)
{
    static OTF2_StringRef next;

    if (!text)
        return next = 0;
    must(OTF2_GlobalDefWriter_WriteString(d, ++next, text));
    return next;
}

static void ranks_define(otf2_make *m, OTF2_GlobalDefWriter *d)
{
    uint64_t *members = calloc(m->ranks, sizeof(*members));
    char name[20000];

    for (uint32_t i = 0; i < m->ranks; i++) {
        members[i] = i;
        if (m->name)
            snprintf(name, sizeof(name), "%s", m->name);
        else
            snprintf(name, sizeof(name), "rank %u", i);
        must(OTF2_GlobalDefWriter_WriteLocationGroup(
            d, i, string(d, name), OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
            OTF2_UNDEFINED_LOCATION_GROUP));
        must(OTF2_GlobalDefWriter_WriteLocation(d, i, string(d, "main thread"),
                                                OTF2_LOCATION_TYPE_CPU_THREAD,
                                                m->counts[i], i));
    }
    for (uint32_t i = m->ranks; i < 2 * m->ranks; i++)
        if (m->writers[i])
            must(OTF2_GlobalDefWriter_WriteLocation(
                d, i, string(d, "helper"), OTF2_LOCATION_TYPE_CPU_THREAD,
                m->counts[i], i - m->ranks));
    must(OTF2_GlobalDefWriter_WriteGroup(
        d, 0, string(d, "MPI"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, m->ranks, members));
    must(OTF2_GlobalDefWriter_WriteGroup(
        d, 1, string(d, "world"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
        OTF2_GROUP_FLAG_NONE, m->ranks, members));
    must(OTF2_GlobalDefWriter_WriteComm(
        d, 0, string(d, m->communicator ? m->communicator : "MPI_COMM_WORLD"),
        1, m->communicator ? 0 : OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    free(members);
}

static void regions_define(otf2_make *m, OTF2_GlobalDefWriter *d)
{
    for (uint32_t i = 0; i < m->region_count; i++) {
        OTF2_StringRef name = string(d, m->regions[i]);
        must(OTF2_GlobalDefWriter_WriteRegion(
            d, i, name, name, name, OTF2_REGION_ROLE_FUNCTION,
            strncmp(m->regions[i], "MPI_", 4) == 0 ? OTF2_PARADIGM_MPI
                                                   : OTF2_PARADIGM_USER,
            OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
        free(m->regions[i]);
    }
}

void otf2_make_end(otf2_make *m)
{
    OTF2_GlobalDefWriter *d;
    OTF2_StringRef node;

    for (uint32_t i = 0; i < 2 * m->ranks; i++)
        if (m->writers[i])
            must(OTF2_Archive_CloseEvtWriter(m->archive, m->writers[i]));
    must(OTF2_Archive_CloseEvtFiles(m->archive));
    d = OTF2_Archive_GetGlobalDefWriter(m->archive);
    must(OTF2_GlobalDefWriter_WriteClockProperties(
        d, m->a_second ? m->a_second : 1000000000, BASE_NS, m->last - BASE_NS,
        OTF2_UNDEFINED_TIMESTAMP));
    string(d, NULL);
    must(OTF2_GlobalDefWriter_WriteString(d, 0, ""));
    node = string(d, "node");
    must(OTF2_GlobalDefWriter_WriteSystemTreeNode(
        d, 0, node, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    ranks_define(m, d);
    regions_define(m, d);
    must(OTF2_Archive_Close(m->archive));
    free(m->writers);
    free(m->counts);
    free(m);
}
