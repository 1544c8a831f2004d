/* program_arguments.c - the command line, and what the map says in its place.
 *
 * Own options that were given are kept as their texts. `mapping` writes these
 * into the attributes of the threads, and in a run each thread hands those of
 * its node to `parse`, but for the ones that were given to `run` as well. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/program_internal.h"
#include "eventspace/options/options.h"
#include "paths/map/path_map.h"
#include "pastset/status.h"
#include "paths/map/units.h"

#define THREADS_MAX 65536

static const char *const command_names[PROGRAM_COMMANDS] = {"run", "single",
                                                            "mapping"};

enum { KEY_SIZE = 256, KEY_ROUNDS, KEY_SEED, KEY_SHARES };

static const struct argp_option common[] = {
    {"threads", 't', "N", 0, "Number of threads, for mapping (default 4)", 1},
    {"size", KEY_SIZE, "SIZE", 0,
     "Size of the problem, a letter (default S); a run takes it from its map",
     1},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Number of rounds (default: as many as the size has)", 1},
    {"seed", KEY_SEED, "N", 0, "Seed of the random numbers (default 1)", 1},
    {"shares", KEY_SHARES, "N,N...", 0,
     "Give each thread this much of the work, for mapping (default: all "
     "equally "
     "much), as 'eventspace choose --split' prints it",
     1},
    {"output", 'o', "DIR", 0,
     "Write the results of single to this directory, which is created if "
     "necessary (default: print them only)",
     1},
    {"out", EVENTSPACE_RENAMED, "DIR", OPTION_HIDDEN, "output", 1},
};
#define COMMON (sizeof(common) / sizeof(common[0]))

/* --- texts to values --- */

int program_parse_number(uint64_t *out, const char *option, const char *text,
                         uint64_t min, uint64_t max)
{
    uint64_t value;

    if (paths_parse_number(text, &value) || value < min || value > max)
        return pastset_fail(PASTSET_EINVAL,
                            "--%s=%s: expected a number from %" PRIu64
                            " to %" PRIu64,
                            option, text, min, max);
    *out = value;
    return 0;
}

int program_parse_duration(uint64_t *out_ns, const char *option,
                           const char *text)
{
    int err = paths_parse_duration(text, out_ns);

    return err ? pastset_fail_while(err, "--%s=%s", option, text) : 0;
}

int program_parse_name(unsigned *out, const char *option, const char *text,
                       const char *const *names)
{
    char known[256] = "";
    size_t used = 0;

    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return 0;
        }
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i ? ", " : "", names[i]);
        if (used >= sizeof(known))
            used = sizeof(known) - 1;
    }
    return pastset_fail(PASTSET_EINVAL, "--%s=%s: expected one of %s", option,
                        text, known);
}

static int parse_size(const program *p, program_options *o, const char *text)
{
    const char *sizes = p->sizes ? p->sizes : "SWABC";

    if (!*text || text[1] || !strchr(sizes, *text))
        return pastset_fail(PASTSET_EINVAL,
                            "--size=%s: expected one of the letters %s", text,
                            sizes);
    o->size = *text;
    return 0;
}

static int parse_rounds(program_options *o, const char *text)
{
    uint64_t rounds = 0;
    int err = program_parse_number(&rounds, "rounds", text, 1, UINT32_MAX);

    o->rounds = (uint32_t)rounds;
    return err;
}

static int parse_seed(program_options *o, const char *text)
{
    return program_parse_number(&o->seed, "seed", text, 0, UINT64_MAX);
}

static int parse_threads(program_options *o, const char *text)
{
    uint64_t threads = 0;
    int err = program_parse_number(&threads, "threads", text, 1, THREADS_MAX);

    o->threads = (uint32_t)threads;
    return err;
}

/* --- the command line --- */

/* The end is an option without anything; headers have a doc. */
static size_t own_count(const program *p)
{
    const struct argp_option *o = p->options;
    size_t count = 0;

    while (o && (o[count].name || o[count].key || o[count].doc))
        count++;
    return count;
}

static const struct argp_option *own_find(const program *p, int key)
{
    size_t count = own_count(p);

    for (size_t i = 0; i < count; i++) {
        if (p->options[i].name && p->options[i].key == key)
            return &p->options[i];
    }
    return NULL;
}

static const given *given_find(const arguments *a, int key)
{
    for (size_t i = 0; i < a->given_count; i++) {
        if (a->given[i].option->key == key)
            return &a->given[i];
    }
    return NULL;
}

/* The last one holds when it is given twice. */
static void given_add(arguments *a, const struct argp_option *option,
                      const char *text)
{
    for (size_t i = 0; i < a->given_count; i++) {
        if (a->given[i].option == option) {
            a->given[i].text = text;
            return;
        }
    }
    a->given[a->given_count++] = (given){option, text};
}

static int parse_own(arguments *a, int key, const char *text)
{
    const struct argp_option *option = own_find(a->program, key);
    int err;

    if (!option)
        return ARGP_ERR_UNKNOWN;
    err = a->program->parse(&a->options, key, text);
    if (!err)
        given_add(a, option, text);
    return err;
}

static void command_set(struct argp_state *state, arguments *a,
                        const char *text)
{
    if (a->has_command)
        argp_error(state, "%s: give only one command", text);
    a->has_command = true;
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if (strcmp(text, command_names[i]) == 0) {
            a->command = (program_command)i;
            return;
        }
    }
    argp_error(state, "%s: expected run, single or mapping", text);
}

/* DOT has no way to write any backslash. */
static void given_check(struct argp_state *state, const arguments *a,
                        const given *g)
{
    if (g->option->group == PROGRAM_OF_MAPPING && a->command != PROGRAM_MAPPING)
        argp_error(state, "--%s is for mapping: it is part of the map",
                   g->option->name);
    if (a->command == PROGRAM_MAPPING && g->text && strchr(g->text, '\\'))
        argp_error(state, "--%s=%s: a map cannot hold a backslash",
                   g->option->name, g->text);
}

/* Refuses options that the command would not heed. */
static void command_check(struct argp_state *state, arguments *a)
{
    bool takes_threads =
        a->command == PROGRAM_MAPPING ||
        (a->command == PROGRAM_SINGLE && a->program->single_takes_threads);

    if (a->options.threads && !takes_threads)
        argp_error(state, "--threads is for mapping: a run has the threads of "
                          "its map, and single has one");
    if (a->options.out && a->command != PROGRAM_SINGLE)
        argp_error(state, "--output is for single: a run writes its results "
                          "to its run directory");
    if (a->options.shares && a->command != PROGRAM_MAPPING)
        argp_error(state, "--shares is for mapping: it is part of the map");
    for (size_t i = 0; i < a->given_count; i++)
        given_check(state, a, &a->given[i]);
    if (!a->options.threads)
        a->options.threads = takes_threads ? 4 : 1;
}

static int take(arguments *a, int key, char *text)
{
    program_options *o = &a->options;

    switch (key) {
    case 't':
        return parse_threads(o, text);
    case KEY_SIZE:
        a->has_size = true;
        return parse_size(a->program, o, text);
    case KEY_ROUNDS:
        a->has_rounds = true;
        return parse_rounds(o, text);
    case KEY_SEED:
        a->has_seed = true;
        return parse_seed(o, text);
    case KEY_SHARES:
        o->shares = text;
        return 0;
    case 'o':
        o->out = text;
        return 0;
    default:
        return parse_own(a, key, text);
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    int err = 0;

    if (key == ARGP_KEY_ARG)
        command_set(state, a, text);
    else if (key == ARGP_KEY_END)
        command_check(state, a);
    else
        err = take(a, key, text);
    if (err < 0)
        argp_error(state, "%s", pastset_error());
    return err;
}

static void *own_make(const program *p, const void *from)
{
    void *own = calloc(1, p->own_bytes ? p->own_bytes : 1);

    if (own && from && p->own_bytes)
        memcpy(own, from, p->own_bytes);
    return own;
}

/* --- attributes --- */

/* A name with a dash is none in DOT, unless it is quoted. */
static void attribute_print(FILE *out, const char *name, const char *value)
{
    fprintf(out, strchr(name, '-') ? ", \"%s\"=\"" : ", %s=\"", name);
    for (; *value; value++)
        fprintf(out, *value == '"' ? "\\%c" : "%c", *value);
    fputc('"', out);
}

/* `size="S", seed="1"` and whatever was given of the others. */
static int attributes_make(arguments *a)
{
    const program_options *o = &a->options;
    size_t bytes;
    FILE *out = open_memstream(&a->attributes, &bytes);

    if (!out)
        return pastset_no_memory("for the arguments");
    fprintf(out, "size=\"%c\"", o->size);
    if (!a->program->no_seed)
        fprintf(out, ", seed=\"%" PRIu64 "\"", o->seed);
    if (a->has_rounds)
        fprintf(out, ", rounds=\"%" PRIu32 "\"", o->rounds);
    for (size_t i = 0; i < a->given_count; i++) {
        const given *g = &a->given[i];
        if (g->option->group != PROGRAM_OF_MAPPING)
            attribute_print(out, g->option->name, g->text ? g->text : "true");
    }
    if (fclose(out) != 0)
        return pastset_no_memory("for the arguments");
    a->options.attributes = a->attributes;
    return 0;
}

/* The common options that mean something here, then the own ones. The caller
 * frees them; NULL: no memory. */
static struct argp_option *options_make(const program *p)
{
    size_t own = own_count(p), count = 0;
    struct argp_option *all = calloc(COMMON + own + 1, sizeof(*all));

    for (size_t i = 0; all && i < COMMON; i++) {
        bool without = (common[i].key == KEY_SEED && p->no_seed) ||
                       (common[i].key == KEY_ROUNDS && p->no_rounds) ||
                       (common[i].key == KEY_SHARES && !p->divides);
        if (without)
            continue;
        all[count] = common[i];
        if (common[i].key == 't' && p->single_takes_threads)
            all[count].doc =
                "Number of threads, for mapping and single (default 4)";
        count++;
    }
    if (all && own)
        memcpy(all + count, p->options, own * sizeof(*all));
    return all;
}

/* What --help says: the first line of `about`, what the commands are, and the
 * rest. The caller frees it; NULL: no memory. */
static char *help_make(const program *p)
{
    const char *rest = strchr(p->about, '\v');
    size_t first = rest ? (size_t)(rest - p->about) : strlen(p->about);
    char *help;

    if (asprintf(&help,
                 "%.*s\n"
                 "\n"
                 "  run      compute with the threads of a map; 'eventspace "
                 "run' starts it\n"
                 "  single   compute the same in one thread, for comparison\n"
                 "  mapping  write the application mapping for 'eventspace map "
                 "generate'%s",
                 (int)first, p->about, rest ? rest : "") < 0)
        return NULL;
    return help;
}

int arguments_read(arguments *a, const program *p, int argc, char **argv)
{
    struct argp_option *all = options_make(p);
    char *help = help_make(p);
    struct argp parser = {.options = all,
                          .parser = parse,
                          .args_doc = "[run|single|mapping]",
                          .doc = help};

    *a = (arguments){.program = p, .options = {.size = 'S', .seed = 1}};
    a->given = calloc(own_count(p) + 1, sizeof(*a->given));
    a->options.own = own_make(p, p->own_defaults);
    if (!all || !help || !a->given || !a->options.own) {
        free(all);
        free(help);
        return pastset_no_memory("for the arguments");
    }
    argp_err_exit_status = PROGRAM_USAGE;
    eventspace_options_parse(&parser, argc, argv, 0, EVENTSPACE_NO_PROGRAM, a);
    free(all);
    free(help);
    return attributes_make(a);
}

void arguments_free(arguments *a)
{
    free(a->options.own);
    free(a->given);
    free(a->attributes);
}

/* --- in a run --- */

/* The size is that of the map: another one would be another problem. */
static int size_of_map(program_options *o, const arguments *a,
                       paths_thread *self)
{
    const char *text = paths_thread_attribute(self, "size");
    int err = text ? parse_size(a->program, o, text) : 0;

    if (!err && a->has_size && o->size != a->options.size)
        return pastset_fail(
            PASTSET_EINVAL,
            "--size=%c: the map is for size %c; make another with `%s mapping`",
            a->options.size, o->size, a->program->name);
    return err;
}

static int own_of_map(program_options *o, const arguments *a,
                      paths_thread *self)
{
    const struct argp_option *options = a->program->options;
    size_t count = own_count(a->program);

    for (size_t i = 0; i < count; i++) {
        const struct argp_option *option = &options[i];
        const char *text;
        int err;
        if (!option->name || option->group == PROGRAM_OF_MAPPING ||
            given_find(a, option->key))
            continue;
        text = paths_thread_attribute(self, option->name);
        if (!text)
            continue;
        err = a->program->parse(o, option->key, option->arg ? text : NULL);
        if (err)
            return err;
    }
    return 0;
}

int arguments_of_thread(program_options *out, const arguments *a,
                        paths_thread *self)
{
    const char *seed = paths_thread_attribute(self, "seed");
    const char *rounds = paths_thread_attribute(self, "rounds");
    int err;

    *out = a->options;
    out->threads = paths_thread_count(self);
    out->own = own_make(a->program, a->options.own);
    if (!out->own)
        return pastset_no_memory("for the options");
    err = size_of_map(out, a, self);
    if (err)
        return err;
    if (seed && !a->has_seed)
        err = parse_seed(out, seed);
    if (err)
        return err;
    if (rounds && !a->has_rounds)
        err = parse_rounds(out, rounds);
    if (err)
        return err;
    return own_of_map(out, a, self);
}
