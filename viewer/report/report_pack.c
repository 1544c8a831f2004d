/* report_pack.c - see report_pack_internal.h. */
#include "viewer/report/report_pack_internal.h"

#include <sodium.h>
#include <stdlib.h>

uint8_t *viewer__pack(uint8_t *at, uint64_t number)
{
    while (number >= 128) {
        *at++ = (uint8_t)(number | 128);
        number >>= 7;
    }
    *at++ = (uint8_t)number;
    return at;
}

uint64_t viewer__zigzag(int64_t number)
{
    return number < 0 ? ((uint64_t)-number * 2) - 1 : (uint64_t)number * 2;
}

json_t *viewer__base64(const uint8_t *data, size_t bytes)
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
