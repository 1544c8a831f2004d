/* numbers.h - a list of numbers, as its text says. */
#ifndef TESTS_NUMBERS_H
#define TESTS_NUMBERS_H

#include "paths/map/number_list.h"
#include "tests/support/check.h"

/* Until the next call. NULL for NULL. */
static inline const paths_number_list *numbers(const char *text)
{
    static paths_number_list list;

    paths_number_list_fini(&list);
    if (!text)
        return NULL;
    check_status(paths_number_list_read(&list, text), 0);
    return &list;
}

#endif
