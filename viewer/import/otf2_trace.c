/* otf2_trace.c - see otf2_trace_internal.h. */
#include "viewer/import/otf2_trace_internal.h"

#include <errno.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/status.h"

/* What a definition refers to by a number. */
typedef struct reference {
    uint64_t id;
    uint64_t name; /* of a string */
    uint64_t of;   /* process of a thread, group of a communicator */
    bool derived;  /* a communicator from another one */
    uint64_t file; /* of a region: string */
    uint32_t line;
} reference;

typedef struct string {
    uint64_t id;
    char *text;
} string;

typedef struct group {
    uint64_t id;
    bool is_self;
    uint64_t *members;
    uint32_t count;
} group;

/* The whole, with what only reading needs. */
typedef struct reading {
    otf2_trace shown;
    OTF2_Reader *reader;
    string *strings;
    size_t string_count;
    group *groups; /* of communicators: ranks in `locations` */
    size_t group_count;
    group locations; /* of MPI, by rank */
    reference *process_refs, *thread_refs, *region_refs, *comm_refs;
    char **made; /* names that were made here */
    size_t made_count;
    int err;
    /* Of a walk. */
    uint32_t thread;
    otf2_visit *visit;
    void *context;
    uint64_t handled;
} reading;

/* By the library, of the last failure. It does not say that it had no memory
 * for what it makes. */
static char said[512];
static bool has_said;

static OTF2_ErrorCode note_error(void *data, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list arguments)
{
    char text[300] = "";

    (void)data;
    (void)file;
    (void)line;
    (void)function;
    if (format)
        vsnprintf(text, sizeof(text), format, arguments);
    has_said |= code != OTF2_WARNING && code != OTF2_DEPRECATED;
    if (code != OTF2_WARNING && code != OTF2_DEPRECATED)
        snprintf(said, sizeof(said), "%s%s%s", OTF2_Error_GetDescription(code),
                 *text ? ": " : "", text);
    return code;
}

static int no_memory(void)
{
    return pastset_no_memory("to read a trace");
}

/* Before what `failed` shall speak of. */
static void begin_to_listen(void)
{
    snprintf(said, sizeof(said), "it is not a trace in this format");
    has_said = false;
}

/* `made`: all that the library should make is there. */
static int failed(bool made, OTF2_ErrorCode code, const char *what)
{
    if ((!made && !has_said) || code == OTF2_ERROR_MEM_ALLOC_FAILED ||
        code == OTF2_ERROR_MEM_FAULT || code == OTF2_ERROR_ENOMEM)
        return no_memory();
    return pastset_fail(PASTSET_EFORMAT, "%s%s", what, said);
}

/* --- definitions --- */

#define ADD(r, array, count, ...)                                              \
    do {                                                                       \
        void *more_ = pastset_array_grow((array), (count), sizeof(*(array)));  \
        if (!more_) {                                                          \
            (r)->err = no_memory();                                            \
            return OTF2_CALLBACK_INTERRUPT;                                    \
        }                                                                      \
        (array) = more_;                                                       \
        (array)[(count)++] = __VA_ARGS__;                                      \
    } while (0)

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self,
                                   const char *text)
{
    reading *r = data;
    string *added;

    ADD(r, r->strings, r->string_count, (string){self, NULL});
    added = &r->strings[r->string_count - 1];
    added->text = strdup(text ? text : "");
    r->err = added->text ? 0 : no_memory();
    return r->err ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution,
                                  uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    reading *r = data;

    r->shown.ticks_per_second = (double)resolution;
    r->shown.begin_ticks = offset;
    r->shown.length_ticks = length;
    r->shown.begin_wall_ns =
        realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *data, OTF2_LocationGroupRef self,
                                    OTF2_StringRef name,
                                    OTF2_LocationGroupType type,
                                    OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    reading *r = data;
    size_t count = r->shown.process_count;

    (void)type;
    (void)parent;
    (void)creator;
    ADD(r, r->process_refs, count, (reference){.id = self, .name = name});
    r->shown.process_count = (uint32_t)count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_thread(void *data, OTF2_LocationRef self,
                                   OTF2_StringRef name, OTF2_LocationType type,
                                   uint64_t events,
                                   OTF2_LocationGroupRef process)
{
    reading *r = data;
    size_t count = r->shown.thread_count;

    (void)events;
    if (type == OTF2_LOCATION_TYPE_METRIC)
        return OTF2_CALLBACK_SUCCESS;
    ADD(r, r->thread_refs, count,
        (reference){.id = self, .name = name, .of = process});
    r->shown.thread_count = (uint32_t)count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
          OTF2_StringRef canonical, OTF2_StringRef description,
          OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
          OTF2_StringRef file, uint32_t begin_line, uint32_t end_line)
{
    reading *r = data;
    size_t count = r->shown.region_count;

    (void)canonical;
    (void)description;
    (void)role;
    (void)flags;
    (void)end_line;
    ADD(r, r->region_refs, count,
        (reference){.id = self,
                    .name = name,
                    .of = paradigm == OTF2_PARADIGM_MPI,
                    .file = file,
                    .line = begin_line});
    r->shown.region_count = (uint32_t)count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode members_copy(reading *r, group *to,
                                      const uint64_t *members)
{
    to->members = malloc((to->count + (size_t)1) * sizeof(*to->members));
    if (!to->members) {
        to->count = 0;
        r->err = no_memory();
        return OTF2_CALLBACK_INTERRUPT;
    }
    if (to->count)
        memcpy(to->members, members, to->count * sizeof(*to->members));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self,
                                  OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                  uint32_t count, const uint64_t *members)
{
    reading *r = data;
    group g = {self, type == OTF2_GROUP_TYPE_COMM_SELF, NULL, count};

    (void)name;
    (void)flags;
    if (paradigm != OTF2_PARADIGM_MPI ||
        (type != OTF2_GROUP_TYPE_COMM_LOCATIONS &&
         type != OTF2_GROUP_TYPE_COMM_GROUP && !g.is_self))
        return OTF2_CALLBACK_SUCCESS;
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        free(r->locations.members);
        r->locations = g;
        return members_copy(r, &r->locations, members);
    }
    ADD(r, r->groups, r->group_count, g);
    return members_copy(r, &r->groups[r->group_count - 1], members);
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self,
                                 OTF2_StringRef name, OTF2_GroupRef of,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    reading *r = data;
    size_t count = r->shown.comm_count;

    (void)flags;
    ADD(r, r->comm_refs, count,
        (reference){.id = self,
                    .name = name,
                    .of = of,
                    .derived = parent != OTF2_UNDEFINED_COMM});
    r->shown.comm_count = (uint32_t)count;
    return OTF2_CALLBACK_SUCCESS;
}

static int definitions_read(reading *r)
{
    OTF2_GlobalDefReader *definitions =
        OTF2_Reader_GetGlobalDefReader(r->reader);
    OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
    bool made = definitions && calls;
    uint64_t read;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;

    if (made) {
        OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, on_string);
        OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls,
                                                                 on_clock);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(calls,
                                                               on_process);
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, on_thread);
        OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, on_region);
        OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, on_group);
        OTF2_GlobalDefReaderCallbacks_SetCommCallback(calls, on_comm);
        code = OTF2_Reader_RegisterGlobalDefCallbacks(r->reader, definitions,
                                                      calls, r);
        if (code == OTF2_SUCCESS)
            code = OTF2_Reader_ReadAllGlobalDefinitions(r->reader, definitions,
                                                        &read);
    }
    if (calls)
        OTF2_GlobalDefReaderCallbacks_Delete(calls);
    if (r->err)
        return r->err;
    return code == OTF2_SUCCESS ? 0 : failed(made, code, "its definitions: ");
}

/* --- what they refer to --- */

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Of items that begin with an id and are sorted by it, the last of those with
 * this one; OTF2_NONE. */
static uint32_t find(const void *items, size_t count, size_t bytes, uint64_t id)
{
    const char *at = items;
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)(at + middle * bytes) <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && *(const uint64_t *)(const void *)(at +
                                                        (low - 1) * bytes) == id
               ? (uint32_t)(low - 1)
               : OTF2_NONE;
}

/* glibc's qsort keeps the order of equals only as long as it has memory for
 * that, so the later of two with one id is kept here, and no other. */
static size_t sort(void *items, size_t count, size_t bytes)
{
    char *at = items;
    size_t kept = 0;

    if (!count)
        return 0;
    qsort(items, count, bytes, by_id);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_id(at + (kept - 1) * bytes, at + i * bytes) == 0)
            kept--;
        memmove(at + kept++ * bytes, at + i * bytes, bytes);
    }
    return kept;
}

/* NULL: it is not defined. */
static const char *text_of(const reading *r, uint64_t string_id)
{
    uint32_t at =
        find(r->strings, r->string_count, sizeof(*r->strings), string_id);

    return at == OTF2_NONE ? NULL : r->strings[at].text;
}

/* The name; one that is made if there is none. */
static const char *name_of(reading *r, uint64_t string_id, const char *what,
                           uint64_t id)
{
    uint32_t at =
        find(r->strings, r->string_count, sizeof(*r->strings), string_id);
    char **more, *name;

    if (at != OTF2_NONE && *r->strings[at].text)
        return r->strings[at].text;
    more = pastset_array_grow(r->made, r->made_count, sizeof(*more));
    if (!more || asprintf(&name, "%s %llu", what, (unsigned long long)id) < 0) {
        r->made = more ? more : r->made;
        r->err = no_memory();
        return "";
    }
    r->made = more;
    return r->made[r->made_count++] = name;
}

/* `of` of its reference is where it stands in the list. */
static uint32_t thread_find(const reading *r, uint64_t id)
{
    uint32_t at =
        find(r->thread_refs, r->shown.thread_count, sizeof(reference), id);

    return at == OTF2_NONE ? OTF2_NONE : (uint32_t)r->thread_refs[at].of;
}

/* Ranks of a communicator are places in the list of MPI's locations. */
static int members_find(reading *r, otf2_comm *comm, uint64_t group_id)
{
    uint32_t at = find(r->groups, r->group_count, sizeof(*r->groups), group_id);
    const group *g = at == OTF2_NONE ? NULL : &r->groups[at];

    if (!g)
        return 0;
    comm->is_self = g->is_self;
    comm->members = calloc(g->count + (size_t)1, sizeof(*comm->members));
    if (!comm->members)
        return no_memory();
    comm->member_count = g->count;
    for (uint32_t i = 0; i < g->count; i++)
        comm->members[i] =
            g->members[i] < r->locations.count
                ? thread_find(r, r->locations.members[g->members[i]])
                : OTF2_NONE;
    return 0;
}

static int by_process(const void *a, const void *b)
{
    const otf2_thread *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int lists_make(reading *r)
{
    otf2_trace *t = &r->shown;

    t->processes = calloc(t->process_count + 1u, sizeof(*t->processes));
    t->threads = calloc(t->thread_count + 1u, sizeof(*t->threads));
    t->regions = calloc(t->region_count + 1u, sizeof(*t->regions));
    t->comms = calloc(t->comm_count + 1u, sizeof(*t->comms));
    return t->processes && t->threads && t->regions && t->comms ? 0
                                                                : no_memory();
}

static bool is_mpi_name(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0;
}

/* `names` end with NULL. */
static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name + (*name == 'P'), *names) == 0)
            return true;
    return false;
}

/* Tracers do not say of a communicator that it is between two groups, and
 * define it as one of the group that its process is in. */
static bool joins_groups(const char *name)
{
    static const char *const names[] = {
        "MPI_Intercomm_create", "MPI_Intercomm_create_from_groups",
        "MPI_Comm_spawn",       "MPI_Comm_spawn_multiple",
        "MPI_Comm_accept",      "MPI_Comm_connect",
        "MPI_Comm_join",        NULL,
    };

    return is_one_of(name, names);
}

static bool receives(const char *name)
{
    static const char *const names[] = {
        "MPI_Sendrecv",
        "MPI_Sendrecv_replace",
        "MPI_Isendrecv",
        "MPI_Isendrecv_replace",
        "MPI_Mrecv",
        "MPI_Imrecv",
        NULL,
    };

    return is_one_of(name, names);
}

static int resolve(reading *r)
{
    otf2_trace *t = &r->shown;
    int err;

    r->string_count = sort(r->strings, r->string_count, sizeof(*r->strings));
    r->group_count = sort(r->groups, r->group_count, sizeof(*r->groups));
    t->process_count =
        (uint32_t)sort(r->process_refs, t->process_count, sizeof(reference));
    t->thread_count =
        (uint32_t)sort(r->thread_refs, t->thread_count, sizeof(reference));
    t->region_count =
        (uint32_t)sort(r->region_refs, t->region_count, sizeof(reference));
    t->comm_count =
        (uint32_t)sort(r->comm_refs, t->comm_count, sizeof(reference));
    err = lists_make(r);
    if (err)
        return err;
    for (uint32_t i = 0; i < t->process_count; i++) {
        const reference *p = &r->process_refs[i];
        t->processes[i] =
            (otf2_process){p->id, name_of(r, p->name, "process", p->id)};
    }
    for (uint32_t i = 0; i < t->thread_count; i++) {
        const reference *p = &r->thread_refs[i];
        t->threads[i] =
            (otf2_thread){.id = p->id,
                          .name = name_of(r, p->name, "thread", p->id),
                          .process = find(t->processes, t->process_count,
                                          sizeof(*t->processes), p->of)};
    }
    qsort(t->threads, t->thread_count, sizeof(*t->threads), by_process);
    for (uint32_t i = 0; i < t->thread_count; i++) {
        uint32_t at = find(r->thread_refs, t->thread_count, sizeof(reference),
                           t->threads[i].id);
        r->thread_refs[at].of = i;
    }
    for (uint32_t i = 0; i < t->region_count; i++) {
        const reference *p = &r->region_refs[i];
        const char *name = name_of(r, p->name, "region", p->id);
        t->regions[i] = (otf2_region){p->id,
                                      name,
                                      p->of || is_mpi_name(name),
                                      joins_groups(name),
                                      receives(name),
                                      text_of(r, p->file),
                                      p->line};
    }
    for (uint32_t i = 0; i < t->comm_count && !err; i++) {
        const reference *p = &r->comm_refs[i];
        t->comms[i] =
            (otf2_comm){.id = p->id,
                        .name = name_of(r, p->name, "communicator", p->id),
                        .derived = p->derived};
        err = members_find(r, &t->comms[i], p->of);
    }
    return err ? err : r->err;
}

/* --- opening --- */

static int check(const reading *r)
{
    if (r->shown.thread_count == 0)
        return pastset_fail(PASTSET_EFORMAT, "it has no threads");
    if (!(r->shown.ticks_per_second > 0))
        return pastset_fail(PASTSET_EFORMAT,
                            "it does not say how fast its clock is");
    if (r->shown.ticks_per_second > OTF2_TICKS_MAX)
        return pastset_fail(PASTSET_EFORMAT,
                            "its clock has %g ticks a second: more than %g",
                            r->shown.ticks_per_second, OTF2_TICKS_MAX);
    for (uint32_t i = 0; i < r->shown.thread_count; i++)
        if (r->shown.threads[i].process == OTF2_NONE)
            return pastset_fail(PASTSET_EFORMAT,
                                "its location \"%s\" is in no process",
                                r->shown.threads[i].name);
    return 0;
}

/* Local definitions turn the numbers in the events of a thread into those of
 * the whole trace, and correct its clock, where the tracer wrote them. */
static void local_definitions_read(reading *r)
{
    const otf2_trace *t = &r->shown;

    for (uint32_t i = 0; i < t->thread_count; i++)
        OTF2_Reader_SelectLocation(r->reader, t->threads[i].id);
    if (OTF2_Reader_OpenDefFiles(r->reader) == OTF2_SUCCESS) {
        for (uint32_t i = 0; i < t->thread_count; i++) {
            uint64_t read;
            OTF2_DefReader *local =
                OTF2_Reader_GetDefReader(r->reader, t->threads[i].id);
            if (!local)
                continue;
            OTF2_Reader_ReadAllLocalDefinitions(r->reader, local, &read);
            OTF2_Reader_CloseDefReader(r->reader, local);
        }
        OTF2_Reader_CloseDefFiles(r->reader);
    }
}

int viewer__otf2_trace_open(otf2_trace **out, const char *file)
{
    reading *r = calloc(1, sizeof(*r));
    int err = 0;

    *out = NULL;
    if (!r)
        return no_memory();
    OTF2_Error_RegisterCallback(note_error, NULL);
    begin_to_listen();
    if (access(file, R_OK) != 0)
        err = pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO, "%s",
                           strerror(errno));
    if (!err) {
        r->reader = OTF2_Reader_Open(file);
        if (!r->reader)
            err = failed(false, OTF2_ERROR_INVALID, "not an OTF2 trace: ");
    }
    if (!err &&
        OTF2_Reader_SetSerialCollectiveCallbacks(r->reader) != OTF2_SUCCESS)
        err = pastset_fail(PASTSET_EFORMAT, "%s", said);
    if (!err && OTF2_Reader_GetTraceId(r->reader, &r->shown.id) != OTF2_SUCCESS)
        r->shown.id = 0;
    if (!err)
        err = definitions_read(r);
    if (!err)
        err = resolve(r);
    if (!err)
        err = check(r);
    if (!err)
        local_definitions_read(r);
    if (!err && OTF2_Reader_OpenEvtFiles(r->reader) != OTF2_SUCCESS)
        err = failed(true, OTF2_ERROR_INVALID, "its events: ");
    if (err) {
        pastset_fail_while(err, "%s", file);
        viewer__otf2_trace_close(&r->shown);
        return err;
    }
    *out = &r->shown;
    return 0;
}

void viewer__otf2_trace_close(otf2_trace *trace)
{
    reading *r = (reading *)trace; /* `shown` is its first member */

    if (!r)
        return;
    if (r->reader)
        OTF2_Reader_Close(r->reader);
    for (size_t i = 0; i < r->string_count; i++)
        free(r->strings[i].text);
    for (size_t i = 0; i < r->made_count; i++)
        free(r->made[i]);
    for (size_t i = 0; i < r->group_count; i++)
        free(r->groups[i].members);
    for (uint32_t i = 0; r->shown.comms && i < r->shown.comm_count; i++)
        free(r->shown.comms[i].members);
    free(r->locations.members);
    free(r->strings);
    free(r->made);
    free(r->groups);
    free(r->process_refs);
    free(r->thread_refs);
    free(r->region_refs);
    free(r->comm_refs);
    free(r->shown.processes);
    free(r->shown.threads);
    free(r->shown.regions);
    free(r->shown.comms);
    free(r);
}

/* --- events --- */

static OTF2_CallbackCode give(reading *r, const otf2_event *event)
{
    r->handled++;
    if (event->kind == OTF2_NOTHING)
        return OTF2_CALLBACK_SUCCESS;
    r->err = r->visit(r->thread, event, r->context);
    return r->err ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode give_region(reading *r, otf2_event_kind kind,
                                     uint64_t ticks, uint64_t region)
{
    otf2_event event = {.kind = kind,
                        .ticks = ticks,
                        .region = find(r->shown.regions, r->shown.region_count,
                                       sizeof(*r->shown.regions), region)};

    return give(r, &event);
}

static uint32_t comm_find(const reading *r, uint64_t comm)
{
    return find(r->shown.comms, r->shown.comm_count, sizeof(*r->shown.comms),
                comm);
}

static otf2_event message_of(const reading *r, otf2_event_kind kind,
                             uint64_t ticks, uint32_t peer, uint64_t comm,
                             uint32_t tag, uint64_t bytes)
{
    return (otf2_event){.kind = kind,
                        .ticks = ticks,
                        .comm = comm_find(r, comm),
                        .rank = peer,
                        .tag = tag,
                        .bytes = bytes};
}

static OTF2_CallbackCode give_message(reading *r, otf2_event_kind kind,
                                      uint64_t ticks, uint32_t peer,
                                      uint64_t comm, uint32_t tag,
                                      uint64_t bytes)
{
    otf2_event event = message_of(r, kind, ticks, peer, comm, tag, bytes);

    return give(r, &event);
}

static OTF2_CallbackCode give_plain(reading *r, otf2_event_kind kind,
                                    uint64_t ticks)
{
    otf2_event event = {.kind = kind, .ticks = ticks};

    return give(r, &event);
}

/* What every event comes with. */
#define EVENT                                                                  \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,         \
        void *data, OTF2_AttributeList *attributes
#define UNUSED                                                                 \
    (void)location;                                                            \
    (void)position;                                                            \
    (void)attributes

static OTF2_CallbackCode on_enter(EVENT, OTF2_RegionRef region)
{
    UNUSED;
    return give_region(data, OTF2_ENTER, time, region);
}

static OTF2_CallbackCode on_leave(EVENT, OTF2_RegionRef region)
{
    UNUSED;
    return give_region(data, OTF2_LEAVE, time, region);
}

static OTF2_CallbackCode on_send(EVENT, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    UNUSED;
    return give_message(data, OTF2_SEND, time, peer, comm, tag, bytes);
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes,
                                  uint64_t request)
{
    UNUSED;
    (void)request;
    return give_message(data, OTF2_SEND, time, peer, comm, tag, bytes);
}

static OTF2_CallbackCode on_isend_complete(EVENT, uint64_t request)
{
    UNUSED;
    (void)request;
    return give_plain(data, OTF2_NOTHING, time);
}

static OTF2_CallbackCode on_irecv_request(EVENT, uint64_t request)
{
    otf2_event event = {
        .kind = OTF2_RECEIVE_REQUEST, .ticks = time, .request = request};

    UNUSED;
    return give(data, &event);
}

static OTF2_CallbackCode on_receive(EVENT, uint32_t peer, OTF2_CommRef comm,
                                    uint32_t tag, uint64_t bytes)
{
    UNUSED;
    return give_message(data, OTF2_RECEIVE, time, peer, comm, tag, bytes);
}

static OTF2_CallbackCode on_ireceive(EVENT, uint32_t peer, OTF2_CommRef comm,
                                     uint32_t tag, uint64_t bytes,
                                     uint64_t request)
{
    otf2_event event =
        message_of(data, OTF2_RECEIVE, time, peer, comm, tag, bytes);

    UNUSED;
    event.requested = true;
    event.request = request;
    return give(data, &event);
}

static OTF2_CallbackCode on_collective_begin(EVENT)
{
    UNUSED;
    return give_plain(data, OTF2_NOTHING, time);
}

static OTF2_CallbackCode on_collective_end(EVENT, OTF2_CollectiveOp operation,
                                           OTF2_CommRef comm, uint32_t root,
                                           uint64_t sent, uint64_t received)
{
    reading *r = data;
    otf2_event event = {.kind = OTF2_COLLECTIVE,
                        .ticks = time,
                        .comm = comm_find(r, comm),
                        .rank = root,
                        .operation = operation,
                        .bytes = sent > received ? sent : received};

    UNUSED;
    return give(r, &event);
}

static OTF2_CallbackCode on_thread_begin(EVENT, OTF2_CommRef team,
                                         uint64_t sequence)
{
    UNUSED;
    (void)team;
    (void)sequence;
    return give_plain(data, OTF2_THREAD_BEGINS, time);
}

static OTF2_CallbackCode on_thread_end(EVENT, OTF2_CommRef team,
                                       uint64_t sequence)
{
    UNUSED;
    (void)team;
    (void)sequence;
    return give_plain(data, OTF2_THREAD_ENDS, time);
}

static OTF2_EvtReaderCallbacks *calls_make(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

    if (!c)
        return NULL;
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_receive);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_ireceive);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c,
                                                          on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(c, on_thread_begin);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(c, on_thread_end);
    return c;
}

int viewer__otf2_trace_walk(otf2_trace *trace, uint32_t thread,
                            otf2_visit *visit, void *context, uint64_t *others)
{
    reading *r = (reading *)trace;
    uint64_t read = 0;
    OTF2_EvtReaderCallbacks *calls = calls_make();
    OTF2_EvtReader *events;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID;
    int err;

    begin_to_listen();
    events = OTF2_Reader_GetEvtReader(r->reader, trace->threads[thread].id);
    r->thread = thread;
    r->visit = visit;
    r->context = context;
    r->handled = 0;
    r->err = 0;
    if (events && calls) {
        code = OTF2_Reader_RegisterEvtCallbacks(r->reader, events, calls, r);
        if (code == OTF2_SUCCESS)
            code = OTF2_Reader_ReadAllLocalEvents(r->reader, events, &read);
    }
    if (calls)
        OTF2_EvtReaderCallbacks_Delete(calls);
    if (events)
        OTF2_Reader_CloseEvtReader(r->reader, events);
    *others = read > r->handled ? read - r->handled : 0;
    if (r->err)
        return r->err;
    err = code == OTF2_SUCCESS ? 0 : failed(events && calls, code, "");
    if (err)
        pastset_fail_while(err, "the events of \"%s\"",
                           trace->threads[thread].name);
    return err;
}
