/* report_pack_internal.h - many numbers as a text of a page: LEB128, seven bits
 * a byte, the lowest first, and all bytes in base64. */
#ifndef VIEWER_REPORT_PACK_INTERNAL_H
#define VIEWER_REPORT_PACK_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define VIEWER__PACK_MAX 10 /* bytes of a number */

/* Puts a number there; gives where the next one goes. */
uint8_t *viewer__pack(uint8_t *at, uint64_t number);
/* 0 -1 1 -2 2 ... as 0 1 2 3 4 ... */
uint64_t viewer__zigzag(int64_t number);
/* NULL when memory is out. */
json_t *viewer__base64(const uint8_t *data, size_t bytes);

#endif
