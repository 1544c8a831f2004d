/* wire.c - what is in a frame: checking headers. */
#include "paths/net/wire_internal.h"
#include "pastset/request.h"
#include "pastset/status.h"

static int check_bytes(const wire_header *header, uint32_t max)
{
    if (header->bytes > max)
        return pastset_fail(PASTSET_EPROTO,
                            "a frame of kind %u with %u bytes; at most %u",
                            header->kind, header->bytes, max);
    return 0;
}

static int check_verb(const wire_request *request)
{
    if (request->verb == 0 || request->verb >= PASTSET_ALL_VERBS)
        return pastset_fail(PASTSET_EPROTO, "a request with verb %u",
                            request->verb);
    return 0;
}

static int check_spoilt(const wire_spoilt *spoilt)
{
    if (spoilt->error == 0 || spoilt->error >= INT16_MAX)
        return pastset_fail(PASTSET_EPROTO, "a request with error %u",
                            spoilt->error);
    return 0;
}

static int check_reply(const wire_reply *reply)
{
    if (reply->status > 0)
        return pastset_fail(PASTSET_EPROTO, "a reply with status %d",
                            reply->status);
    return 0;
}

int paths__wire_header_check(const wire_header *header, uint32_t max)
{
    int err = 0;

    switch (header->kind) {
    case WIRE_REQUEST:
        err = check_verb(&header->request);
        return err ? err : check_bytes(header, max);
    case WIRE_SPOILT:
        err = check_verb(&header->request);
        if (!err)
            err = check_spoilt(&header->spoilt);
        return err ? err : check_bytes(header, WIRE_TEXT_BYTES);
    case WIRE_REPLY:
        err = check_reply(&header->reply);
        return err ? err
                   : check_bytes(header,
                                 header->reply.status ? WIRE_TEXT_BYTES : max);
    case WIRE_FAILED:
    case WIRE_LEFT:
    case WIRE_GONE:
        return check_bytes(header, WIRE_TEXT_BYTES);
    case WIRE_RELAY:
        return check_bytes(header, HANDSHAKE_NAME_BYTES);
    case WIRE_WELCOME:
    case WIRE_DONE:
    case WIRE_END:
    case WIRE_ENDED:
    case WIRE_COMPLETE:
        return check_bytes(header, 0);
    default:
        return pastset_fail(PASTSET_EPROTO, "a frame of unknown kind %u",
                            header->kind);
    }
}
