/* options.c - see options.h. */
#include "eventspace/options/options.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/nearest_word.h"

/* --- the options of a parser and of those below it --- */

static const struct argp_option builtin[] = {
    {"help", '?', NULL, 0, "Give this help list", 0},
    {"usage", 0, NULL, 0, "Give a short usage message", 0},
    {"version", 'V', NULL, 0, "Print program version", 0},
    {0}};

#define OPTIONS_MAX 128

typedef struct options {
    const struct argp_option *items[OPTIONS_MAX];
    size_t count;
} options;

static void add(options *all, const struct argp_option *option)
{
    for (; option && (option->name || option->key || option->doc); option++) {
        if (option->name && all->count < OPTIONS_MAX)
            all->items[all->count++] = option;
    }
}

static void collect(options *all, const struct argp *argp)
{
    const struct argp_child *child = argp->children;

    add(all, argp->options);
    for (; child && child->argp; child++)
        collect(all, child->argp);
}

static bool is_shown(const struct argp_option *option)
{
    return !(option->flags & OPTION_HIDDEN);
}

static bool is_letter(int key)
{
    return key > ' ' && key < 127;
}

static void list(const options *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct argp_option *o = all->items[i];
        bool may = o->flags & OPTION_ARG_OPTIONAL;
        if (is_shown(o))
            printf("%s\t%.1s\t%s%s%s\t%s\n", o->name,
                   is_letter(o->key) ? (char[2]){(char)o->key, 0} : "",
                   may ? "[" : "", o->arg ? o->arg : "", may ? "]" : "",
                   o->doc ? o->doc : "");
    }
}

/* --- before argp looks --- */

static void __attribute__((noreturn, format(printf, 2, 3)))
wrong(const char *program, const char *format, ...)
{
    va_list rest;

    fprintf(stderr, "%s: ", program);
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fprintf(stderr, "\nTry `%s --help' for more information.\n", program);
    exit(argp_err_exit_status);
}

static void __attribute__((noreturn))
unknown(const options *all, const char *program, const char *name)
{
    const char *names[OPTIONS_MAX], *nearest;
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (is_shown(all->items[i]))
            names[count++] = all->items[i]->name;
    }
    nearest = paths_nearest_word(name, names, count);
    if (nearest)
        wrong(program, "there is no option '--%s'; did you mean '--%s'?", name,
              nearest);
    wrong(program, "there is no option '--%s'", name);
}

/* The option of that name, or the only one that begins so; NULL where there are
 * several, of which getopt complains. */
static const struct argp_option *find(const options *all, const char *program,
                                      const char *text)
{
    const struct argp_option *only = NULL;
    size_t begins = 0;
    char name[64];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
    for (size_t i = 0; i < all->count; i++) {
        const struct argp_option *o = all->items[i];
        if (strcmp(o->name, name) == 0)
            return o;
        if (strncmp(o->name, name, strlen(name)) == 0) {
            only = o;
            begins++;
        }
    }
    if (begins == 0)
        unknown(all, program, name);
    return begins == 1 ? only : NULL;
}

static bool takes(const struct argp_option *option)
{
    return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* Does "-x" take the next argument? */
static bool letter_takes(const options *all, const char *text)
{
    for (size_t i = 0; i < all->count && text[1] && !text[2]; i++) {
        if (all->items[i]->key == text[1])
            return takes(all->items[i]);
    }
    return false;
}

static void look(const options *all, char **argv, size_t operands)
{
    for (char **at = argv + 1; *at && strcmp(*at, "--") != 0; at++) {
        const char *text = *at;
        const struct argp_option *option = NULL;

        if (text[0] != '-') {
            if (operands-- == 0)
                return;
        } else if (text[1] == '-') {
            option = find(all, argv[0], text + 2);
            if (option && option->key == EVENTSPACE_RENAMED)
                wrong(argv[0], "--%s is called --%s now", option->name,
                      option->doc);
        }
        if (((takes(option) && !strchr(text, '=')) ||
             (text[0] == '-' && letter_takes(all, text))) &&
            at[1])
            at++;
    }
}

error_t eventspace_options_parse(const struct argp *argp, int argc, char **argv,
                                 unsigned flags, size_t operands, void *input)
{
    options all = {.count = 0};

    collect(&all, argp);
    add(&all, builtin);
    if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
        list(&all);
        exit(fflush(stdout) ? 1 : 0);
    }
    look(&all, argv, operands);
    return argp_parse(argp, argc, argv, flags, NULL, input);
}
