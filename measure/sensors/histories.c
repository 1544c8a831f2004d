/* histories.c - see histories.h. */
#include "measure/sensors/histories.h"
#include "measure/sensors/history_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define OF " of "
#define PLACE_BYTES 160

static const struct {
    const char *name, *unit;
} kinds[MEASURE_KINDS] = {
    [MEASURE_AVAILABILITY] = {"availability", "share"},
    [MEASURE_LATENCY] = {"latency", "s"},
    [MEASURE_BANDWIDTH] = {"bandwidth", "B/s"},
};

typedef struct entry {
    measure_kind kind;
    char *place;
    measure__history_writer *writer;
    bool failed; /* the last sample did */
} entry;

struct measure_histories {
    char *folder;
    entry *entries;
    size_t count;
};

const char *measure_kind_name(measure_kind kind)
{
    return kinds[kind].name;
}

const char *measure_kind_unit(measure_kind kind)
{
    return kinds[kind].unit;
}

int measure_kind_of(measure_kind *kind, const char **place, const char *series)
{
    const char *of = strstr(series, OF);

    for (unsigned i = 0; of && i < MEASURE_KINDS; i++) {
        if (strncmp(series, kinds[i].name, (size_t)(of - series)) != 0 ||
            kinds[i].name[of - series])
            continue;
        *kind = (measure_kind)i;
        *place = of + strlen(OF);
        return 0;
    }
    return pastset_fail(
        PASTSET_ENOENT,
        "\"%.60s\" is neither the availability of a machine nor "
        "the latency or bandwidth of a link",
        series);
}

/* --- folders --- */

/* As mkdir -p. */
static int folders_make(char *path)
{
    for (char *at = path + 1;; at++) {
        char before = *at;
        if (before != '/' && before != 0)
            continue;
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return pastset_fail(PASTSET_EIO, "cannot make %s: %s", path,
                                strerror(errno));
        *at = before;
        if (!before)
            return 0;
    }
}

int measure_histories_open(measure_histories **out, const char *folder)
{
    measure_histories *h = calloc(1, sizeof(*h));
    struct stat about;
    int err;

    if (h)
        h->folder = strdup(folder);
    if (!h || !h->folder) {
        free(h);
        return pastset_no_memory("for histories");
    }
    err = *folder ? folders_make(h->folder)
                  : pastset_fail(PASTSET_EIO, "the folder has no name");
    if (!err && (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)))
        err = pastset_fail(PASTSET_EIO, "%s is not a folder", folder);
    if (err) {
        measure_histories_close(h);
        return err;
    }
    *out = h;
    return 0;
}

void measure_histories_close(measure_histories *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->count; i++) {
        measure__history_close(h->entries[i].writer);
        free(h->entries[i].place);
    }
    free(h->entries);
    free(h->folder);
    free(h);
}

/* --- one of them --- */

static entry *find(const measure_histories *h, measure_kind kind,
                   const char *place)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->entries[i].kind == kind &&
            strcmp(h->entries[i].place, place) == 0)
            return &h->entries[i];
    return NULL;
}

/* It becomes a part of the name of a file. */
static bool is_plain(const char *place)
{
    size_t bytes = strlen(place);

    return bytes > 0 && bytes < PLACE_BYTES && *place != '-' && *place != '.' &&
           place[strspn(place, "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == 0;
}

static int writer_open(measure__history_writer **out,
                       const measure_histories *h, measure_kind kind,
                       const char *place, int64_t interval_ms)
{
    char series[MEASURE_HISTORY_NAME_BYTES], *file;
    measure__history_options o = {series, kinds[kind].unit, interval_ms};
    int err;

    snprintf(series, sizeof(series), "%s" OF "%s", kinds[kind].name, place);
    if (asprintf(&file, "%s/%s.%s" MEASURE_HISTORY_SUFFIX, h->folder,
                 kinds[kind].name, place) < 0)
        return pastset_no_memory("for a history");
    err = measure__history_open(out, file, &o);
    free(file);
    return err;
}

int measure_histories_begin(measure_histories *h, measure_kind kind,
                            const char *place, int64_t interval_ms)
{
    entry *entries, e = {.kind = kind};
    int err;

    if (find(h, kind, place))
        return 0;
    if (!is_plain(place))
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" cannot be a part of the name of a file: "
                            "use letters, digits, '.', '_' and '-'",
                            place);
    entries = pastset_array_grow(h->entries, h->count, sizeof(*entries));
    if (entries)
        h->entries = entries;
    e.place = strdup(place);
    if (!entries || !e.place) {
        free(e.place);
        return pastset_no_memory("for a history");
    }
    err = writer_open(&e.writer, h, kind, place, interval_ms);
    if (err) {
        free(e.place);
        return err;
    }
    h->entries[h->count++] = e;
    return 0;
}

int measure_histories_add(measure_histories *h, measure_kind kind,
                          const char *place, int64_t time_ms, double value,
                          bool *changed)
{
    entry *e = find(h, kind, place);
    int err;

    *changed = !e;
    if (!e)
        return pastset_fail(PASTSET_ENOENT,
                            "there is no history of the %s of %s",
                            kinds[kind].name, place);
    err = measure__history_add(e->writer, time_ms, value);
    *changed = (err != 0) != e->failed;
    e->failed = err != 0;
    return err;
}
