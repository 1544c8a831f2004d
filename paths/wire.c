/* wire.c - what is in a frame: checking headers, the hello. */
#include <msgpack.h>
#include <string.h>

#include "paths/wire_internal.h"
#include "pastset/status.h"

int wire_header_check(const wire_header *header, uint32_t most)
{
    uint32_t limit = 0;

    switch (header->kind) {
    case WIRE_HELLO:
    case WIRE_WELCOME:
        limit = WIRE_HELLO_BYTES;
        break;
    case WIRE_REQUEST:
        limit = most;
        break;
    case WIRE_REPLY:
        limit = header->status ? WIRE_TEXT_BYTES : most;
        break;
    case WIRE_FAILED:
    case WIRE_SPOILT:
    case WIRE_LEFT:
    case WIRE_GONE:
        limit = WIRE_TEXT_BYTES;
        break;
    case WIRE_DONE:
    case WIRE_END:
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

size_t wire_hello_encode(const wire_hello *hello, unsigned char *buffer,
                         size_t room)
{
    msgpack_sbuffer out;
    msgpack_packer packer;
    size_t bytes;

    msgpack_sbuffer_init(&out);
    msgpack_packer_init(&packer, &out, msgpack_sbuffer_write);
    msgpack_pack_array(&packer, 3);
    msgpack_pack_uint16(&packer, hello->role);
    msgpack_pack_uint64(&packer, hello->digest);
    msgpack_pack_str(&packer, strlen(hello->host));
    msgpack_pack_str_body(&packer, hello->host, strlen(hello->host));
    bytes = out.size <= room ? out.size : 0;
    if (bytes)
        memcpy(buffer, out.data, bytes);
    msgpack_sbuffer_destroy(&out);
    return bytes;
}

static bool hello_take(wire_hello *out, const msgpack_object *object)
{
    const msgpack_object *item;

    if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size != 3)
        return false;
    item = object->via.array.ptr;
    if (item[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
        item[0].via.u64 < ROLE_THREAD || item[0].via.u64 > ROLE_MEMBER ||
        item[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
        item[2].type != MSGPACK_OBJECT_STR ||
        item[2].via.str.size >= sizeof(out->host))
        return false;
    out->role = (uint16_t)item[0].via.u64;
    out->digest = item[1].via.u64;
    memcpy(out->host, item[2].via.str.ptr, item[2].via.str.size);
    out->host[item[2].via.str.size] = 0;
    return true;
}

/* The bytes of an unsigned number or a short string; 0 when it is none. */
static size_t item_bytes(const unsigned char *data, size_t bytes)
{
    unsigned char first = bytes ? data[0] : 0xc1;

    if (first < 0x80)
        return 1;
    if (first >= 0xcc && first <= 0xcf)
        return 1 + ((size_t)1 << (first - 0xcc));
    if (first >= 0xa0 && first < 0xc0)
        return 1 + (size_t)(first - 0xa0);
    if (first == 0xd9 && bytes > 1)
        return 2 + (size_t)data[1];
    return 0;
}

/* Three items and no more. Looked at before msgpack is, which believes an
 * array that claims four thousand million items, and takes memory for them. */
static bool hello_shape(const unsigned char *data, size_t bytes)
{
    size_t at = 1;

    if (bytes == 0 || data[0] != 0x93)
        return false;
    for (int i = 0; i < 3; i++) {
        size_t item = item_bytes(data + at, bytes - at);
        if (item == 0 || item > bytes - at)
            return false;
        at += item;
    }
    return at == bytes;
}

int wire_hello_decode(wire_hello *out, const unsigned char *data, size_t bytes)
{
    msgpack_unpacked unpacked;
    size_t at = 0;
    bool good;

    msgpack_unpacked_init(&unpacked);
    good = hello_shape(data, bytes) &&
           msgpack_unpack_next(&unpacked, (const char *)data, bytes, &at) ==
               MSGPACK_UNPACK_SUCCESS &&
           at == bytes && hello_take(out, &unpacked.data);
    msgpack_unpacked_destroy(&unpacked);
    if (!good)
        return pastset_fail(PASTSET_EPROTO, "a hello that is none");
    return 0;
}
