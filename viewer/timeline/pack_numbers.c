/* pack_numbers.c - see pack_numbers_internal.h. */
#include "viewer/timeline/pack_numbers_internal.h"

#include <sodium.h>
#include <stdlib.h>
#include <zlib.h>

#define NUMBER_MAX_BYTES 10
#define RAW (-15) /* window bits of zlib for bytes without a head */

static bool make_room(viewer__numbers *numbers)
{
    size_t room = numbers->room ? 2 * numbers->room : 4096;
    uint8_t *data;

    if (numbers->bytes + NUMBER_MAX_BYTES <= numbers->room)
        return true;
    data = realloc(numbers->data, room);
    if (!data) {
        numbers->failed = true;
        return false;
    }
    numbers->data = data;
    numbers->room = room;
    return true;
}

void viewer__numbers_add(viewer__numbers *numbers, uint64_t number)
{
    if (numbers->failed || !make_room(numbers))
        return;
    while (number >= 128) {
        numbers->data[numbers->bytes++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    numbers->data[numbers->bytes++] = (uint8_t)number;
}

uint64_t viewer__zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t)-number * 2) - 1 : (uint64_t)number * 2;
}

/* zlib counts in 32 bits: what there is goes in piece by piece. */
static bool deflate_all(z_stream *stream, const uint8_t *data, size_t bytes,
                        size_t room)
{
    const size_t most = UINT32_C(1) << 30;
    int done = Z_OK;

    while (done == Z_OK) {
        size_t piece = bytes < most ? bytes : most;
        if (stream->avail_in == 0) {
            stream->next_in = (Bytef *)(uintptr_t)data;
            stream->avail_in = (uInt)piece;
            data += piece;
            bytes -= piece;
        }
        if (stream->avail_out == 0) {
            stream->avail_out = (uInt)(room < most ? room : most);
            room -= stream->avail_out;
        }
        done = deflate(stream, bytes ? Z_NO_FLUSH : Z_FINISH);
    }
    return done == Z_STREAM_END;
}

/* NULL when memory is out. */
static uint8_t *deflate_numbers(const viewer__numbers *numbers, size_t *bytes)
{
    z_stream stream = {0};
    uint8_t *data = NULL;
    size_t room;

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    room = deflateBound(&stream, numbers->bytes);
    data = malloc(room);
    stream.next_out = data;
    if (data && !deflate_all(&stream, numbers->data, numbers->bytes, room)) {
        free(data);
        data = NULL;
    }
    *bytes = stream.total_out;
    deflateEnd(&stream);
    return data;
}

static json_t *base64(const uint8_t *data, size_t bytes)
{
    size_t room =
        sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    json_t *json =
        text ? json_string_nocheck(sodium_bin2base64(
                   text, room, data, bytes, sodium_base64_VARIANT_ORIGINAL))
             : NULL;

    free(text);
    return json;
}

json_t *viewer__numbers_take(viewer__numbers *numbers)
{
    size_t bytes = 0;
    uint8_t *data = numbers->failed ? NULL : deflate_numbers(numbers, &bytes);
    json_t *json = data ? base64(data, bytes) : NULL;

    free(data);
    free(numbers->data);
    *numbers = (viewer__numbers){0};
    return json;
}
