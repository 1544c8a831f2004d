/* view_waiting_internal.h - what the views of waiting are made from. */
#ifndef SCOPES_VIEW_WAITING_INTERNAL_H
#define SCOPES_VIEW_WAITING_INTERNAL_H

#include "scopes/views/view_internal.h"
#include "scopes/waiting/waiting_internal.h"

/* Of all threads, whoever is asked for. The caller destroys it. Errors: those
 * of scopes__waiting_create. */
static inline int scopes__view_waiting(scopes__waiting **out,
                                       const scopes_view_input *view_input)
{
    scopes__waiting_input input = {view_input->topology,
                                   view_input->event_table, view_input->clocks,
                                   view_input->scheduling, view_input->run};

    return scopes__waiting_create(out, &input);
}

#endif
