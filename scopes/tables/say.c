/* say.c - see say.h. */
#include "scopes/tables/say.h"

#include <math.h>
#include <stdio.h>

const char *scopes_say_time(double ns, char text[SCOPES_SAY_BYTES])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;

    while (fabs(ns) >= 999.5 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    snprintf(text, SCOPES_SAY_BYTES, "%.*f %s",
             unit == 0 || fabs(ns) >= 99.95 ? 0
             : fabs(ns) >= 9.995            ? 1
                                            : 2,
             ns, units[unit]);
    return text;
}

const char *scopes_say_share(double share, char text[SCOPES_SAY_BYTES])
{
    double hundredths = 100 * share;

    snprintf(text, SCOPES_SAY_BYTES, "%.*f %%", fabs(hundredths) < 9.95 ? 1 : 0,
             hundredths);
    return text;
}
