/* serve_asked.c - see serve_asked_internal.h. */
#include "viewer/serve/serve_asked_internal.h"

#include <string.h>

#include "paths/map/units.h"
#include "pastset/status.h"

#define VIEW_FOLDER "view/"

enum {
    RUN = 1,
    FROM = 2,
    TO = 4,
    LAST = 8,
    DETAIL = 16,
    THREADS = 32,
    NAME = 64
};
#define WINDOW (FROM | TO | LAST)

static const struct {
    const char *path;
    unsigned takes;
} kinds[VIEWER__ASKED_KINDS] = {
    [VIEWER__ASKED_PAGE] = {"", 0},
    [VIEWER__ASKED_SCRIPT] = {"live.js", 0},
    [VIEWER__ASKED_STYLE] = {"live.css", 0},
    [VIEWER__ASKED_RUNS] = {"runs", 0},
    [VIEWER__ASKED_LIVE] = {"live", 0},
    [VIEWER__ASKED_HISTORY] = {"history", RUN},
    [VIEWER__ASKED_VIEWS] = {"views", 0},
    [VIEWER__ASKED_REPORT] = {"report", RUN | WINDOW},
    [VIEWER__ASKED_VIEW] = {NULL, RUN | WINDOW | DETAIL | THREADS | NAME},
};

/* --- values --- */

/* Texts of the network in a text for people: no more of them than one can
 * read. */
#define SHOWN "%.60s"

static int read_time(int64_t *out, const char *key, const char *value,
                     uint64_t min_ns)
{
    uint64_t ns = 0;

    if (strcmp(value, "0") != 0 && paths_parse_duration(value, &ns))
        return pastset_fail(PASTSET_EINVAL,
                            "%s=" SHOWN " is not a time with its unit, such "
                            "as 500us, 5ms or 2.5s",
                            key, value);
    if (ns < min_ns || ns > INT64_MAX / 4)
        return pastset_fail(PASTSET_EINVAL, "%s=" SHOWN " is too %s", key,
                            value, ns < min_ns ? "short" : "long");
    *out = (int64_t)ns;
    return 0;
}

static int read_from(viewer__asked *a, const char *key, const char *value)
{
    return read_time(&a->from_ns, key, value, 0);
}

static int read_to(viewer__asked *a, const char *key, const char *value)
{
    return read_time(&a->to_ns, key, value, 0);
}

static int read_last(viewer__asked *a, const char *key, const char *value)
{
    return read_time(&a->last_ns, key, value, 1);
}

static int read_run(viewer__asked *a, const char *key, const char *value)
{
    uint64_t run;

    if (paths_parse_number(value, &run))
        return pastset_fail(PASTSET_EINVAL, "%s=" SHOWN " is not a number", key,
                            value);
    a->run = run;
    return 0;
}

static int read_detail(viewer__asked *a, const char *key, const char *value)
{
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return pastset_fail(PASTSET_EINVAL, "%s=" SHOWN " is neither 0 nor 1",
                            key, value);
    a->detail = *value == '1';
    return 0;
}

static int read_text(char *out, const char *key, const char *value)
{
    if (strlen(value) >= VIEWER__ASKED_TEXT_BYTES)
        return pastset_fail(PASTSET_EINVAL, "%s is longer than %d bytes", key,
                            VIEWER__ASKED_TEXT_BYTES - 1);
    strcpy(out, value);
    return 0;
}

static int read_threads(viewer__asked *a, const char *key, const char *value)
{
    return read_text(a->threads, key, value);
}

static int read_name(viewer__asked *a, const char *key, const char *value)
{
    return read_text(a->name, key, value);
}

static const struct {
    const char *key;
    unsigned bit;
    int (*read)(viewer__asked *a, const char *key, const char *value);
} parameters[] = {
    {"run", RUN, read_run},
    {"from", FROM, read_from},
    {"to", TO, read_to},
    {"last", LAST, read_last},
    {"detail", DETAIL, read_detail},
    {"threads", THREADS, read_threads},
    {"name", NAME, read_name},
};

int viewer__asked_set(viewer__asked *asked, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++) {
        unsigned bit = parameters[i].bit;
        if (strcmp(key, parameters[i].key) != 0)
            continue;
        if (!(kinds[asked->kind].takes & bit))
            break;
        if (asked->given & bit)
            return pastset_fail(PASTSET_EINVAL, "%s is given twice", key);
        if (!value || !*value)
            return pastset_fail(PASTSET_EINVAL, "%s has no value", key);
        asked->given |= bit;
        return parameters[i].read(asked, key, value);
    }
    return pastset_fail(PASTSET_EINVAL,
                        "there is no parameter '" SHOWN "' here", key);
}

/* --- addresses --- */

static int find_view(viewer__asked *out, const char *name)
{
    out->kind = VIEWER__ASKED_VIEW;
    out->view = scopes_view_find(name);
    return out->view ? 0
                     : pastset_fail(PASTSET_ENOENT,
                                    "there is no view '" SHOWN
                                    "': see `eventspace view --list`",
                                    name);
}

int viewer__asked_init(viewer__asked *out, const char *path)
{
    memset(out, 0, sizeof(*out));
    out->from_ns = INT64_MIN;
    out->to_ns = INT64_MAX;
    if (strncmp(path, VIEW_FOLDER, strlen(VIEW_FOLDER)) == 0)
        return find_view(out, path + strlen(VIEW_FOLDER));
    for (unsigned i = 0; i < VIEWER__ASKED_KINDS; i++) {
        if (!kinds[i].path || strcmp(path, kinds[i].path) != 0)
            continue;
        out->kind = (viewer__asked_kind)i;
        return 0;
    }
    return pastset_fail(PASTSET_ENOENT, "there is nothing at this address");
}

/* --- as a whole --- */

int viewer__asked_check(const viewer__asked *a, size_t runs)
{
    if (a->run >= runs)
        return pastset_fail(PASTSET_EINVAL,
                            "there is no run %llu: they are numbered from 0, "
                            "and there %s %zu",
                            (unsigned long long)a->run,
                            runs == 1 ? "is" : "are", runs);
    if ((a->given & LAST) && (a->given & (FROM | TO)))
        return pastset_fail(PASTSET_EINVAL, "last excludes from and to");
    if (a->from_ns > a->to_ns)
        return pastset_fail(PASTSET_EINVAL, "from is later than to");
    if (a->detail && !a->view->each)
        return pastset_fail(PASTSET_EINVAL, "the view %s has no detail",
                            a->view->name);
    return 0;
}

bool viewer__asked_equal(const viewer__asked *a, const viewer__asked *b)
{
    return a->kind == b->kind && a->run == b->run && a->view == b->view &&
           a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
           a->last_ns == b->last_ns && a->detail == b->detail &&
           strcmp(a->threads, b->threads) == 0 && strcmp(a->name, b->name) == 0;
}

scopes_snapshot_options viewer__asked_window(const viewer__asked *a)
{
    scopes_snapshot_options o = SCOPES_SNAPSHOT_ALL;

    o.from_ns = a->from_ns;
    o.to_ns = a->to_ns;
    o.last_ns = a->last_ns;
    return o;
}
