/* command_histories.c - see command_histories.h. */
#include "viewer/cli/watch/command_histories.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/map/units.h"
static int file_take(cli_histories *list, const char *file)
{
    measure_history **items =
        pastset_array_grow(list->items, list->count, sizeof(*items));
    int err;

    if (!items)
        return pastset_no_memory("for histories");
    list->items = items;
    err = measure_history_read(&items[list->count], file);
    if (err)
        return err;
    if (items[list->count]->count) {
        list->count++;
    } else {
        fprintf(stderr, "eventspace: %s has no samples yet\n", file);
        measure_history_destroy(items[list->count]);
    }
    return 0;
}

static int is_history(const struct dirent *entry)
{
    size_t bytes = strlen(entry->d_name),
           suffix = strlen(MEASURE_HISTORY_SUFFIX);

    return bytes > suffix &&
           strcmp(entry->d_name + bytes - suffix, MEASURE_HISTORY_SUFFIX) == 0;
}

static int folder_take(cli_histories *list, const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, is_history, alphasort), err = 0;

    if (count < 0)
        return pastset_fail(PASTSET_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *file = NULL;
        if (!err && asprintf(&file, "%s/%s", folder, names[i]->d_name) < 0)
            err = pastset_no_memory("for a name");
        if (!err && file_take(list, file)) { /* the others are there */
            cli_fail();
            list->bad++;
        }
        free(file);
        free(names[i]);
    }
    free(names);
    if (!err && count == 0)
        err = pastset_fail(PASTSET_ENOENT,
                           "there is no history in %s: `eventspace watch -o "
                           "%s` writes them",
                           folder, folder);
    return err;
}

int cli_histories_read(cli_histories *list, const char *path)
{
    struct stat about;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return folder_take(list, path);
    return file_take(list, path);
}

void cli_histories_clear(cli_histories *list)
{
    for (size_t i = 0; i < list->count; i++)
        measure_history_destroy(list->items[i]);
    free(list->items);
    *list = (cli_histories){0};
}

/* --- as texts --- */

const char *cli_unit_text(char *out, size_t bytes, const char *unit,
                          double value)
{
    if (strcmp(unit, measure_kind_unit(MEASURE_LATENCY)) == 0 && value > 0)
        return paths_duration_text(value, out, bytes);
    if (strcmp(unit, measure_kind_unit(MEASURE_BANDWIDTH)) == 0 && value > 0)
        return paths_rate_text(value, out, bytes);
    snprintf(out, bytes, "%.4g", value);
    return out;
}

const char *cli_date_text(char *out, size_t bytes, int64_t time_ms)
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;

    if (!gmtime_r(&seconds, &tm) ||
        strftime(out, bytes, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        snprintf(out, bytes, "%lld ms", (long long)time_ms);
    return out;
}
