/* units.c - see units.h. */
#include "paths/map/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* --- reading --- */

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit counts[] = {
    {"", 1},          {"k", 1000},      {"M", 1000000},   {"G", 1000000000},
    {"Ki", 1u << 10}, {"Mi", 1u << 20}, {"Gi", 1u << 30}, {NULL, 0},
};

static const unit durations[] = {
    {"ns", 1},         {"us", 1000},          {"ms", 1000000},
    {"s", 1000000000}, {"min", 60000000000u}, {NULL, 0},
};

/* In bits, so that all of them are whole numbers. */
static const unit rates[] = {
    {"bit", 1}, {"kbit", 1000}, {"mbit", 1000000}, {"gbit", 1000000000},
    {"B", 8},   {"kB", 8000},   {"MB", 8000000},   {"GB", 8000000000u},
    {NULL, 0},
};

/* In thousandths of them. */
static const unit millionths[] = {{"ppm", 1000}, {"ppb", 1}, {NULL, 0}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const unit *unit_find(const unit *units, const char *name)
{
    for (; units->name; units++) {
        if (strcmp(units->name, name) == 0)
            return units;
    }
    return NULL;
}

/* Reads "whole[.fraction]unit" exactly, without floating point, which would
 * depend on the locale. Digits of the fraction that are too small to count
 * for the unit are dropped. */
static bool parse(const char *text, const unit *units, uint64_t *out)
{
    const char *whole = text, *fraction = NULL, *p = text;
    const unit *u;
    uint64_t value = 0, step;

    while (is_digit(*p))
        p++;
    if (p == whole)
        return false;
    if (*p == '.' && is_digit(p[1])) {
        fraction = ++p;
        while (is_digit(*p))
            p++;
    }
    while (*p == ' ')
        p++;
    u = unit_find(units, p);
    if (!u)
        return false;
    for (; is_digit(*whole); whole++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*whole - '0'), &value))
            return false;
    }
    if (__builtin_mul_overflow(value, u->factor, &value))
        return false;
    step = u->factor;
    for (; fraction && is_digit(*fraction); fraction++) {
        step /= 10;
        if (__builtin_add_overflow(value, step * (uint64_t)(*fraction - '0'),
                                   &value))
            return false;
    }
    *out = value;
    return true;
}

int paths_parse_number(const char *text, uint64_t *out)
{
    if (parse(text, counts, out))
        return 0;
    return pastset_fail(
        PASTSET_EINVAL,
        "\"%.60s\" is not a number: write one such as 1024, 64k, 4M or 256Ki",
        text);
}

int paths_parse_duration(const char *text, uint64_t *out_ns)
{
    if (parse(text, durations, out_ns))
        return 0;
    if (strcmp(text, "0") == 0) {
        *out_ns = 0;
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is not a duration: write a number and a "
                        "unit, such as 250ns, 400us, 1.5ms or 2s",
                        text);
}

int paths_parse_rate(const char *text, uint64_t *out_bytes_s)
{
    uint64_t bits;

    if (parse(text, rates, &bits)) {
        *out_bytes_s = bits / 8;
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is not a rate: write a number and a unit a "
                        "second, such as 10mbit, 1gbit or 125MB",
                        text);
}

/* A sign, or none, and a number with a unit. */
static bool parse_signed(const char *text, const unit *units, int64_t *out)
{
    bool less = text[0] == '-';
    uint64_t value;

    if (!parse(text + (less || text[0] == '+'), units, &value) ||
        value > INT64_MAX)
        return false;
    *out = less ? -(int64_t)value : (int64_t)value;
    return true;
}

int paths_parse_offset(const char *text, int64_t *out_ns)
{
    if (parse_signed(text, durations, out_ns))
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is not an offset: write a duration with a "
                        "sign, such as +1.5s or -250us",
                        text);
}

int paths_parse_ppm(const char *text, int64_t *out_ppb)
{
    if (parse_signed(text, millionths, out_ppb))
        return 0;
    return pastset_fail(
        PASTSET_EINVAL,
        "\"%.60s\" is not a rate of a counter: write by how many millionths it "
        "is too fast, such as +150ppm or -0.5ppm",
        text);
}

int paths_parse_real(const char *text, double *out)
{
    char *end;
    double number = strtod(text, &end);

    if (*text && strspn(text, "0123456789.") == strlen(text) && !*end &&
        isfinite(number)) {
        *out = number;
        return 0;
    }
    return pastset_fail(
        PASTSET_EINVAL,
        "\"%.60s\" is not a number: write digits, such as 12 or 0.5", text);
}

/* --- writing --- */

typedef struct scale {
    double one;
    const char *name;
} scale;

static const char *text_of(double number, const scale *scales, char *buffer,
                           size_t bytes)
{
    int digits;

    while (scales[1].name && number < 0.99995 * scales->one)
        scales++;
    number /= scales->one;
    digits = number < 10 ? 3 : number < 100 ? 2 : number < 1000 ? 1 : 0;
    snprintf(buffer, bytes, "%.*f%s", digits, number, scales->name);
    return buffer;
}

const char *paths_duration_text(double seconds, char *buffer, size_t bytes)
{
    static const scale scales[] = {
        {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};

    return text_of(seconds, scales, buffer, bytes);
}

const char *paths_rate_text(double bytes_s, char *buffer, size_t bytes)
{
    static const scale scales[] = {
        {1e9, "gbit"}, {1e6, "mbit"}, {1e3, "kbit"}, {1, "bit"}, {0, NULL}};

    return text_of(bytes_s * 8, scales, buffer, bytes);
}

const char *paths_exact_duration_text(uint64_t ns, char *buffer, size_t bytes)
{
    char text[32];
    size_t used = (size_t)snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64,
                                   ns / 1000000, ns % 1000000);

    while (text[used - 1] == '0')
        text[--used] = '\0';
    if (text[used - 1] == '.')
        text[used - 1] = '\0';
    snprintf(buffer, bytes, "%sms", text);
    return buffer;
}
