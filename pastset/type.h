/* type.h - the type of a tuple, declared by a short text.
 *
 * A type is either a row of fields,
 *
 *     i32 f64[128]          one 32-bit integer, then 128 doubles
 *     u8[64]                64 bytes
 *
 * with the fields i8 u8 i16 u16 i32 u32 i64 u64 f32 f64, or one run of bytes
 * whose length differs from tuple to tuple, up to a maximum:
 *
 *     bytes[4096]           0 to 4096 bytes
 *
 * Fields lie behind each other without padding, in native byte order. A C
 * struct has that layout when its members are ordered so that the compiler
 * need not pad; `pastset_type_fields` tells each field's offset.
 *
 * A type is plain data: copy it freely. */
#ifndef PASTSET_TYPE_H
#define PASTSET_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PASTSET_TYPE_FIELDS 64          /* most fields of one type */
#define PASTSET_TYPE_TEXT 192           /* longest text, with its 0 */
#define PASTSET_TUPLE_BYTES (64u << 20) /* largest tuple: 64 MiB */

typedef enum pastset_scalar {
    PASTSET_I8,
    PASTSET_U8,
    PASTSET_I16,
    PASTSET_U16,
    PASTSET_I32,
    PASTSET_U32,
    PASTSET_I64,
    PASTSET_U64,
    PASTSET_F32,
    PASTSET_F64,
} pastset_scalar;

typedef struct pastset_field {
    pastset_scalar scalar;
    uint32_t count;        /* 1 for a plain scalar */
    uint32_t offset_bytes; /* from the start of the tuple */
    uint32_t bytes;        /* of the whole field */
} pastset_field;

typedef struct pastset_type {
    char text[PASTSET_TYPE_TEXT]; /* normalised: single blanks */
    bool variable;                /* bytes[N]: tuples differ in length */
    uint32_t max_bytes;           /* of a tuple; its size unless variable */
    uint32_t field_count;         /* 1 when variable: the whole tuple */
    pastset_field fields[PASTSET_TYPE_FIELDS];
} pastset_type;

/* Reads a type from its text.
 * Errors: PASTSET_EINVAL with a text that names the offending word. */
int pastset_type_parse(pastset_type *out, const char *text);

bool pastset_type_equal(const pastset_type *a, const pastset_type *b);

/* The bytes of one scalar, and its name ("f64"). */
uint32_t pastset_scalar_bytes(pastset_scalar scalar);
const char *pastset_scalar_name(pastset_scalar scalar);

#ifdef __cplusplus
}
#endif

#endif
