/* script.c - see script.h. */
#include "viewer/sql/script.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"

#define SCRIPT_BYTES_MAX (1 << 20)

/* --- reading --- */

static int read_text(char **out, const char *file)
{
    FILE *stream = fopen(file, "re");
    size_t bytes;

    *out = NULL;
    if (!stream)
        return pastset_fail_errno(file);
    *out = malloc(SCRIPT_BYTES_MAX + 1);
    bytes = *out ? fread(*out, 1, SCRIPT_BYTES_MAX + 1, stream) : 0;
    if (ferror(stream)) {
        fclose(stream);
        return pastset_fail_errno(file);
    }
    fclose(stream);
    if (!*out)
        return pastset_no_memory("for %s", file);
    if (bytes > SCRIPT_BYTES_MAX)
        return pastset_fail(PASTSET_EINVAL, "%s: it is larger than 1 MB", file);
    (*out)[bytes] = '\0';
    if (strlen(*out) != bytes)
        return pastset_fail(PASTSET_EINVAL, "%s: it is no text", file);
    return 0;
}

/* --- what its top says --- */

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

static const char *take_chart(viewer_script *s, char *value)
{
    if (strcmp(value, "line") != 0 && strcmp(value, "bar") != 0 &&
        strcmp(value, "matrix") != 0 && strcmp(value, "none") != 0)
        return "the chart is not one of line, bar, matrix, none";
    s->chart = value;
    return NULL;
}

static const char *take_columns(viewer_script *s, char *value)
{
    char *place = NULL, *name = strtok_r(value, ",", &place);

    for (; name; name = strtok_r(NULL, ",", &place)) {
        if (s->column_count == VIEWER_SCRIPT_ITEMS)
            return "there are too many columns";
        s->columns[s->column_count++] = trim(name);
    }
    return NULL;
}

static const char *take_parameter(viewer_script *s, char *value)
{
    char *equals = strchr(value, '=');

    if (!equals || equals == value)
        return "a parameter is NAME=VALUE";
    if (s->parameter_count == VIEWER_SCRIPT_ITEMS)
        return "there are too many parameters";
    *equals = '\0';
    s->names[s->parameter_count] = trim(value);
    s->values[s->parameter_count++] = trim(equals + 1);
    return NULL;
}

/* One line without its "--"; gives what is wrong with it. Other comments are
 * for people. */
static const char *take_line(viewer_script *s, char *line)
{
    char *colon = strchr(line, ':'), *key, *value;

    if (!colon)
        return NULL;
    *colon = '\0';
    key = trim(line);
    value = trim(colon + 1);
    if (strcmp(key, "title") == 0)
        s->title = value;
    else if (strcmp(key, "chart") == 0)
        return take_chart(s, value);
    else if (strcmp(key, "columns") == 0)
        return take_columns(s, value);
    else if (strcmp(key, "param") == 0)
        return take_parameter(s, value);
    return NULL;
}

/* The lines at the top that are comments. */
static int read_head(viewer_script *s, const char *file)
{
    char *next = s->head, *line;
    unsigned number = 0;

    while ((line = strsep(&next, "\n"))) {
        const char *wrong;
        number++;
        line = trim(line);
        if (!*line)
            continue;
        if (strncmp(line, "--", 2) != 0)
            return 0;
        wrong = take_line(s, line + 2);
        if (wrong)
            return pastset_fail(PASTSET_EINVAL, "%s:%u: %s", file, number,
                                wrong);
    }
    return 0;
}

int viewer_script_read(viewer_script *out, const char *file)
{
    int err;

    *out = (viewer_script){.title = "", .chart = "none"};
    err = read_text(&out->text, file);
    if (!err) {
        out->head = strdup(out->text);
        err = out->head ? read_head(out, file)
                        : pastset_no_memory("for %s", file);
    }
    if (err)
        viewer_script_fini(out);
    return err;
}

void viewer_script_fini(viewer_script *script)
{
    free(script->text);
    free(script->head);
    *script = (viewer_script){.title = "", .chart = "none"};
}

/* --- finding --- */

#define FOLDERS 3

/* The folders in which scripts are looked for; false: there is none of this
 * number. */
static bool folder_at(char out[PATH_MAX], size_t number, const char *run)
{
    static const char below[] = "/eventspace/views";
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    ssize_t length;
    char *slash;

    switch (number) {
    case 0:
        return run && snprintf(out, PATH_MAX, "%s", run) < PATH_MAX;
    case 1:
        if (config && *config)
            return snprintf(out, PATH_MAX, "%s%s", config, below) < PATH_MAX;
        return home && *home &&
               snprintf(out, PATH_MAX, "%s/.config%s", home, below) < PATH_MAX;
    default: /* PREFIX/bin/eventspace, PREFIX/share/eventspace/views */
        length = readlink("/proc/self/exe", out, PATH_MAX - 64);
        if (length <= 0)
            return false;
        out[length] = '\0';
        for (int i = 0; i < 2; i++) {
            slash = strrchr(out, '/');
            if (!slash)
                return false;
            *slash = '\0';
        }
        strcat(strcat(out, "/share"), below);
        return true;
    }
}

/* `folder` NULL: the name as it is. Errors: PASTSET_ENOENT, PASTSET_ENOMEM. */
static int look(char **out, const char *folder, const char *name,
                const char *suffix)
{
    if (asprintf(out, "%s%s%s%s", folder ? folder : "", folder ? "/" : "", name,
                 suffix) < 0) {
        *out = NULL;
        return pastset_no_memory("for the view script %s", name);
    }
    if (access(*out, F_OK) == 0)
        return 0;
    free(*out);
    *out = NULL;
    return PASTSET_ENOENT;
}

static bool ends_as_script(const char *name)
{
    size_t length = strlen(name), end = strlen(VIEWER_SCRIPT_SUFFIX);

    return length > end &&
           strcmp(name + length - end, VIEWER_SCRIPT_SUFFIX) == 0;
}

int viewer_script_find(char **out, const char *name, const char *run)
{
    const char *suffix = ends_as_script(name) ? "" : VIEWER_SCRIPT_SUFFIX;
    char folder[PATH_MAX];
    int err = PASTSET_ENOENT;

    *out = NULL;
    if (strchr(name, '/') || !*suffix)
        err = look(out, NULL, name, "");
    for (size_t i = 0;
         i < FOLDERS && !strchr(name, '/') && err == PASTSET_ENOENT; i++)
        if (folder_at(folder, i, run))
            err = look(out, folder, name, suffix);
    if (err != PASTSET_ENOENT)
        return err;
    return pastset_fail(PASTSET_ENOENT,
                        "there is no view script '%s': see `eventspace view "
                        "--list`",
                        name);
}

/* No folders, and no pipes, on which a list would wait for ever. */
static int pick(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_as_script(entry->d_name) &&
           (entry->d_type == DT_REG || entry->d_type == DT_LNK ||
            entry->d_type == DT_UNKNOWN);
}

/* Those of a folder that none before it has. */
static int scripts_of(const char *folder, const char *run,
                      viewer_script_each *each, void *context)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, pick, alphasort), err = 0;

    for (int i = 0; i < count; i++) {
        char *found, file[PATH_MAX + NAME_MAX + 2];
        char first[PATH_MAX];
        bool hidden = false;
        snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name);
        for (size_t k = 0; k < FOLDERS && !hidden; k++) {
            if (!folder_at(first, k, run))
                continue;
            if (strcmp(first, folder) == 0)
                break;
            hidden = look(&found, first, entries[i]->d_name, "") == 0;
            free(found);
        }
        if (!err && !hidden)
            err = each(entries[i]->d_name, file, context);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return err;
}

int viewer_scripts(const char *run, viewer_script_each *each, void *context)
{
    char folder[PATH_MAX];
    int err = 0;

    for (size_t i = 0; i < FOLDERS && !err; i++)
        if (folder_at(folder, i, run))
            err = scripts_of(folder, run, each, context);
    return err;
}

/* --- running --- */

static bool has_column(const viewer_sql_result *result, const char *name)
{
    for (size_t i = 0; i < scopes_table_columns(result->table); i++)
        if (strcmp(result->columns[i].key, name) == 0)
            return true;
    return false;
}

static int check_columns(const viewer_script *script,
                         const viewer_sql_result *result)
{
    if (!result->table)
        return pastset_fail(PASTSET_EINVAL,
                            "the script's last statement gives no rows");
    for (size_t i = 0; i < script->column_count; i++)
        if (!has_column(result, script->columns[i]))
            return pastset_fail(PASTSET_EINVAL,
                                "the script names a column '%s', which its "
                                "last statement does not give",
                                script->columns[i]);
    return 0;
}

int viewer_script_run(const viewer_script *script, viewer_sql *sql, bool raw,
                      viewer_sql_result *out)
{
    const char *text = script->text;
    int err = 0;

    *out = (viewer_sql_result){0};
    for (size_t i = 0; i < script->parameter_count && !err; i++)
        err = viewer_sql_set(sql, script->names[i], script->values[i]);
    while (!err && !viewer_sql_is_blank(text)) {
        viewer_sql_result_fini(out);
        err = viewer_sql_run(sql, &text, raw, out);
    }
    if (!err)
        err = check_columns(script, out);
    if (err)
        viewer_sql_result_fini(out);
    return err;
}
