/* command_load_here.c - eventspace load: this machine and its links. */
#include "viewer/cli/predict/command_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/status.h"

load_machine *cli_load_add(load *l, const char *name)
{
    load_machine *rows =
        pastset_array_grow(l->machines, l->machine_count, sizeof(*rows));
    if (rows) {
        l->machines = rows;
        rows[l->machine_count] =
            (load_machine){.name = strdup(name), .scheduler_error = NAN};
        if (rows[l->machine_count].name)
            return &rows[l->machine_count++];
    }
    pastset_no_memory("for the machines");
    return NULL;
}

static void show_progress(void *context, double share)
{
    (void)context;
    fprintf(stderr, "\rlaw of the scheduler: %3.0f %%%s", share * 100,
            share >= 1 ? "\r\033[K" : "");
}

static int measure_machine_scheduler(load_machine *row, const load *l)
{
    measure_scheduler_options options = {
        .processor = l->a.processor,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL};
    int err = measure_scheduler(&row->scheduler, &row->scheduler_error, NULL,
                                NULL, &options);
    row->has_scheduler = !err;
    if (err && options.progress)
        fputs("\r\033[K", stderr);
    return err;
}

/* Tells what failed, at once if it is not the first thing that did. */
static int keep_first(int first, int err, char *why, size_t bytes)
{
    if (err && first)
        fprintf(stderr, "eventspace: %s\n", pastset_error());
    else if (err)
        snprintf(why, bytes, "%s", pastset_error());
    return first ? first : err;
}

/* The load first: what is measured after it makes load itself. What cannot be
 * measured does not keep the rest from it. */
int cli_load_here(load *l)
{
    load_machine *row = cli_load_add(l, l->here);
    int err = row ? measure_load_now(&row->load, l->a.processor, l->a.seconds_s)
                  : PASTSET_ENOMEM;
    char why[1024];
    if (err) {
        if (row)
            free(l->machines[--l->machine_count].name);
        return err;
    }
    if (l->a.scheduler)
        err =
            keep_first(0, measure_machine_scheduler(row, l), why, sizeof(why));
    for (size_t i = 0; i < l->link_count; i++) {
        measure_link_options o = {.processor = l->a.processor};
        int then = measure_link_run(&l->links[i].link, l->links[i].address, &o);
        l->links[i].measured = !then;
        err = keep_first(err, then, why, sizeof(why));
    }
    return err ? pastset_fail(err, "%s", why) : 0;
}
