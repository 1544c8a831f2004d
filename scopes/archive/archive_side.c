/* archive_side.c - what a process has defined, beside its archive.
 *
 * The definitions are in the process's space. Who removes that, as its tuples
 * are all in the archive, would have these without names: so they are copied
 * into the file in which mirrors have them, which is read where there is no
 * space. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/define/definition.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "pastset/type.h"
#include "scopes/archive/archive_internal.h"

#define FILE_BYTES 4096

/* Tuples as they are; one that cannot be read is left out, as by readers of the
 * space. */
static int copy(pastset_element *to, pastset_element *from)
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    pastset_cursor cursor = {0};
    int err;

    do {
        size_t bytes = sizeof(tuple);
        err = pastset_read_next(from, &cursor, tuple, &bytes, PASTSET_NOWAIT);
        if (!err)
            err = pastset_write(to, tuple, bytes, PASTSET_NOWAIT, NULL);
        else if (err == PASTSET_EFORMAT)
            err = 0; /* behind which there may be more */
    } while (!err);
    return err == PASTSET_EAGAIN ? 0 : err;
}

static int write_file(const char *file, pastset_element *from)
{
    pastset_type type;
    pastset_space_options space_options = {.path = file, .max_elements = 1};
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = EVENTSPACE_DEFINITIONS_MAX,
                                       .single_writer = true,
                                       .on_demand = true};
    pastset_space *space;
    pastset_element *to;
    int err = pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE);

    if (!err)
        err = pastset_space_create(&space, &space_options);
    if (err)
        return err;
    err = pastset_element_create(&to, space, &options);
    if (!err)
        err = copy(to, from);
    pastset_space_close(space);
    return err ? err : pastset_space_settle(file);
}

int scopes__archive_side(const char *directory,
                         const eventspace_run_process *process)
{
    pastset_element *from =
        process->space
            ? pastset_space_find(process->space, EVENTSPACE_DEFINITIONS_NAME)
            : NULL;
    char file[FILE_BYTES], draft[FILE_BYTES];
    int err;

    if (!from || strcmp(pastset_element_type(from)->text,
                        EVENTSPACE_DEFINITIONS_TYPE) != 0)
        return 0;
    err = eventspace_run_file(file, sizeof(file), directory, process->name,
                              EVENTSPACE_SIDE_SUFFIX);
    if (!err)
        err = eventspace_run_file(draft, sizeof(draft), directory,
                                  process->name, EVENTSPACE_SIDE_SUFFIX ".tmp");
    if (err)
        return err;
    err = write_file(draft, from);
    if (!err && rename(draft, file) != 0)
        err = pastset_fail(pastset_status_from_errno(errno), "%s: %s", file,
                           strerror(errno));
    if (err)
        unlink(draft);
    return err;
}
