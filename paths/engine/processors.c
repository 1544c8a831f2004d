/* processors.c - parsing "0,2-3". */
#include "paths/engine/processors.h"

#include <ctype.h>
#include <stdlib.h>

#include "pastset/status.h"

static int diagnose(const char *text)
{
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\": processors are numbers below %d and "
                        "ranges, such as 0 or 0,2-3",
                        text, CPU_SETSIZE);
}

/* A number at `*at`, which goes on behind it; -1 if there is none. */
static long number(const char **at)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)**at))
        return -1;
    value = strtol(*at, &end, 10);
    *at = end;
    return value < CPU_SETSIZE ? value : -1;
}

int paths_processors_parse(cpu_set_t *out, const char *text)
{
    const char *at = text;

    CPU_ZERO(out);
    do {
        long from = number(&at), to = from;
        if (*at == '-') {
            at++;
            to = number(&at);
        }
        if (from < 0 || to < from)
            return diagnose(text);
        for (long i = from; i <= to; i++)
            CPU_SET((size_t)i, out);
    } while (*at == ',' && *++at);
    return *at || at[-1] == ',' ? diagnose(text) : 0;
}
