#include "scopes/view_internal.h"

static int make(scopes_table *out, const scopes_subject *subject)
{
    (void)out;
    (void)subject;
    return 0;
}

static const scopes_column columns[] = {{"none", "none", SCOPES_TEXT}};

const scopes_view scopes__view_communication = {"communication",
                                                "to be made",
                                                NULL,
                                                SCOPES__COLUMNS(columns),
                                                NULL,
                                                0,
                                                make};
