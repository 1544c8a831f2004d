/* waiting.c - see waiting_internal.h. */
#include "scopes/waiting/waiting_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"

static int no_memory(void)
{
    return scopes__no_room("for what operations waited for");
}

/* --- all of it --- */

static void waiting_free(void *made)
{
    scopes__waiting *w = made;

    if (!w->times_kept)
        scopes_communication_destroy(w->times);
    free(w->tops);
    free(w->dense);
    free(w->members);
    free(w->lines);
    free(w->callers);
    free(w->first_waits);
    scopes__free(w->flags);
    scopes__free(w->needs);
    scopes__free(w->met);
    scopes__free(w->waits);
    free(w);
}

static int waiting_make(void **out, const void *context, bool kept)
{
    scopes__waiting *w = calloc(1, sizeof(*w));
    int err;

    if (!w)
        return no_memory();
    w->kept = kept;
    w->in = *(const scopes__waiting_input *)context;
    err = scopes__waiting_operations(w);
    if (!err)
        err = scopes__waiting_needs(w);
    if (!err && w->in.run)
        err = scopes__waiting_messages(w);
    if (!err)
        err = scopes__waiting_lines(w);
    if (!err)
        err = scopes__waiting_list(w);
    if (err)
        waiting_free(w);
    else
        *out = w;
    return err;
}

int scopes__waiting_create(scopes__waiting **out,
                           const scopes__waiting_input *input)
{
    static const scopes__made how = {waiting_make, waiting_free};
    void *made = NULL;
    int err = scopes__memo_get(input->event_table->memo, SCOPES__MEMO_WAITING,
                               0, &how, input, &made);

    *out = made;
    return err;
}

void scopes__waiting_destroy(scopes__waiting *waiting)
{
    if (waiting && !waiting->kept)
        waiting_free(waiting);
}
