/* script_fuzz.c - any bytes as a view script. What its top says must be texts
 * of the script, and what is refused is refused with a text. Its statements are
 * SQLite's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pastset/status.h"
#include "viewer/sql/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is it a text of one line in the script's memory, without blanks around it? */
static void check_text(const viewer_script *script, const char *text)
{
    const char *end = script->head + strlen(script->text);

    if (text < script->head || text > end || strchr(text, '\n') ||
        text + strlen(text) > end)
        abort();
    if (*text &&
        (strchr(" \t\r", *text) || strchr(" \t\r", text[strlen(text) - 1])))
        abort();
}

static void check(const viewer_script *script, size_t size)
{
    if (strlen(script->text) != size ||
        script->column_count > VIEWER_SCRIPT_ITEMS ||
        script->parameter_count > VIEWER_SCRIPT_ITEMS ||
        (strcmp(script->chart, "line") != 0 &&
         strcmp(script->chart, "bar") != 0 &&
         strcmp(script->chart, "none") != 0))
        abort();
    if (*script->title)
        check_text(script, script->title);
    for (size_t i = 0; i < script->column_count; i++)
        check_text(script, script->columns[i]);
    for (size_t i = 0; i < script->parameter_count; i++) {
        check_text(script, script->names[i]);
        check_text(script, script->values[i]);
        if (!*script->names[i])
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    viewer_script script;
    char name[64];
    int err;

    if (file < 0)
        file = memfd_create("fuzz.sql", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, 0) != 0 ||
        pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
    err = viewer_script_read(&script, name);
    if (err && (err != PASTSET_EINVAL || !pastset_error()[0]))
        abort();
    if (err)
        return 0;
    check(&script, size);
    viewer_script_fini(&script);
    return 0;
}
