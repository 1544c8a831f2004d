/* link_text.c - L and B as a cluster file has them: numbers with units. */
#include "measure/links/links.h"

#include <math.h>
#include <stdio.h>

typedef struct unit {
    double one;
    const char *name;
} unit;

/* Four digits, never with an exponent, which no parser of ours reads. */
static const char *text_of(double number, const unit *units, char *buffer,
                           size_t bytes)
{
    int digits;
    while (units[1].name && number < 0.99995 * units->one)
        units++;
    number /= units->one;
    digits = number < 10 ? 3 : number < 100 ? 2 : number < 1000 ? 1 : 0;
    snprintf(buffer, bytes, "%.*f%s", digits, number, units->name);
    return buffer;
}

const char *measure_link_latency_text(double latency_s, char *buffer,
                                      size_t bytes)
{
    static const unit units[] = {
        {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
    return text_of(latency_s, units, buffer, bytes);
}

const char *measure_link_bandwidth_text(double bandwidth, char *buffer,
                                        size_t bytes)
{
    static const unit units[] = {
        {1e9, "gbit"}, {1e6, "mbit"}, {1e3, "kbit"}, {1, "bit"}, {0, NULL}};
    return text_of(bandwidth * 8, units, buffer, bytes);
}
