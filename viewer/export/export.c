/* export.c - see export.h. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

static int export_as(viewer__export *e, viewer_export_format format,
                     viewer__text *out)
{
    switch (format) {
    case VIEWER_EXPORT_CHROME:
        return viewer__export_chrome(e, out);
    case VIEWER_EXPORT_PERFETTO:
        return viewer__export_perfetto(e, out);
    case VIEWER_EXPORT_PROMETHEUS:
        return viewer__export_prometheus(e, out);
    case VIEWER_EXPORT_CSV:
    case VIEWER_EXPORT_JSONL:
        return viewer__export_rows(e, format == VIEWER_EXPORT_JSONL, out);
    default:
        return pastset_fail(PASTSET_ENOTSUP, "no such format");
    }
}

int viewer_export(eventspace_run *run, viewer_export_format format,
                  const viewer_export_options *options, FILE *file,
                  scopes_ledger *ledger)
{
    viewer__export e;
    viewer__text *out = malloc(sizeof(*out));
    int err = out ? viewer__export_open(&e, run, options)
                  : pastset_no_memory("for an export");

    if (err) {
        free(out);
        return err;
    }
    out->file = file;
    out->error = 0;
    out->used = 0;
    err = export_as(&e, format, out);
    if (!err)
        err = viewer__put_end(out);
    *ledger = e.ledger;
    viewer__export_close(&e);
    free(out);
    return err;
}
