/* node_list.c - see node_list.h. */
#include "eventspace/options/node_list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/nearest_word.h"
#include "pastset/status.h"

const eventspace_node_kind eventspace_kind_threads = {"thread", "number"};
const eventspace_node_kind eventspace_kind_collectors = {"collector", "id"};

typedef struct reading {
    paths_number_list *list;
    const eventspace_node_kind *kind;
    const paths_map *map;
    const char *run; /* for what is said */
} reading;

/* The number of a node of that kind. */
static bool has_number(const reading *r, uint32_t node, uint64_t *out)
{
    const paths_map_node *n = &r->map->nodes[node];
    const char *number = paths_node_get(n, r->kind->number);

    if (strcmp(n->type, r->kind->type) != 0 || !number)
        return false;
    *out = strtoull(number, NULL, 10);
    return true;
}

/* --- numbers --- */

static bool is_there(const reading *r, uint64_t number)
{
    uint64_t other;

    for (uint32_t i = 0; i < r->map->node_count; i++) {
        if (has_number(r, i, &other) && other == number)
            return true;
    }
    return false;
}

static int numbers_take(const reading *r, const char *word)
{
    paths_number_list some = {0};
    int err = paths_number_list_read(&some, word);

    for (size_t i = 0; i < some.count && !err; i++) {
        if (!some.has[i])
            continue;
        if (r->map && !is_there(r, i))
            err = pastset_fail(PASTSET_ENOENT,
                               "there is no %s %zu: see `eventspace info %s "
                               "--table=%ss`",
                               r->kind->type, i, r->run, r->kind->type);
        else
            err = paths_number_list_add(r->list, i);
    }
    paths_number_list_fini(&some);
    return err;
}

/* --- names --- */

static int refuse(const reading *r, const char *word)
{
    const char **names = calloc(r->map->node_count + 1, sizeof(*names));
    const char *nearest = NULL;
    size_t count = 0;
    uint64_t number;
    int err;

    for (uint32_t i = 0; names && i < r->map->node_count; i++) {
        if (has_number(r, i, &number))
            names[count++] = r->map->nodes[i].name;
    }
    if (names)
        nearest = paths_nearest_word(word, names, count);
    if (nearest)
        err = pastset_fail(PASTSET_ENOENT,
                           "there is no %s '%s'; did you mean '%s'?",
                           r->kind->type, word, nearest);
    else
        err = pastset_fail(
            PASTSET_ENOENT,
            "there is no %s '%s': see `eventspace info %s --table=%ss`",
            r->kind->type, word, r->run, r->kind->type);
    free(names);
    return err;
}

static int names_take(const reading *r, const char *word)
{
    bool any = false;
    uint64_t number;
    int err = 0;

    if (!r->map)
        return 0;
    for (uint32_t i = 0; i < r->map->node_count && !err; i++) {
        if (!has_number(r, i, &number) ||
            fnmatch(word, r->map->nodes[i].name, 0) != 0)
            continue;
        any = true;
        err = paths_number_list_add(r->list, number);
    }
    return err || any ? err : refuse(r, word);
}

/* --- both --- */

static bool is_numbers(const char *word)
{
    return *word >= '0' && *word <= '9' &&
           word[strspn(word, "0123456789-")] == '\0';
}

int eventspace_node_list_read(paths_number_list *list, const char *text,
                              const eventspace_node_kind *kind,
                              const paths_map *map, const char *run)
{
    reading r = {list, kind, map, run ? run : "RUN"};
    char *copy = strdup(text), *rest = copy, *word;
    bool any = false;
    int err = copy ? 0 : pastset_no_memory("for a list");

    while (!err && (word = strtok_r(rest, " ,", &rest))) {
        any = true;
        err = is_numbers(word) ? numbers_take(&r, word) : names_take(&r, word);
    }
    free(copy);
    if (!err && !any)
        err = pastset_fail(PASTSET_EINVAL,
                           "'%s' is not a list of %ss, such as 0,3-5 or 'w*'",
                           text, kind->type);
    return err;
}
