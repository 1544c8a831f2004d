/* command_predict.c - eventspace predict PROFILE: how long a program will take
 * where processors and links are shared, by each model that fits, and why. */
#include "viewer/cli/predict/command_predict_with.h"

#include "paths/map/map.h"
#include "pastset/status.h"
#include "predict/models/predict.h"
#include "viewer/tables/profile_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_NODE = 256,
    KEY_LINK,
    KEY_LAW,
    KEY_PROFILED_LINK,
    KEY_TABLE,
    KEY_ON
};

/* CSV is one table. */
typedef enum predict_table { ALL, ANSWERS, TERMS, HISTORIES } predict_table;

typedef struct predict_arguments {
    const char *profile;
    viewer_format format;
    predict_table table;
    predict_scheduler scheduler;
    cli_conditions nodes, links, profiled_links, placed;
    cli_outlook_options outlook;
} predict_arguments;

static const struct argp_option predict_options[] = {
    {"node", KEY_NODE, "CONDITION", 0,
     "Assume this of a node: n0:load=1, '*:load=0.5,law=credit', n1:speed=2 or "
     "rank_0:load=1,session=other,waiting=spin. Can be given several times",
     0},
    {"link", KEY_LINK, "CONDITION", 0,
     "Assume this of a link: n0-n1:latency=400us,bandwidth=10mbit or "
     "'*:bandwidth=10mbit'. Can be given several times",
     0},
    {"law", KEY_LAW, "LAW", 0,
     "How schedulers share a processor: eevdf (default), fair, credit or "
     "bounded:TIME. 'eventspace load --detect-law' measures it",
     0},
    CLI_PROFILED_LINK_OPTION(KEY_PROFILED_LINK),
    CLI_OUTLOOK_OPTIONS("forecast|modes|runs",
                        ", or the forecast of the time itself, by how long "
                        "runs would have taken before"),
    {"on", KEY_ON, "NODE=MACHINE", 0,
     "The node will run on the machine of that name in the histories (default: "
     "the one of its own name; '*': all nodes). Can be given several times",
     0},
    CLI_FORMAT_OPTION,
    {"table", KEY_TABLE, "TABLE", 0,
     "Print only this table: answers, terms or histories (default: all; CSV: "
     "answers)",
     0},
    {0},
};

/* --- tables --- */

static const scopes_column answer_columns[] = {
    {"best", "", SCOPES_TEXT},
    {"model", "model", SCOPES_TEXT},
    {"source", "paper, section", SCOPES_TEXT},
    {"law", "law", SCOPES_TEXT},
    {"lower_s", "from s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
    {"lower_slowdown", "from times", SCOPES_REAL},
    {"upper_slowdown", "to times", SCOPES_REAL},
};

static const scopes_column term_columns[] = {
    {"what", "why", SCOPES_TEXT},
    {"where", "where", SCOPES_TEXT},
    {"added_s", "adds s", SCOPES_REAL},
    {"added_share", "of dedicated", SCOPES_SHARE},
};

static void add_answer(scopes_table *table, const predict_answers *answers,
                       size_t i)
{
    const predict_answer *a = &answers->all[i];

    scopes_table_text(table, i == answers->best ? "best" : "");
    scopes_table_text(table, a->model);
    scopes_table_text(table, a->source);
    scopes_table_text(table, a->scheduler);
    scopes_table_real(table, a->lower_s);
    scopes_table_real(table, a->upper_s);
    scopes_table_real(table, a->lower_s / answers->dedicated_s);
    scopes_table_real(table, a->upper_s / answers->dedicated_s);
}

static scopes_table *answers_table(const predict_answers *answers)
{
    scopes_table *table = scopes_table_create(CLI_LIST(answer_columns));

    for (size_t i = 0; i < answers->count; i++)
        add_answer(table, answers, i);
    return table;
}

static scopes_table *terms_table(const predict_answers *answers,
                                 const predict_answer *answer)
{
    scopes_table *table = scopes_table_create(CLI_LIST(term_columns));
    for (size_t i = 0; i < answer->term_count; i++) {
        const predict_term *term = &answer->terms[i];
        scopes_table_text(table, term->what);
        scopes_table_text(table, term->where);
        scopes_table_real(table, term->added_s);
        scopes_table_real(table, term->added_s / answers->dedicated_s);
    }
    return table;
}

static int print_terms(const predict_answers *answers,
                       const predict_answer *answer, viewer_format format)
{
    scopes_table *terms = terms_table(answers, answer);
    int err = viewer_table_print(terms, format, stdout);
    scopes_table_destroy(terms);
    return err;
}

/* --- printing --- */

static int print_json_answer(const predict_answers *answers,
                             const scopes_table *table, size_t i)
{
    int err;

    fputs(i ? ",\n{" : "\n{", stdout);
    err = viewer_table_print_members(table, i, stdout);
    fputs(",\n \"terms\": ", stdout);
    if (!err)
        err = print_terms(answers, &answers->all[i], VIEWER_JSON);
    putchar('}');
    return err;
}

static const scopes_column head_columns[] = {
    {"command", "command", SCOPES_TEXT},
    {"dedicated_s", "dedicated s", SCOPES_REAL},
};

static int print_json_head(const predict_answers *answers,
                           const predict_profile *profile)
{
    scopes_table *table = scopes_table_create(CLI_LIST(head_columns));
    int err;

    scopes_table_text(table, profile->command);
    scopes_table_real(table, answers->dedicated_s);
    putchar('{');
    err = viewer_table_print_members(table, 0, stdout);
    scopes_table_destroy(table);
    return err;
}

static const scopes_column time_columns[] = {
    {"time_s", "time s", SCOPES_REAL},
    {"range_s", "+- s", SCOPES_REAL},
    {"risk_s", "to count on s", SCOPES_REAL},
    {"at", "at (UTC)", SCOPES_TEXT},
    {"runs", "runs before", SCOPES_COUNT}, /* 0: not by them */
    {"method", "by", SCOPES_TEXT},
};

static int print_json_with(const cli_predict_with *w)
{
    scopes_table *time = scopes_table_create(CLI_LIST(time_columns));
    scopes_table *histories = cli_outlook_table(&w->outlook, true, false);
    char date[32];
    int err;

    scopes_table_real(time, w->time.mean);
    scopes_table_real(time, w->time.range);
    scopes_table_real(time, predict_at_risk(w->time, w->options->risk));
    scopes_table_copy(time,
                      cli_date_text(date, sizeof(date), w->outlook.at_ms));
    scopes_table_integer(time, (int64_t)w->hindcast.runs);
    scopes_table_copy(time, w->hindcast.runs ? w->hindcast.method : "");
    fputs(",\n\"time\": {", stdout);
    err = viewer_table_print_members(time, 0, stdout);
    fputs("},\n\"histories\": ", stdout);
    if (!err)
        err = viewer_table_print(histories, VIEWER_JSON, stdout);
    scopes_table_destroy(time);
    scopes_table_destroy(histories);
    return err;
}

/* `w` NULL: without histories. */
static int print_json(const predict_answers *answers,
                      const predict_profile *profile, const cli_predict_with *w)
{
    scopes_table *table = answers_table(answers);
    int err = print_json_head(answers, profile);

    fputs(",\n\"answers\": [", stdout);
    for (size_t i = 0; i < answers->count && !err; i++)
        err = print_json_answer(answers, table, i);
    fputs("\n]", stdout);
    if (!err && w)
        err = print_json_with(w);
    puts("}");
    scopes_table_destroy(table);
    return err;
}

static int print_answers(const predict_answers *answers, viewer_format format)
{
    scopes_table *table = answers_table(answers);
    int err = viewer_table_print(table, format, stdout);

    scopes_table_destroy(table);
    return err;
}

static int print_histories(const cli_predict_with *w, viewer_format format)
{
    scopes_table *table =
        cli_outlook_table(&w->outlook, true, format == VIEWER_TABLE);
    int err = viewer_table_print(table, format, stdout);

    scopes_table_destroy(table);
    return err;
}

/* What is to be counted on, where that is not the mean. */
static void print_time(const cli_predict_with *w)
{
    char date[32];

    printf("\ntime: %.4g s +- %.3g s", w->time.mean, w->time.range);
    if (w->options->risk > 0)
        printf("; count on %.4g s", predict_at_risk(w->time, w->options->risk));
    printf(", by what was measured before %s\n",
           cli_date_text(date, sizeof(date), w->outlook.at_ms));
    if (w->hindcast.runs)
        printf(
            "%zu runs would have ended before, %.4g s apart; the next one by: "
            "%s\n",
            w->hindcast.runs, (double)w->hindcast.apart_ms / 1000,
            w->hindcast.method);
    putchar('\n');
}

static int print_tables(const predict_answers *answers,
                        const predict_arguments *a, const cli_predict_with *w)
{
    const predict_answer *best = &answers->all[answers->best];
    int err;

    printf("dedicated: %.3f s\n\n", answers->dedicated_s);
    err = print_answers(answers, a->format);
    if (!err && best->term_count) {
        putchar('\n');
        err = print_terms(answers, best, a->format);
    }
    if (err || !w)
        return err;
    print_time(w);
    return print_histories(w, a->format);
}

static int print(const predict_answers *answers, const predict_profile *profile,
                 const predict_arguments *a, const cli_predict_with *w)
{
    if (a->format == VIEWER_JSON)
        return print_json(answers, profile, w);
    if (a->table == TERMS)
        return print_terms(answers, &answers->all[answers->best], a->format);
    if (a->table == HISTORIES)
        return print_histories(w, a->format);
    if (a->table == ANSWERS || a->format != VIEWER_TABLE)
        return print_answers(answers, a->format);
    return print_tables(answers, a, w);
}

/* --- conditions --- */

static int set_conditions(predict_scenario *scenario, void *arguments)
{
    const predict_arguments *a = arguments;
    int err = 0;

    for (size_t i = 0; i < a->nodes.count && !err; i++)
        err = predict_scenario_node(scenario, a->nodes.texts[i]);
    for (size_t i = 0; i < a->links.count && !err; i++)
        err = predict_scenario_link(scenario, a->links.texts[i]);
    return err;
}

static void tell_unused(const predict_profile *profile,
                        const predict_arguments *a)
{
    predict_scenario *scenario;

    if (predict_scenario_create(&scenario, profile, a->scheduler))
        return;
    for (size_t i = 0; i < a->links.count; i++) {
        uint32_t unused = scenario->unused;
        if (!predict_scenario_link(scenario, a->links.texts[i]) &&
            scenario->unused > unused)
            fprintf(stderr,
                    "eventspace: %s makes no difference: the program sends "
                    "nothing over this link\n",
                    a->links.texts[i]);
    }
    predict_scenario_destroy(scenario);
}

static int predict_with(predict_answers *answers, predict_scenario *scenario,
                        predict_arguments *a)
{
    cli_predict_with w = {.set_more = set_conditions, .context = a};
    int err = cli_predict_with_begin(&w, scenario, &a->outlook, &a->placed);

    if (!err)
        err = cli_predict_with_time(&w, answers);
    if (!err)
        err = print(answers, scenario->profile, a, &w);
    cli_predict_with_end(&w);
    return err;
}

static int predict(predict_arguments *a)
{
    predict_profile *profile = NULL;
    predict_scenario *scenario = NULL;
    predict_answers *answers = calloc(1, sizeof(*answers));
    int err = answers ? predict_profile_load(&profile, cli_input(a->profile))
                      : pastset_no_memory("to predict");
    if (err)
        goto done;
    viewer_profile_warn(profile, a->profile);
    err = cli_set_profiled_links(profile, &a->profiled_links);
    if (err)
        goto done;
    err = predict_scenario_create(&scenario, profile, a->scheduler);
    if (err)
        goto done;
    tell_unused(profile, a);
    if (a->outlook.path_count) {
        err = predict_with(answers, scenario, a);
        goto done;
    }
    err = set_conditions(scenario, a);
    if (!err)
        err = predict_answer_all(answers, scenario);
    if (!err)
        err = print(answers, profile, a, NULL);
done:
    predict_scenario_destroy(scenario);
    predict_profile_destroy(profile);
    free(answers);
    return err;
}

/* --- the command --- */

static predict_table read_table(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"answers", "terms", "histories"};

    return ANSWERS +
           (predict_table)cli_choice(
               text, CLI_LIST(names),
               "the table '%s' is not one of answers, terms, histories", state);
}

static error_t parse_predict(int key, char *text, struct argp_state *state)
{
    predict_arguments *a = state->input;
    switch (key) {
    case KEY_NODE:
        cli_take_condition(&a->nodes, "node", text, PREDICT_OF_NODES, state);
        return 0;
    case KEY_LINK:
        cli_take_condition(&a->links, "link", text, PREDICT_OF_LINKS, state);
        return 0;
    case KEY_PROFILED_LINK:
        cli_take_profiled_link(&a->profiled_links, text, state);
        return 0;
    case KEY_LAW:
        a->scheduler = cli_law(text, state);
        return 0;
    case KEY_TABLE:
        a->table = read_table(text, state);
        return 0;
    case KEY_ON:
        if (!strchr(text, '=') || *text == '=' || !strchr(text, '=')[1])
            argp_error(state, "--on=%s is not NODE=MACHINE", text);
        cli_add_condition(&a->placed, text, state);
        return 0;
    case ARGP_KEY_END:
        cli_outlook_check(&a->outlook, true, state);
        if (!a->outlook.path_count &&
            (a->placed.count || a->table == HISTORIES))
            argp_error(state, "--on and --table=histories need --with");
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->profile, text, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the profile is missing: 'eventspace profile' makes "
                          "one");
        return 0;
    default:
        return cli_outlook_parse(&a->outlook, key, text, state);
    }
}

int cli_predict(int argc, char **argv)
{
    static const struct argp argp = {
        predict_options,
        parse_predict,
        "PROFILE",
        "Predicts how long a program will take when its nodes carry other load "
        "and its links other traffic. Prints what each model that fits says, "
        "and what contributes how much."
        "\vThe row marked \"best\" is the one to rely on: the replay, if the "
        "profile knows who waited for whom, or else the model that fits the "
        "given law.",
        NULL,
        NULL,
        NULL};
    predict_arguments a = {.scheduler = PREDICT_SCHEDULER_DEFAULT};
    int err;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    err = predict(&a);
    cli_clear_conditions(&a.nodes);
    cli_clear_conditions(&a.links);
    cli_clear_conditions(&a.profiled_links);
    cli_clear_conditions(&a.placed);
    cli_outlook_options_clear(&a.outlook);
    return cli_end_output(err);
}
