/* packet_parse.c - the headers of one frame.
 *
 * Only headers are looked at; of the payload only the length is known, from
 * the IP header: Ethernet pads short frames. A packet that the sender's kernel
 * has not cut yet (segmentation offload) may be longer than the 16 bits of
 * that length tell; it is 0 then, and the frame's own length is taken. */
#include <pcap/dlt.h>
#include <string.h>

#include "measure/packets/packets_internal.h"

#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define PROTOCOL_TCP 6
#define HEADERS_MAX 8 /* of VLANs, or of extensions of IPv6 */

/* What is left of a frame: `count` bytes of it are there. */
typedef struct rest {
    const uint8_t *bytes;
    size_t count, length;
} rest;

static uint16_t get16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)get16(bytes) << 16 | get16(bytes + 2);
}

static bool skip(rest *r, size_t bytes)
{
    if (r->count < bytes || r->length < bytes)
        return false;
    r->bytes += bytes;
    r->count -= bytes;
    r->length -= bytes;
    return true;
}

/* --- links --- */

/* Each gives the type of what follows, as Ethernet numbers it; 0: none. */
static uint16_t ethernet(rest *r)
{
    uint16_t type;

    if (!skip(r, 14))
        return 0;
    type = get16(r->bytes - 2);
    for (int i = 0; i < HEADERS_MAX; i++) {
        if (type != 0x8100 && type != 0x88a8 && type != 0x9100)
            return type;
        if (!skip(r, 4))
            return 0;
        type = get16(r->bytes - 2);
    }
    return 0;
}

/* Linux's own header, of the interface "any". */
static uint16_t cooked(rest *r, size_t bytes, size_t at)
{
    return skip(r, bytes) ? get16(r->bytes - bytes + at) : 0;
}

/* The address family of whoever wrote it, in his byte order. */
static uint16_t family(rest *r)
{
    uint32_t number;

    if (!skip(r, 4))
        return 0;
    number = get32(r->bytes - 4);
    if (number > 0xffff)
        number = (uint32_t)r->bytes[-4] | (uint32_t)r->bytes[-3] << 8;
    switch (number) {
    case 2:
        return TYPE_IPV4;
    case 10: /* Linux */
    case 24: /* the BSDs, each its own */
    case 28:
    case 30:
        return TYPE_IPV6;
    default:
        return 0;
    }
}

static uint16_t raw(const rest *r)
{
    if (!r->count)
        return 0;
    return r->bytes[0] >> 4 == 4   ? TYPE_IPV4
           : r->bytes[0] >> 4 == 6 ? TYPE_IPV6
                                   : 0;
}

static uint16_t network_type(rest *r, int link)
{
    switch (link) {
    case DLT_EN10MB:
        return ethernet(r);
    case DLT_LINUX_SLL:
        return cooked(r, 16, 14);
    case DLT_LINUX_SLL2:
        return cooked(r, 20, 0);
    case DLT_NULL:
    case DLT_LOOP:
        return family(r);
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
        return raw(r);
    default:
        return 0;
    }
}

bool measure__packet_link_known(int link)
{
    static const int known[] = {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2,
                                DLT_NULL,   DLT_LOOP,      DLT_RAW,
                                DLT_IPV4,   DLT_IPV6};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i] == link)
            return true;
    }
    return false;
}

/* --- the network --- */

/* What IP says that the packet has; 0: as much as the frame. Less than there
 * is: padding. More: the packet is damaged. */
static bool cut(rest *r, size_t told)
{
    if (!told)
        return true;
    if (told > r->length)
        return false;
    r->length = told;
    if (r->count > told)
        r->count = told;
    return true;
}

static bool ipv4(packet *out, rest *r)
{
    const uint8_t *h = r->bytes;
    size_t header, told;

    if (r->count < 20 || h[0] >> 4 != 4)
        return false;
    header = (size_t)(h[0] & 15) * 4;
    told = get16(h + 2);
    if (header < 20 || (told && told < header))
        return false;
    if (get16(h + 6) & 0x3fff || h[9] != PROTOCOL_TCP)
        return false; /* a fragment, or of others */
    memcpy(out->from, h + 12, 4);
    memcpy(out->to, h + 16, 4);
    return cut(r, told) && skip(r, header);
}

/* Steps over the extensions; false: what follows is not TCP. */
static bool ipv6_extensions(rest *r, uint8_t next)
{
    for (int i = 0; i < HEADERS_MAX; i++) {
        size_t bytes;

        if (next == PROTOCOL_TCP)
            return true;
        if (r->count < 8)
            return false;
        switch (next) {
        case 0:  /* by each hop: a jumbogram's length among others */
        case 43: /* routing */
        case 60: /* for the destination */
        case 135:
            bytes = ((size_t)r->bytes[1] + 1) * 8;
            break;
        case 51: /* authentication */
            bytes = ((size_t)r->bytes[1] + 2) * 4;
            break;
        case 44: /* fragment: only one that is whole */
            if (get16(r->bytes + 2) & 0xfff9)
                return false;
            bytes = 8;
            break;
        default:
            return false;
        }
        next = r->bytes[0];
        if (!skip(r, bytes))
            return false;
    }
    return false;
}

static bool ipv6(packet *out, rest *r)
{
    const uint8_t *h = r->bytes;
    size_t told;

    if (r->count < 40 || h[0] >> 4 != 6)
        return false;
    told = get16(h + 4);
    out->ipv6 = true;
    memcpy(out->from, h + 8, 16);
    memcpy(out->to, h + 24, 16);
    return skip(r, 40) && cut(r, told) && ipv6_extensions(r, h[6]);
}

/* --- TCP --- */

static void options(packet *out, const uint8_t *at, size_t count)
{
    while (count) {
        size_t bytes = 1;

        if (at[0] == 0)
            return;
        if (at[0] != 1) {
            if (count < 2 || at[1] < 2 || at[1] > count)
                return;
            bytes = at[1];
            if (at[0] == 2 && bytes == 4)
                out->mss = get16(at + 2);
            if (at[0] == 3 && bytes == 3) /* RFC 7323: 14 at most */
                out->scale = at[2] > 14 ? 14 : (int8_t)at[2];
        }
        at += bytes;
        count -= bytes;
    }
}

static bool tcp_header(packet *out, const rest *r)
{
    const uint8_t *h = r->bytes;
    size_t header;

    if (r->count < 20)
        return false;
    header = (size_t)(h[12] >> 4) * 4;
    if (header < 20 || header > r->length || r->length > UINT32_MAX / 4)
        return false;
    out->from_port = get16(h);
    out->to_port = get16(h + 2);
    out->sequence = get32(h + 4);
    out->acknowledged = get32(h + 8);
    out->option_bytes = (uint8_t)(header - 20);
    out->flags = h[13];
    out->window = get16(h + 14);
    out->payload = (uint32_t)(r->length - header);
    if (out->flags & PACKET_SYN)
        options(out, h + 20, (header < r->count ? header : r->count) - 20);
    return true;
}

bool measure__packet_parse(packet *out, int link, const uint8_t *bytes,
                           size_t count, size_t length)
{
    rest r = {bytes, count < length ? count : length, length};

    memset(out, 0, sizeof(*out));
    out->scale = -1;
    switch (network_type(&r, link)) {
    case TYPE_IPV4:
        return ipv4(out, &r) && tcp_header(out, &r);
    case TYPE_IPV6:
        return ipv6(out, &r) && tcp_header(out, &r);
    default:
        return false;
    }
}
