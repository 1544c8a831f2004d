/* pack_numbers_internal.h - many numbers as a text of a page: LEB128, seven
 * bits a byte, the lowest first; all bytes deflated (RFC 1951), and in base64.
 * Numbers of one kind stand behind each other, which deflates best. */
#ifndef VIEWER_PACK_NUMBERS_INTERNAL_H
#define VIEWER_PACK_NUMBERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Zeroed, it is empty. */
typedef struct viewer__numbers {
    uint8_t *data;
    size_t bytes, room;
    bool failed; /* memory was out */
} viewer__numbers;

void viewer__numbers_add(viewer__numbers *numbers, uint64_t number);
/* 0 -1 1 -2 2 ... as 0 1 2 3 4 ... */
uint64_t viewer__zigzag(int64_t number);
/* The text, and makes it empty. NULL when memory is out, or was. */
json_t *viewer__numbers_take(viewer__numbers *numbers);

#endif
