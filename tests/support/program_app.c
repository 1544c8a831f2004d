/* program_app.c - a program of apps/common/program.h with everything in it.
 *
 * Each thread writes its number and its options to the element `told`, thread
 * 0 reads them all. With --wrong a result is added that cannot be. */
#include <math.h>
#include <string.h>

#include "apps/common/program.h"
#include "pastset/status.h"

typedef struct own {
    uint64_t factor, pause_ns;
    const char *note;
    unsigned wrong;
    bool flag, drawn;
} own;

enum key {
    FACTOR = PROGRAM_KEY,
    PAUSE,
    NOTE,
    WRONG,
    FLAG,
    DRAWN,
};

static const struct argp_option described[] = {
    {"factor", FACTOR, "N", 0, "A number (2)", 0},
    {"pause", PAUSE, "TIME", 0, "A time (default 0)", 0},
    {"a-note", NOTE, "TEXT", 0, "A text", 0},
    {"wrong", WRONG, "WHAT", 0, "none, nan, twice or large", 0},
    {"flag", FLAG, NULL, 0, "Without argument", 0},
    {0, 0, NULL, 0, "Of the map:", PROGRAM_OF_MAPPING},
    {"drawn", DRAWN, NULL, 0, "For mapping only", PROGRAM_OF_MAPPING},
    {0},
};

static int parse(program_options *o, int key, const char *text)
{
    static const char *const wrongs[] = {"none",  "nan",  "twice",
                                         "large", "fail", NULL};
    own *w = o->own;

    switch (key) {
    case FACTOR:
        return program_parse_number(&w->factor, "factor", text, 1, 1000);
    case PAUSE:
        return program_parse_duration(&w->pause_ns, "pause", text);
    case NOTE:
        w->note = text;
        return 0;
    case WRONG:
        return program_parse_name(&w->wrong, "wrong", text, wrongs);
    case FLAG:
        w->flag = true;
        return 0;
    case DRAWN:
        w->drawn = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What the threads must agree on. */
static uint64_t digest(const program_options *o)
{
    const own *w = o->own;

    return o->seed * 1000000 + o->rounds * 10000u + w->factor * 10 + w->flag;
}

static int report(const program_options *o, uint64_t sum, program_result *r)
{
    const own *w = o->own;

    program_count(r, "sum", sum);
    program_value(r, "third", 1.0 / 3);
    program_text(r, "note", w->note ? w->note : "none");
    program_count(r, "pause_ns", w->pause_ns);
    switch (w->wrong) {
    case 1:
        return program_value(r, "not_a_number", NAN) ? 0 : -1;
    case 2:
        return program_count(r, "sum", sum) ? 0 : -1;
    case 3:
        return program_count(r, "large", UINT64_MAX) ? 0 : -1;
    case 4:
        return pastset_fail(PASTSET_EAPP, "told to fail");
    default:
        return 0;
    }
}

static int mapping(const program_options *o, FILE *out)
{
    const own *w = o->own;

    program_mapping_begin(out, "program_app");
    program_mapping_threads(out, o);
    fprintf(out, "    told [kind=element, type=u64, capacity=4%s];\n",
            w->drawn ? ", color=red" : "");
    for (uint32_t i = 0; i < o->threads; i++)
        fprintf(out, "    t%u -> told [use=both];\n", i);
    program_mapping_end(out);
    if (o->threads > 8)
        return pastset_fail(PASTSET_EINVAL, "--threads=%u: 8 at most",
                            o->threads);
    return 0;
}

static int single(const program_options *o, program_result *r)
{
    return report(o, o->threads * digest(o), r);
}

static int thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    uint64_t mine = digest(run->options), sum = mine;
    paths_path *told;
    int err = paths_open(&told, self, "told");

    if (err || !run->result)
        return err ? err : paths_write(told, &mine, sizeof(mine));
    for (uint32_t i = 1; i < paths_thread_count(self) && !err; i++) {
        err = paths_observe(told, &mine, sizeof(mine));
        sum += mine;
    }
    return err ? err : report(run->options, sum, run->result);
}

int main(int argc, char **argv)
{
    static const own defaults = {.factor = 2};
    static const program it = {
        .name = "program_app",
        .about = "A test of apps/common/program.h.\vResults mean nothing.",
        .sizes = "SW",
        .single_takes_threads = true,
        .options = described,
        .parse = parse,
        .own_bytes = sizeof(own),
        .own_defaults = &defaults,
        .mapping = mapping,
        .single = single,
        .thread = thread,
    };
    return program_main(&it, argc, argv);
}
