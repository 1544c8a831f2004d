/* command_scope_root.c - the root of a gather tree: writes a mirror, or prints
 * the sums of each window. */
#include "viewer/cli/scope/command_scope.h"

#include <errno.h>
#include <string.h>

#include "pastset/status.h"

static int windows_print(scope *s, bool all)
{
    scopes_table *table;
    int err = 0;

    if (!s->windows && scopes_mirror_map(s->mirror))
        err = scopes_windows_create(&s->windows, s->gather.window_ns,
                                    scopes_mirror_map(s->mirror));
    while (!err && s->windows) {
        err = scopes_windows_take(s->windows, all, &table);
        if (err || !table)
            break;
        err = viewer_table_print(table, s->format, s->print);
        fputc('\n', s->print);
        fflush(s->print);
        scopes_table_destroy(table);
    }
    return err;
}

int cli_scope_record(const scopes_record *r, void *context)
{
    scope *s = context;
    int err = scopes_mirror_record(r, s->mirror);

    if (err)
        return err;
    if (s->statistics && !s->windows)
        err = windows_print(s, false);
    if (err || !s->windows)
        return err;
    return scopes_windows_record(r, s->windows);
}

int cli_scope_turn(void *context)
{
    scope *s = context;
    int err = scopes_mirror_turn(s->mirror);

    return err || !s->statistics ? err : windows_print(s, false);
}

/* One line: what was gathered, and what not. Nothing of a run that was never
 * heard of. */
static void tell(const scope *s)
{
    scopes_ledger l;

    if (s->statistics || !scopes_mirror_map(s->mirror))
        return;
    scopes_mirror_ledger(s->mirror, SIZE_MAX, &l);
    cli_print_ledger(&l, s->print);
    putc('\n', s->print);
    fflush(s->print);
}

int cli_scope_begin(scope *s, const paths_map *app)
{
    s->print = s->print_fd > 0 ? fdopen(s->print_fd, "w") : stdout;
    if (!s->print)
        return pastset_fail(PASTSET_EIO, "cannot print: %s", strerror(errno));
    return scopes_mirror_open(&s->mirror, s->out, app);
}

/* What ended it comes before what could not be gathered. */
int cli_scope_end(scope *s, int err)
{
    char text[1024];
    int r;

    if (!s->mirror)
        return err;
    if (!err && s->statistics)
        err = windows_print(s, true);
    tell(s);
    if (!err && *scopes_mirror_problem(s->mirror))
        err =
            pastset_fail(PASTSET_EHOST, "%s", scopes_mirror_problem(s->mirror));
    snprintf(text, sizeof(text), "%s", err ? pastset_error() : "");
    scopes_windows_destroy(s->windows);
    s->windows = NULL;
    r = scopes_mirror_close(s->mirror);
    s->mirror = NULL;
    return err ? pastset_fail(err, "%s", text) : r;
}
