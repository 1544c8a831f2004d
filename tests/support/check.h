/* check.h - what the Criterion suites share: statuses by name. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include <criterion/criterion.h>
#include <string.h>

#include "pastset/status.h"

#define check_status(call, want)                                               \
    do {                                                                       \
        int got_ = (call);                                                     \
        cr_assert(got_ == (want), "%s gave %s (%s), not %s", #call,            \
                  pastset_status_name(got_), pastset_error(),                  \
                  pastset_status_name(want));                                  \
    } while (0)

/* The text must have this in it. */
#define check_says(text, part)                                                 \
    cr_assert(strstr((text), (part)), "\"%s\" does not say \"%s\"", (text),    \
              (part))

/* What the last failure says must have this in it. */
#define check_error(part) check_says(pastset_error(), part)

#endif
