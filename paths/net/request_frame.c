/* request_frame.c - an operation as a request to another process, and what its
 * reply makes of it. */
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/net/request_frame_internal.h"

static uint32_t timeout_of(const operation *o)
{
    int64_t left;

    if (o->op.nowait)
        return 0;
    if (!o->op.deadline_ns)
        return WIRE_FOREVER;
    left = (o->op.deadline_ns - pastset_now_ns() + 999999) / 1000000;
    if (left < 1)
        return 1;
    return left < WIRE_FOREVER ? (uint32_t)left : WIRE_FOREVER - 1;
}

const void *paths__request_header(wire_header *header, operation *o,
                                  const paths_stage *proxy)
{
    const pastset_pattern *pattern = o->op.pattern;
    wire_request *request = &header->request;

    *request = (wire_request){.id = o->id,
                              .kind = WIRE_REQUEST,
                              .verb = o->op.verb,
                              .proxy = proxy->process->numbers[proxy->node],
                              .thread = o->op.thread,
                              .sequence = o->op.sequence,
                              .index = o->op.index,
                              .timeout_ms = timeout_of(o)};
    o->asked = o->op.index;
    if (o->op.status < 0) {
        const char *text =
            o->text ? o->text : pastset_status_text(o->op.status);
        header->spoilt.kind = WIRE_SPOILT;
        header->spoilt.error = (uint32_t)-o->op.status;
        header->spoilt.bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES);
        return text;
    }
    if (brings_tuple(&o->op)) {
        request->bytes = (uint32_t)o->op.bytes;
        request->capacity =
            o->op.capacity < UINT32_MAX ? (uint32_t)o->op.capacity : UINT32_MAX;
        return o->op.tuple;
    }
    request->capacity =
        o->op.bytes < UINT32_MAX ? (uint32_t)o->op.bytes : UINT32_MAX;
    if (!pattern)
        return NULL;
    request->pattern_fields = pattern->fields;
    request->bytes = pattern->bytes;
    return pattern->values;
}

void paths__reply_take(operation *o, const wire_reply *reply)
{
    o->op.status = reply->status;
    if (reply->status)
        return;
    o->op.index = reply->index;
    o->op.lost = reply->lost;
    if (o->op.verb == PASTSET_EXCHANGE)
        o->op.capacity = reply->bytes;
    else if (o->op.verb != PASTSET_WRITE)
        o->op.bytes = reply->bytes;
}

bool paths__reply_target(const operation *o, size_t bytes, void **out)
{
    *out = NULL;
    if (o->op.verb == PASTSET_WRITE)
        return true;
    *out = o->op.verb == PASTSET_EXCHANGE ? o->op.result : o->op.tuple;
    return bytes <=
           (o->op.verb == PASTSET_EXCHANGE ? o->op.capacity : o->op.bytes);
}
