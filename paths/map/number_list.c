/* number_list.c - see number_list.h. */
#include "paths/map/number_list.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

int paths_number_list_add(paths_number_list *list, uint64_t number)
{
    if (number >= PATHS_NUMBER_LIST_MAX)
        return pastset_fail(PASTSET_EINVAL, "%llu: numbers are below %d",
                            (unsigned long long)number, PATHS_NUMBER_LIST_MAX);
    if (number >= list->count) {
        bool *has = realloc(list->has, number + 1);
        if (!has)
            return pastset_no_memory("for a list of numbers");
        memset(has + list->count, 0, number + 1 - list->count);
        list->has = has;
        list->count = number + 1;
    }
    list->has[number] = true;
    return 0;
}

/* Too many digits are a number that is too large. */
static bool number_take(const char **text, uint64_t *out)
{
    const char *begin = *text;
    char *end;

    if (*begin < '0' || *begin > '9')
        return false;
    *out = strtoull(begin, &end, 10);
    *text = end;
    return true;
}

/* "3" or "3-5". */
static bool range_take(const char **text, uint64_t *from, uint64_t *to)
{
    if (!number_take(text, from))
        return false;
    *to = *from;
    if (**text != '-')
        return true;
    (*text)++;
    return number_take(text, to) && *from <= *to;
}

int paths_number_list_read(paths_number_list *list, const char *text)
{
    const char *at = text + strspn(text, " ");
    uint64_t from, to;
    int err = 0;

    do {
        if (!range_take(&at, &from, &to) || !strchr(", ", *at))
            return pastset_fail(PASTSET_EINVAL,
                                "'%s' is not a list of numbers, such as 0,3-5",
                                text);
        if (to > PATHS_NUMBER_LIST_MAX) /* the error of add, at once */
            from = to;
        for (; from <= to && !err; from++)
            err = paths_number_list_add(list, from);
        at += strspn(at, " ");
        if (*at == ',')
            at += 1 + strspn(at + 1, " ");
        else if (!*at)
            return err;
    } while (!err);
    return err;
}

bool paths_number_list_has(const paths_number_list *list, uint64_t number)
{
    return number < list->count && list->has[number];
}

bool paths_number_list_meets(const paths_number_list *list, uint64_t from,
                             uint64_t to)
{
    for (; from <= to && from < list->count; from++) {
        if (list->has[from])
            return true;
    }
    return false;
}

void paths_number_list_fini(paths_number_list *list)
{
    free(list->has);
    *list = (paths_number_list){0};
}
