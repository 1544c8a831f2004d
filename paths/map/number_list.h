/* number_list.h - lists of small numbers as texts: "0,3-5".
 *
 * Threads:   any, each with its own list.
 * Ownership: all zero is an empty list; fini gives back what others took. */
#ifndef PATHS_NUMBER_LIST_H
#define PATHS_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATHS_NUMBER_LIST_MAX 1000000

typedef struct paths_number_list {
    bool *has;    /* by number, `count` of them */
    size_t count; /* larger numbers are not in the list */
} paths_number_list;

/* Adds the numbers and ranges of a text, separated by commas or blanks.
 * Errors: PASTSET_EINVAL (another text, or a number that is not below
 * PATHS_NUMBER_LIST_MAX), PASTSET_ENOMEM; the list is then partly read. */
int paths_number_list_read(paths_number_list *list, const char *text);

/* Errors: PASTSET_EINVAL (too large), PASTSET_ENOMEM. */
int paths_number_list_add(paths_number_list *list, uint64_t number);

bool paths_number_list_has(const paths_number_list *list, uint64_t number);

/* Is one of the numbers from `from` up to and with `to` in the list? */
bool paths_number_list_meets(const paths_number_list *list, uint64_t from,
                             uint64_t to);

void paths_number_list_fini(paths_number_list *list);

#endif
