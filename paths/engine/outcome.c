/* outcome.c - how an operation ends: its result, or the text of its error. */
#include <stdlib.h>
#include <string.h>

#include "paths/engine/operation_internal.h"

void paths__keep_text(operation *o, int status)
{
    if (status >= 0 || o->text)
        return;
    o->text = strdup(pastset_error());
}

void paths__replace_text(operation *o, int status)
{
    free(o->text);
    o->text = NULL;
    paths__keep_text(o, status);
}

int paths__answer(operation *o, const void *result, size_t bytes)
{
    if (bytes > o->op.capacity)
        return pastset_fail(
            PASTSET_EROOM,
            "the result has %zu bytes, but there is room for %zu", bytes,
            o->op.capacity);
    o->op.capacity = bytes;
    if (o->capacity)
        o->answer = result;
    else if (o->op.result != result)
        memmove(o->op.result, result, bytes);
    return 0;
}
