/* wire.c - what is in a frame: checking headers. */
#include "paths/net/frame.h"
#include "paths/net/wire_internal.h"
#include "pastset/status.h"

_Static_assert(sizeof(wire_header) == PATHS_FRAME_HEADER_BYTES,
               "what users count is what goes over the wire");

int paths__wire_header_check(const wire_header *header, uint32_t max)
{
    uint32_t limit = 0;

    switch (header->kind) {
    case WIRE_REQUEST:
        limit = max;
        break;
    case WIRE_REPLY:
        limit = header->status ? WIRE_TEXT_BYTES : max;
        break;
    case WIRE_FAILED:
    case WIRE_SPOILT:
    case WIRE_LEFT:
    case WIRE_GONE:
        limit = WIRE_TEXT_BYTES;
        break;
    case WIRE_WELCOME:
    case WIRE_DONE:
    case WIRE_END:
    case WIRE_ENDED:
        break;
    default:
        return pastset_fail(PASTSET_EPROTO, "a frame of unknown kind %u",
                            header->kind);
    }
    if (header->kind == WIRE_REPLY && header->status > 0)
        return pastset_fail(PASTSET_EPROTO, "a reply with status %d",
                            header->status);
    if (header->bytes > limit)
        return pastset_fail(PASTSET_EPROTO,
                            "a frame of kind %u with %u bytes; at most %u",
                            header->kind, header->bytes, limit);
    return 0;
}
