/* map_additions_stress.c - processes add to the map of their run, and trace
 * what they have added, while everybody looks on.
 *
 *     map_additions_stress [ROUNDS [SEED [STEPS]]]
 *
 * With a seed in EVENTSPACE_STRESS_SEED that is the first.
 * Each round is a run of three processes, which define threads, wrappers,
 * collectors, elements and regions all the time, and pause for random times
 * wherever one could look: between the pieces of a definition, between a
 * collector and its stream, between a definition and its first tuple. In every
 * other round one of them is killed there. Meanwhile a mirror and archives are
 * made, and commands look again and again. Then the run, its mirror, its
 * archives without the spaces and a packed copy must all be the same. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_writer.h"
#include "pastset/request.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/reading/snapshot.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROCESSES 3
#define KEYS 8
#define STREAMS 5
#define OWN_MAX 4000
#define IDS_MAX (PROCESSES * OWN_MAX)
#define PATIENCE_S 120
#define TEXT 400

static char directory[] = "/tmp/map_additions_stress.XXXXXX";
static uint32_t seed = 1;
static int steps = 150;

/* What the processes have done, in memory that they share. */
typedef struct shared {
    uint32_t written[IDS_MAX]; /* tuples by id */
    uint32_t is_defined[IDS_MAX];
} shared;

static shared *done;

static void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "map_additions_stress: seed %u: ", seed);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (%s; in %s)\n", pastset_error(), directory);
    exit(1);
}

static void must(bool holds, const char *what)
{
    if (!holds)
        fail("%s", what);
}

/* A file in the directory; valid until the eighth call from now. */
static const char *file_of(const char *name, const char *suffix)
{
    static char texts[8][TEXT];
    static int next;
    char *text = texts[next++ % 8];

    snprintf(text, TEXT, "%s/%s%s", directory, name, suffix);
    return text;
}

static const char *place(const char *name)
{
    return file_of(name, "");
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- a process --- */

typedef struct writer {
    uint32_t process; /* and its rank */
    uint32_t random;
    pastset_space *space;
    pastset_element *definitions;
    pastset_element *streams[STREAMS + 1]; /* the last one of regions */
    uint64_t start_ns, last_ns;
    uint32_t next;                           /* own id */
    uint32_t threads, ids;                   /* how many it has of these */
    uint32_t last_thread;                    /* its own id */
    uint32_t elements[KEYS], wrappers[KEYS]; /* own ids; NO_PARENT: none yet */
    uint8_t stream_of[OWN_MAX];              /* by n-th id */
} writer;

static uint32_t pick(writer *w, uint32_t count)
{
    w->random = w->random * 1664525 + 1013904223;
    return (w->random >> 8) % count;
}

static void pause_some(writer *w)
{
    if (pick(w, 4) == 0)
        usleep(pick(w, 1500));
}

static pastset_element *element_make(writer *w, const char *name,
                                     const char *type_text)
{
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = 100000,
                                       .single_writer = true};
    pastset_element *element;

    must(!pastset_type_parse(&type, type_text), "a type");
    must(!pastset_element_create(&element, w->space, &options), name);
    return element;
}

static uint32_t define_as(writer *w, uint32_t kind, uint32_t id,
                          uint32_t parent, const char *name,
                          eventspace_attributes *attributes)
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    eventspace_definition what = {kind, id, parent, name, NULL, 0};
    size_t at = 0, bytes;

    what.attributes = attributes->text;
    what.attribute_bytes = attributes->bytes;
    while ((bytes = eventspace__definition_encode(tuple, &at, &what)) > 0) {
        must(!pastset_write(w->definitions, tuple, bytes, PASTSET_NOWAIT, NULL),
             "a definition");
        pause_some(w);
    }
    free(attributes->text);
    return id;
}

static uint32_t define(writer *w, uint32_t kind, uint32_t parent,
                       const char *name, eventspace_attributes *attributes)
{
    return define_as(w, kind, w->next++, parent, name, attributes);
}

static void attribute(eventspace_attributes *to, const char *key,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void attribute(eventspace_attributes *to, const char *key,
                      const char *format, ...)
{
    char text[TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    must(!eventspace_attributes_add(to, key, text, false), "an attribute");
}

/* Takes several tuples. */
static void make_long(writer *w, eventspace_attributes *to)
{
    uint32_t count = pick(w, 4);

    for (uint32_t i = 0; i < count; i++)
        attribute(to, "note", "%0300u", i);
}

static void edge(writer *w, uint32_t from, uint32_t to)
{
    eventspace_attributes attributes = {0};

    attribute(&attributes, "to", "%u", to);
    define(w, EVENTSPACE_DEFINES_EDGE, from, "", &attributes);
}

/* What all processes know by the same key. */
static uint32_t keyed(writer *w, uint32_t kind, uint32_t *known, uint32_t key)
{
    eventspace_attributes attributes = {0};
    bool is_wrapper = kind == EVENTSPACE_DEFINES_WRAPPER;
    char name[40];

    if (*known != EVENTSPACE_NO_PARENT)
        return *known;
    snprintf(name, sizeof(name), "%s %u", is_wrapper ? "sum" : "element", key);
    attribute(&attributes, "key", "%s", name);
    attribute(&attributes, "process", "%c", 'a' + key % PROCESSES);
    attribute(&attributes, is_wrapper ? "kind" : "type", "%s",
              is_wrapper ? "sum" : "u64");
    make_long(w, &attributes);
    *known = define(w, kind, EVENTSPACE_NO_PARENT, name, &attributes);
    return *known;
}

static uint32_t element(writer *w, uint32_t key)
{
    return keyed(w, EVENTSPACE_DEFINES_ELEMENT, &w->elements[key], key);
}

/* An element, as a rule below a wrapper. */
static uint32_t path_end(writer *w)
{
    uint32_t key = pick(w, KEYS);
    bool is_new = w->wrappers[key] == EVENTSPACE_NO_PARENT;

    if (pick(w, 3) == 0)
        return element(w, key);
    keyed(w, EVENTSPACE_DEFINES_WRAPPER, &w->wrappers[key], key);
    if (is_new)
        edge(w, w->wrappers[key], element(w, key));
    return w->wrappers[key];
}

static void stream_make(writer *w, uint32_t stream)
{
    char name[20];

    if (w->streams[stream])
        return;
    snprintf(name, sizeof(name), "trace%u", stream);
    w->streams[stream] =
        element_make(w, stream == STREAMS ? EVENTSPACE_REGIONS_NAME : name,
                     EVENTSPACE_TRACE_TYPE);
    pause_some(w);
}

static uint32_t id_next(writer *w, uint32_t stream)
{
    must(w->ids < OWN_MAX, "too many ids");
    w->stream_of[w->ids] = (uint8_t)stream;
    return w->ids * PROCESSES + w->process;
}

static void id_done(writer *w, uint32_t id)
{
    done->is_defined[id] = 1;
    w->ids++;
}

static void collector(writer *w)
{
    eventspace_attributes attributes = {0};
    uint32_t stream = pick(w, STREAMS), id = id_next(w, stream), own;

    if (pick(w, 2))
        stream_make(w, stream);
    attribute(&attributes, "id", "%u", id);
    attribute(&attributes, "trace", "trace%u", stream);
    make_long(w, &attributes);
    own = define(w, EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "call",
                 &attributes);
    stream_make(w, stream);
    id_done(w, id);
    if (pick(w, 5) == 0)
        return; /* a path that is not there yet */
    edge(w, w->last_thread, own);
    edge(w, own, path_end(w));
}

static void thread(writer *w)
{
    eventspace_attributes attributes = {0};

    attribute(&attributes, "number", "%u",
              w->threads++ * PROCESSES + w->process);
    make_long(w, &attributes);
    w->last_thread = define(w, EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT,
                            "main", &attributes);
}

static void region(writer *w)
{
    eventspace_attributes attributes = {0};
    uint32_t id = id_next(w, STREAMS);
    char name[40];

    stream_make(w, STREAMS);
    snprintf(name, sizeof(name), "part %u", id);
    make_long(w, &attributes);
    define_as(w, EVENTSPACE_DEFINES_REGION, id, EVENTSPACE_NO_PARENT, name,
              &attributes);
    id_done(w, id);
}

static void put(writer *w, uint32_t n)
{
    uint64_t at = now_ns() - w->start_ns + 1;
    uint32_t stream = w->stream_of[n], id = n * PROCESSES + w->process;
    eventspace_trace event = {.collector = id, .sequence = 1};

    at = at > w->last_ns ? at : w->last_ns + 2;
    w->last_ns = at;
    event.start = at - 1;
    event.end = at;
    event.thread = pick(w, w->threads) * PROCESSES + w->process;
    event.operation =
        stream == STREAMS ? EVENTSPACE_TRACE_REGION : PASTSET_WRITE;
    must(!eventspace_run_writer_trace(w->streams[stream], &event), "a tuple");
    done->written[id]++;
}

static void puts_some(writer *w)
{
    uint32_t count = pick(w, 30);

    for (uint32_t i = 0; i < count; i++)
        put(w, pick(w, w->ids));
}

static void step(writer *w)
{
    uint32_t before = w->ids;

    if (!w->threads || pick(w, 8) == 0)
        thread(w);
    if (!w->ids || pick(w, 2))
        collector(w);
    else if (pick(w, 2))
        region(w);
    if (w->ids > before)
        put(w, before);
    pause_some(w);
    puts_some(w);
}

static void meta_write(eventspace_run_writer *run, const writer *w,
                       eventspace_state state)
{
    eventspace_meta meta = {.tick_hz = 1e9,
                            .pid = (uint32_t)getpid(),
                            .state = state,
                            .tick_source = "test",
                            .start_wall_ns = w->start_ns,
                            .start_tick = 1};

    snprintf(meta.counter, sizeof(meta.counter), "test");
    if (state != EVENTSPACE_RUNNING)
        meta.end_tick = now_ns() - w->start_ns + 1000000;
    must(!eventspace_run_writer_meta(run, w->process, &meta), "a meta file");
}

static void process_run(eventspace_run_writer *run, uint32_t process)
{
    char file[TEXT];
    pastset_space_options options = {.path = file, .max_bytes = 1 << 28};
    writer w = {.process = process,
                .random = seed * 7919 + process,
                .start_ns = now_ns()};

    for (int i = 0; i < KEYS; i++)
        w.elements[i] = w.wrappers[i] = EVENTSPACE_NO_PARENT;
    usleep(pick(&w, 30000));
    snprintf(file, sizeof(file), "%s/run/%c.space", directory, 'a' + process);
    must(!pastset_space_create(&w.space, &options), "a space");
    meta_write(run, &w, EVENTSPACE_RUNNING);
    pause_some(&w);
    w.definitions = element_make(&w, EVENTSPACE_DEFINITIONS_NAME,
                                 EVENTSPACE_DEFINITIONS_TYPE);
    for (int i = 0; i < steps; i++)
        step(&w);
    meta_write(run, &w, EVENTSPACE_FINISHED);
    pastset_space_close(w.space);
    _exit(0);
}

/* --- those who look --- */

static const char *text_of(const char *name, const char *suffix)
{
    static char text[1 << 14];
    FILE *in = fopen(file_of(name, suffix), "r");

    text[in ? fread(text, 1, sizeof(text) - 1, in) : 0] = 0;
    if (in)
        fclose(in);
    return text;
}

/* What nobody may say of files that are not damaged. */
static void check_text(const char *name, bool any_killed)
{
    static const char *const wrong[] = {
        "damaged",      "unknown",      "corrupt",      "strange",
        "not the next", "no collector", "of other runs"};
    const char *text = text_of(name, ".err");

    if (any_killed && strstr(text, "is cut"))
        return;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        if (strstr(text, wrong[i]))
            fail("%s says: %s", name, text);
}

/* Each row has the names of its collector and its thread. */
static void csv_check(void)
{
    char line[1000], rest[1000];
    FILE *in = fopen(file_of("csv", ".made"), "r");

    must(in != NULL, "csv");
    while (fgets(line, sizeof(line), in))
        if (sscanf(line, "%*[^,],%*[^,],%*[^,],%*[^,],%[^,]", rest) != 1)
            fail("csv: %s", line);
    fclose(in);
}

/* Nobody has done anything yet; or a pack is to be made when all have ended. */
static bool is_too_early(const char *name)
{
    const char *text = text_of(name, ".err");

    return strstr(text, "still running") || strstr(text, "has no events");
}

static void finish(const char *name, pid_t child, bool any_killed)
{
    int status;

    must(waitpid(child, &status, 0) == child, "waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && is_too_early(name))
        return;
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("%s ended with %#x: %s", name, status, text_of(name, ".err"));
    check_text(name, any_killed);
    if (strcmp(name, "csv") == 0)
        csv_check();
}

#define MAX_WORDS 12
typedef struct look {
    const char *name;
    const char *words[MAX_WORDS];
} look;

/* RUN and OUT become paths. */
static void words_make(const look *l, char *words[MAX_WORDS + 2])
{
    words[0] = strdup("eventspace");
    for (int i = 0; i < MAX_WORDS && l->words[i]; i++) {
        const char *word = l->words[i];
        if (strcmp(word, "RUN") == 0)
            word = place("run");
        else if (strcmp(word, "OUT") == 0)
            word = file_of(l->name, ".made");
        words[i + 1] = strdup(word);
    }
}

/* Standard output and error go into NAME.out and NAME.err. */
static pid_t look_start(const look *l)
{
    char *words[MAX_WORDS + 2] = {NULL};
    pid_t child = fork();

    must(child >= 0, "fork");
    if (child > 0)
        return child;
    alarm(PATIENCE_S);
    words_make(l, words);
    if (!freopen(file_of(l->name, ".out"), "w", stdout) ||
        !freopen(file_of(l->name, ".err"), "w", stderr))
        _exit(126);
    execv(EVENTSPACE, words);
    _exit(127);
}

static const look followers[] = {
    {"mirror", {"scope", "RUN", "--output", "OUT", "--interval=5ms"}},
    {"archive", {"archive", "RUN", "--interval=5ms"}},
    {"top", {"top", "RUN", "--frames=0", "--interval=20ms", "--format=json"}},
    {"clock", {"clock", "RUN", "--follow=20ms"}},
};

static const look lookers[] = {
    {"view", {"view", "RUN", "all"}},
    {"window", {"view", "RUN", "all", "--last=100ms"}},
    {"limited", {"view", "RUN", "all", "--memory=64M"}},
    {"sql",
     {"sql", "RUN",
      "select count(*) from event; select * from collector; "
      "select * from thread; select count(*) from event e join collector c "
      "on e.collector = c.id"}},
    {"info", {"info", "RUN"}},
    {"csv", {"export", "RUN", "--format=csv", "--output", "OUT"}},
    {"chrome", {"export", "RUN", "--format=chrome", "--output", "OUT"}},
    {"perfetto", {"export", "RUN", "--format=perfetto", "--output", "OUT"}},
    {"otf2", {"export", "RUN", "--format=otf2", "--output", "OUT"}},
    {"report", {"report", "RUN", "--output", "OUT"}},
    {"pack", {"pack", "RUN", "--output", "OUT"}},
};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void shell(const char *format, ...)
{
    char text[4 * TEXT];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (system(text) != 0)
        fail("%s", text);
}

/* --- comparing --- */

typedef struct found {
    uint64_t digest, count, strange;
    uint32_t nodes, edges, ids;
    uint32_t of_id[IDS_MAX];
} found;

static void snapshot_find(found *out, const scopes_snapshot *snapshot)
{
    const paths_map *map = eventspace_run_map(snapshot->run);

    memset(out, 0, sizeof(*out));
    out->digest = paths_map_digest(map);
    out->nodes = map->node_count;
    out->edges = map->edge_count;
    out->ids = snapshot->event_table->collectors;
    out->strange = snapshot->event_table->strange;
    for (uint32_t i = 0; i < out->ids && i < IDS_MAX; i++) {
        out->of_id[i] =
            (uint32_t)scopes_event_series(snapshot->event_table, i)->count;
        out->count += out->of_id[i];
    }
}

static void run_find(found *out, const char *name, bool any_killed)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;

    must(!eventspace_run_open(&run, place(name)), name);
    must(!scopes_snapshot_take(&snapshot, run, &all), name);
    snapshot_find(out, snapshot);
    for (size_t i = 0; i < PROCESSES; i++) {
        const char *problem = eventspace_run_process_at(run, i)->problem;
        if (*problem && !(any_killed && strstr(problem, "is cut")))
            fail("%s: %s", name, problem);
    }
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

static void check_same(const found *run, const found *other, const char *name)
{
    if (other->strange)
        fail("%s: %llu strange tuples", name,
             (unsigned long long)other->strange);
    if (run->nodes != other->nodes || run->edges != other->edges ||
        run->digest != other->digest)
        fail("%s: a map of %u nodes and %u edges, not %u and %u", name,
             other->nodes, other->edges, run->nodes, run->edges);
    for (uint32_t i = 0; i < IDS_MAX; i++)
        if (run->of_id[i] != other->of_id[i])
            fail("%s: %u tuples of %u, not %u", name, other->of_id[i], i,
                 run->of_id[i]);
}

static void check_written(const found *run, int killed)
{
    for (uint32_t i = 0; i < IDS_MAX; i++) {
        uint32_t more = run->of_id[i] - done->written[i];
        if (more > (killed == (int)(i % PROCESSES)))
            fail("%u tuples of %u, and %u were written", run->of_id[i], i,
                 done->written[i]);
        if (done->written[i] && !done->is_defined[i])
            fail("a tuple of %u is not defined", i);
    }
}

/* --- a round --- */

/* It borrows its map. */
static eventspace_run_writer *run_make(paths_map **out)
{
    eventspace_run_writer *run;
    paths_map *map;

    must(!paths_map_create(&map, "grown"), "a map");
    *out = map;
    for (int i = 0; i < PROCESSES; i++)
        paths_map_add_process(map, (char[]){(char)('a' + i), 0});
    must(!eventspace_run_writer_open(&run, place("run"), map, false), "a run");
    return run;
}

/* The commands look, and a reader that stays, until nobody writes any more. */
static void look_on(found *stayed, const pid_t *children, int killed)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;
    uint64_t kill_ns = now_ns() + 20000000 + seed % 97 * 3000000;
    bool ended[PROCESSES] = {0}, is_killed = killed < 0;
    size_t left = PROCESSES, next = seed;

    must(!eventspace_run_open(&run, place("run")), "run");
    must(!scopes_snapshot_take(&snapshot, run, &all), "a look");
    while (left) {
        const look *l = &lookers[next++ % COUNT(lookers)];
        shell("rm -rf %s/%s.made", directory, l->name);
        finish(l->name, look_start(l), killed >= 0);
        must(!scopes_snapshot_again(snapshot), "another look");
        snapshot_find(stayed, snapshot);
        if (stayed->strange)
            fail("%llu strange tuples in a look",
                 (unsigned long long)stayed->strange);
        if (!is_killed && now_ns() > kill_ns)
            is_killed = kill(children[killed], SIGKILL) == 0;
        for (int i = 0; i < PROCESSES; i++) {
            int status;
            if (ended[i] || waitpid(children[i], &status, WNOHANG) == 0)
                continue;
            if (status && i != killed)
                fail("process %d ended with %#x", i, status);
            ended[i] = true;
            left--;
        }
    }
    must(!scopes_snapshot_again(snapshot), "the last look");
    snapshot_find(stayed, snapshot);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

static void check_all(const found *stayed, int killed)
{
    static const char *const same[] = {"mirror.made", "archived", "unpacked"};
    static found run, other;

    run_find(&run, "run", killed >= 0);
    check_written(&run, killed);
    check_same(&run, stayed, "who stayed");
    shell("cd %s && cp -r run archived && rm archived/*.space", directory);
    shell("cd %s && " EVENTSPACE
          " pack run -o packed.tar.zst 2>/dev/null && " EVENTSPACE
          " unpack packed.tar.zst -o unpacked",
          directory);
    for (size_t i = 0; i < COUNT(same); i++) {
        run_find(&other, same[i], killed >= 0);
        check_same(&run, &other, same[i]);
    }
    for (size_t i = 0; i < COUNT(lookers); i++) {
        shell("rm -rf %s/%s.made", directory, lookers[i].name);
        finish(lookers[i].name, look_start(&lookers[i]), killed >= 0);
    }
    printf("seed %u: %u nodes, %llu tuples\n", seed, run.nodes,
           (unsigned long long)run.count);
    fflush(stdout); /* children write what is in it once more */
}

static void round_run(void)
{
    int killed = seed % 2 ? (int)(seed / 2 % PROCESSES) : -1;
    pid_t children[PROCESSES], following[COUNT(followers)];
    static found stayed;
    paths_map *map;
    eventspace_run_writer *run = run_make(&map);

    memset(done, 0, sizeof(*done));
    for (size_t i = 0; i < COUNT(followers); i++)
        following[i] = look_start(&followers[i]);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        must(children[i] >= 0, "fork");
        if (children[i] == 0)
            process_run(run, i);
    }
    eventspace_run_writer_close(run, true);
    paths_map_destroy(map);
    look_on(&stayed, children, killed);
    for (size_t i = 0; i < COUNT(followers); i++)
        finish(followers[i].name, following[i], killed >= 0);
    check_all(&stayed, killed);
    shell("rm -rf %s/*", directory);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2;
    const char *given = getenv("EVENTSPACE_STRESS_SEED");

    if (argc > 2)
        given = argv[2];
    seed = given ? (uint32_t)strtoul(given, NULL, 10) : 1;
    steps = argc > 3 ? atoi(argv[3]) : steps;
    must(mkdtemp(directory) != NULL, "a directory");
    done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(done != MAP_FAILED, "memory");
    for (int i = 0; i < rounds; i++, seed++)
        round_run();
    shell("rm -rf %s", directory);
    return 0;
}
