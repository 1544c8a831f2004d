/* structural_units.c - units of numbers in models. */
#include <stdio.h>
#include <string.h>

#include "predict/structural/structural_internal.h"

/* Rates of links are told in bits, as everywhere; bytes are sizes. */
static const struct {
    const char *name;
    double factor;
    predict_dimension dimension;
} units[] = {
    {"ns", 1e-9, {1, 0}},
    {"us", 1e-6, {1, 0}},
    {"ms", 1e-3, {1, 0}},
    {"s", 1, {1, 0}},
    {"min", 60, {1, 0}},
    {"h", 3600, {1, 0}},
    {"B", 1, {0, 1}},
    {"kB", 1e3, {0, 1}},
    {"MB", 1e6, {0, 1}},
    {"GB", 1e9, {0, 1}},
    {"KiB", 1024, {0, 1}},
    {"MiB", 1048576, {0, 1}},
    {"GiB", 1073741824, {0, 1}},
    {"bit", 1 / 8., {-1, 1}},
    {"kbit", 1e3 / 8, {-1, 1}},
    {"mbit", 1e6 / 8, {-1, 1}},
    {"gbit", 1e9 / 8, {-1, 1}},
    {"%", 0.01, {0, 0}},
    {"k", 1e3, {0, 0}},
    {"M", 1e6, {0, 0}},
    {"G", 1e9, {0, 0}},
};

bool predict__structural_unit(const char *text, size_t bytes, double *factor,
                              predict_dimension *out)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strlen(units[i].name) != bytes ||
            memcmp(units[i].name, text, bytes) != 0)
            continue;
        *factor = units[i].factor;
        *out = units[i].dimension;
        return true;
    }
    return false;
}

static size_t power_put(char *out, size_t room, const char *unit, int power,
                        bool is_first)
{
    int used;

    if (power == 0)
        return 0;
    used = power == 1 ? snprintf(out, room, "%s%s", is_first ? "" : " ", unit)
                      : snprintf(out, room, "%s%s^%d", is_first ? "" : " ",
                                 unit, power);
    return used > 0 && (size_t)used < room ? (size_t)used : 0;
}

const char *predict_dimension_text(predict_dimension d, char out[32])
{
    size_t used;

    out[0] = 0;
    if (d.seconds == -1 && d.bytes == 1)
        return "B/s";
    used = power_put(out, 32, "s", d.seconds, true);
    (void)power_put(out + used, 32 - used, "B", d.bytes, used == 0);
    return out;
}
