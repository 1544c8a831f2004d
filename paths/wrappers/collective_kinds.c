/* collective_kinds.c - the kinds of collectives, and what they compute. */
#include "paths/wrappers/collective_kinds_internal.h"

#include <string.h>

#include "pastset/status.h"

/* --- arithmetic ---
 *
 * Scalars in tuples need not be aligned; compilers make vector code of the
 * copies. Signed integers are added as unsigned ones, so that they wrap. */

#define FOLD(name, type, wide, expression)                                     \
    static void name(unsigned char *into, const unsigned char *from,           \
                     size_t count)                                             \
    {                                                                          \
        for (size_t i = 0; i < count; i++) {                                   \
            type x, y;                                                         \
            wide a, b;                                                         \
            memcpy(&x, into + i * sizeof(x), sizeof(x));                       \
            memcpy(&y, from + i * sizeof(y), sizeof(y));                       \
            a = (wide)x;                                                       \
            b = (wide)y;                                                       \
            x = (type)(expression);                                            \
            memcpy(into + i * sizeof(x), &x, sizeof(x));                       \
        }                                                                      \
    }

#define FOLD_NUMBER(suffix, type, wide)                                        \
    FOLD(sum_##suffix, type, wide, a + b)                                      \
    FOLD(product_##suffix, type, wide, a *b)                                   \
    FOLD(min_##suffix, type, type, b < a ? b : a)                              \
    FOLD(max_##suffix, type, type, b > a ? b : a)

#define FOLD_INTEGER(suffix, type)                                             \
    FOLD_NUMBER(suffix, type, uint64_t)                                        \
    FOLD(and_##suffix, type, type, a &b)                                       \
    FOLD(or_##suffix, type, type, a | b)                                       \
    FOLD(xor_##suffix, type, type, a ^ b)

FOLD_INTEGER(i8, int8_t)
FOLD_INTEGER(u8, uint8_t)
FOLD_INTEGER(i16, int16_t)
FOLD_INTEGER(u16, uint16_t)
FOLD_INTEGER(i32, int32_t)
FOLD_INTEGER(u32, uint32_t)
FOLD_INTEGER(i64, int64_t)
FOLD_INTEGER(u64, uint64_t)
FOLD_NUMBER(f32, float, float)
FOLD_NUMBER(f64, double, double)

typedef void fold(unsigned char *into, const unsigned char *from, size_t count);

#define FOLDS(name)                                                            \
    [PASTSET_I8] = name##_i8, [PASTSET_U8] = name##_u8,                        \
    [PASTSET_I16] = name##_i16, [PASTSET_U16] = name##_u16,                    \
    [PASTSET_I32] = name##_i32, [PASTSET_U32] = name##_u32,                    \
    [PASTSET_I64] = name##_i64, [PASTSET_U64] = name##_u64

#define REDUCTION(name, ...)                                                   \
    static void reduce_##name(const pastset_type *type, void *into,            \
                              const void *from)                                \
    {                                                                          \
        static fold *const folds[PASTSET_F64 + 1] = {FOLDS(name),              \
                                                     __VA_ARGS__};             \
        for (uint32_t i = 0; i < type->field_count; i++) {                     \
            const pastset_field *f = &type->fields[i];                         \
            folds[f->scalar]((unsigned char *)into + f->offset_bytes,          \
                             (const unsigned char *)from + f->offset_bytes,    \
                             f->count);                                        \
        }                                                                      \
    }

#define FLOATS(name) [PASTSET_F32] = name##_f32, [PASTSET_F64] = name##_f64

REDUCTION(sum, FLOATS(sum))
REDUCTION(product, FLOATS(product))
REDUCTION(min, FLOATS(min))
REDUCTION(max, FLOATS(max))
REDUCTION(and, [PASTSET_F32] = NULL)
REDUCTION(or, [PASTSET_F32] = NULL)
REDUCTION(xor, [PASTSET_F32] = NULL)

/* --- kinds --- */

static const struct {
    const char *name;
    collective_family family;
    paths_reduction *reduction;
    bool whole; /* of integers only */
} kinds[] = {
    {"sum", FAMILY_REDUCE, reduce_sum, false},
    {"product", FAMILY_REDUCE, reduce_product, false},
    {"min", FAMILY_REDUCE, reduce_min, false},
    {"max", FAMILY_REDUCE, reduce_max, false},
    {"and", FAMILY_REDUCE, reduce_and, true},
    {"or", FAMILY_REDUCE, reduce_or, true},
    {"xor", FAMILY_REDUCE, reduce_xor, true},
    {"reduce", FAMILY_REDUCE, NULL, false},
    {"barrier", FAMILY_BARRIER, NULL, false},
    {"broadcast", FAMILY_BROADCAST, NULL, false},
    {"scatter", FAMILY_SCATTER, NULL, false},
    {"gather", FAMILY_GATHER, NULL, false},
    {"alltoall", FAMILY_ALLTOALL, NULL, false},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t kind_find(const char *name)
{
    size_t i = 0;

    while (i < KINDS && strcmp(kinds[i].name, name) != 0)
        i++;
    return i;
}

int paths__collective_family(const char *kind)
{
    size_t i = kind_find(kind);
    return i < KINDS ? (int)kinds[i].family : -1;
}

paths_reduction *paths__collective_reduction(const char *kind)
{
    size_t i = kind_find(kind);
    return i < KINDS ? kinds[i].reduction : NULL;
}

static bool has_floats(const pastset_type *type)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].scalar >= PASTSET_F32)
            return true;
    }
    return false;
}

const char *paths__collective_type_problem(const char *kind,
                                           const pastset_type *type,
                                           uint32_t participants)
{
    size_t i = kind_find(kind);
    uint64_t n = participants;

    if (i == KINDS || kinds[i].family == FAMILY_BARRIER ||
        kinds[i].family == FAMILY_BROADCAST)
        return NULL;
    if (type->variable)
        return "its tuples must have a fixed length: not bytes[N]";
    if (kinds[i].family == FAMILY_REDUCE)
        return kinds[i].whole && has_floats(type)
                   ? "bits of integers only, not of f32 or f64"
                   : NULL;
    if (kinds[i].family == FAMILY_ALLTOALL)
        n *= n;
    if (type->max_bytes % n)
        return kinds[i].family == FAMILY_ALLTOALL
                   ? "its tuple is one row for each thread that takes part, "
                     "of one block for each"
                   : "its tuple is one block for each thread that takes part";
    return NULL;
}

/* --- functions of the program --- */

#define FUNCTIONS_MAX 64

/* Written before processes are started, read afterwards: no lock. */
static struct {
    const char *name;
    paths_reduction *function;
} functions[FUNCTIONS_MAX];
static size_t function_count;

paths_reduction *paths_reduction_find(const char *name)
{
    for (size_t i = 0; i < function_count; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    }
    return NULL;
}

int paths_reduction_register(const char *name, paths_reduction *function)
{
    paths_reduction *known;

    if (!name || !*name || !function)
        return pastset_fail(PASTSET_EINVAL, "a reduction needs a name");
    known = paths_reduction_find(name);
    if (known)
        return known == function
                   ? 0
                   : pastset_fail(PASTSET_EEXIST,
                                  "there is a reduction \"%s\" already", name);
    if (function_count == FUNCTIONS_MAX)
        return pastset_fail(PASTSET_ELIMIT, "more than %d reductions",
                            FUNCTIONS_MAX);
    functions[function_count].name = name;
    functions[function_count++].function = function;
    return 0;
}
