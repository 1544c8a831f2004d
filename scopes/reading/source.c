/* source.c - the archives of a run, and walks over its processes.
 *
 * What is read, and in which order, is the cursor's (cursor.c). */
#include "scopes/reading/source.h"

#include <stdlib.h>

#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/archive/archive.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/cursor.h"
#include "scopes/reading/reading_internal.h"

/* --- opening --- */

static scopes_archive *archive_open(eventspace_run *run, size_t process,
                                    uint64_t *missing)
{
    const char *name = eventspace_run_process_at(run, process)->name;
    scopes_archive *archive;
    char file[4096];
    int err =
        eventspace_run_file(file, sizeof(file), eventspace_run_directory(run),
                            name, SCOPES_ARCHIVE_SUFFIX);
    if (!err)
        err = scopes_archive_open(&archive, file);
    if (!err)
        return archive;
    if (err == PASTSET_ENOENT)
        *missing = eventspace_run_changes(run);
    else
        eventspace_run_note(run, process, "%s", pastset_error());
    return NULL;
}

static void archive_note(eventspace_run *run, size_t process,
                         const scopes_archive *archive)
{
    const char *problem = scopes_archive_problem(archive);
    if (*problem)
        eventspace_run_note(run, process, "%s", problem);
}

/* Pages of spaces that are read can be taken out of memory again. */
static void spaces_look(scopes_source *source)
{
    size_t processes = eventspace_run_process_count(source->run);

    if (!scopes__memory_is_limited())
        return;
    for (size_t i = 0; i < processes; i++) {
        pastset_space *space = eventspace_run_process_at(source->run, i)->space;
        uint64_t bytes = 0;
        const void *begin = space ? pastset_space_memory(space, &bytes) : NULL;
        if (!source->spaces[i] && begin && scopes__memory_watch(begin, bytes))
            source->spaces[i] = begin;
    }
}

/* Opens the archives that are there now, or takes in what came to them. */
static void archives_look(scopes_source *source)
{
    size_t processes = eventspace_run_process_count(source->run);
    uint64_t changes = eventspace_run_changes(source->run);

    for (size_t i = 0; i < processes; i++) {
        scopes_archive **archive = &source->archives[i];
        if (!*archive && source->missing[i] == changes)
            continue;
        if (!*archive)
            *archive = archive_open(source->run, i, &source->missing[i]);
        else if (scopes_archive_refresh(*archive) != 0)
            eventspace_run_note(source->run, i, "%s", pastset_error());
        if (*archive)
            archive_note(source->run, i, *archive);
    }
}

int scopes_source_open(scopes_source **out, eventspace_run *run)
{
    size_t processes = eventspace_run_process_count(run);
    scopes_source *source = calloc(1, sizeof(*source));

    *out = NULL;
    if (source) {
        source->run = run;
        source->archives = calloc(processes + 1, sizeof(scopes_archive *));
        source->spaces = calloc(processes + 1, sizeof(void *));
        source->missing = calloc(processes + 1, sizeof(uint64_t));
    }
    if (!source || !source->archives || !source->spaces || !source->missing) {
        scopes_source_close(source);
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to read it",
                            eventspace_run_directory(run));
    }
    spaces_look(source);
    archives_look(source);
    *out = source;
    return 0;
}

void scopes_source_close(scopes_source *source)
{
    if (!source)
        return;
    for (size_t i = 0;
         source->archives && i < eventspace_run_process_count(source->run); i++)
        scopes_archive_close(source->archives[i]);
    for (size_t i = 0;
         source->spaces && i < eventspace_run_process_count(source->run); i++)
        scopes__memory_unwatch(source->spaces[i]);
    free(source->archives);
    free(source->spaces);
    free(source->missing);
    free(source->spare);
    free(source);
}

int scopes_source_refresh(scopes_source *source)
{
    int err = eventspace_run_refresh(source->run);

    if (err)
        return err;
    spaces_look(source);
    archives_look(source);
    return 0;
}

eventspace_run *scopes_source_run(const scopes_source *source)
{
    return source->run;
}

/* --- walking --- */

int scopes_source_each(scopes_source *source, size_t process,
                       const scopes_filter *filter, scopes_each *each,
                       void *context, scopes_ledger *ledger)
{
    scopes_cursor *cursor;
    scopes_batch batch;
    int ended, err = scopes__cursor_open(&cursor, source, filter, process, 1);

    if (err)
        return err;
    do {
        ended = scopes_cursor_next(cursor, &batch);
        if (!ended)
            err = each(&batch, context);
    } while (!ended && !err);
    if (ended && ended != PASTSET_EAGAIN)
        err = ended;
    if (ledger)
        scopes_cursor_ledger(cursor, ledger);
    scopes_cursor_close(cursor);
    return err;
}

static int pass_over(const scopes_batch *batch, void *context)
{
    (void)batch;
    (void)context;
    return 0;
}

int scopes_source_count(scopes_source *source, size_t process,
                        scopes_ledger *out)
{
    size_t processes = eventspace_run_process_count(scopes_source_run(source));
    uint64_t *never = malloc((processes + 1) * sizeof(*never));
    scopes_filter filter = {.from_ticks = never};
    int err;

    *out = (scopes_ledger){0};
    if (!never)
        return pastset_no_memory("for the processes");
    for (size_t i = 0; i < processes; i++)
        never[i] = UINT64_MAX;
    err = scopes_source_each(source, process, &filter, pass_over, NULL, out);
    free(never);
    out->read += out->filtered;
    out->filtered = 0;
    return err;
}
