/* command_sql.c - eventspace sql: SQL over a run (viewer/sql/sql.h), from the
 * command line, from standard input, or typed. */
#include "viewer/cli/command_sql.h"

#include <inttypes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"
#include "scopes/memory/memory.h"

typedef struct sql_arguments {
    const char *run, *statements;
    cli_parameters parameters;
    viewer_format format;
    uint64_t memory_bytes; /* 0: as much as it takes */
} sql_arguments;

enum { KEY_PARAM = 256, KEY_MEMORY };

static const struct argp_option sql_options[] = {
    CLI_FORMAT_OPTION,
    {"param", KEY_PARAM, "NAME=VALUE", 0,
     "Give the parameter :NAME of the statements this value; may be repeated",
     0},
    CLI_MEMORY_OPTION(KEY_MEMORY),
    {0},
};

/* --- parameters --- */

void cli_parameter(cli_parameters *parameters, char *text,
                   struct argp_state *state)
{
    char *equals = strchr(text, '=');

    if (!equals || equals == text)
        argp_error(state, "'%s' is not a parameter, such as from=1000", text);
    if (parameters->count == CLI_PARAMETERS_MAX)
        argp_error(state, "there are more than %d parameters",
                   CLI_PARAMETERS_MAX);
    *equals = '\0';
    parameters->names[parameters->count] = text;
    parameters->values[parameters->count++] = equals + 1;
}

int cli_parameters_set(const cli_parameters *parameters, viewer_sql *sql)
{
    int err = 0;

    for (size_t i = 0; i < parameters->count && !err; i++)
        err = viewer_sql_set(sql, parameters->names[i], parameters->values[i]);
    return err;
}

/* --- results --- */

static int print_result(const viewer_sql_result *result, viewer_format format)
{
    int err = viewer_table_print(result->table, format, stdout);

    if (format == VIEWER_JSON)
        putchar('\n');
    return err;
}

int cli_sql_run(viewer_sql *sql, const char *text, viewer_format format)
{
    viewer_sql_result result;
    bool first = true;
    int err = 0;

    while (!err && !viewer_sql_is_blank(text)) {
        err = viewer_sql_run(sql, &text, format != VIEWER_TABLE, &result);
        if (!err && result.table) {
            if (!first && format != VIEWER_JSON)
                putchar('\n');
            first = false;
            err = print_result(&result, format);
        }
        viewer_sql_result_fini(&result);
    }
    return err;
}

void cli_sql_warn(const viewer_sql *sql, const eventspace_run *run,
                  const char *name)
{
    const scopes_ledger *ledger = viewer_sql_ledger(sql);

    fflush(stdout);
    cli_warn_of_run(run, name);
    cli_warn_of_strange(viewer_sql_strange(sql));
    if (viewer_sql_messages_damaged(sql) > 0)
        fprintf(stderr,
                "eventspace: %" PRIu64 " sends and receives of messages are "
                "damaged, and left out\n",
                viewer_sql_messages_damaged(sql));
    if (ledger->lost == 0)
        return;
    fputs("eventspace: ", stderr);
    cli_print_ledger(ledger, stderr);
    putc('\n', stderr);
}

/* --- statements that are typed, or come from a file --- */

typedef struct shell {
    viewer_sql *sql;
    viewer_format format;
    bool is_terminal;
    char *text; /* of a statement that has not ended yet */
    size_t bytes, capacity;
    int failed;
} shell;

static const char shell_help[] =
    "A statement ends with ';'. Commands:\n"
    "  .tables          list the tables\n"
    "  .schema [TABLE]  show the columns of a table, or of all\n"
    "  .help            show this\n"
    "  .quit            end\n";

/* What failed is said at once. At a terminal one can try again. */
static void shell_note(shell *s, int err)
{
    if (!err)
        return;
    fflush(stdout);
    s->failed = cli_fail();
}

static void shell_print(shell *s, int err, viewer_sql_result *result)
{
    if (!err)
        err = print_result(result, s->format);
    viewer_sql_result_fini(result);
    shell_note(s, err);
}

/* Gives false when it is to end. */
static bool shell_command(shell *s, char *line)
{
    char *place = NULL, *name = strtok_r(line, " \t\r\n", &place);
    char *word = strtok_r(NULL, " \t\r\n;", &place);
    viewer_sql_result result = {0};

    if (strcmp(name, ".quit") == 0 || strcmp(name, ".exit") == 0)
        return false;
    if (strcmp(name, ".tables") == 0)
        shell_print(s, viewer_sql_tables(s->sql, &result), &result);
    else if (strcmp(name, ".schema") == 0)
        shell_print(s, viewer_sql_schema(s->sql, word, &result), &result);
    else if (strcmp(name, ".help") == 0)
        fputs(shell_help, stdout);
    else
        shell_note(s,
                   pastset_fail(PASTSET_EINVAL,
                                "there is no command '%s'; see .help", name));
    return true;
}

static int shell_keep(shell *s, const char *line, size_t bytes)
{
    if (s->bytes + bytes + 1 > s->capacity) {
        size_t capacity = 2 * (s->bytes + bytes) + 256;
        char *more = realloc(s->text, capacity);
        if (!more)
            return pastset_no_memory("for a statement");
        s->text = more;
        s->capacity = capacity;
    }
    memcpy(s->text + s->bytes, line, bytes + 1);
    s->bytes += bytes;
    return 0;
}

static void shell_run(shell *s)
{
    shell_note(s, cli_sql_run(s->sql, s->text, s->format));
    fflush(stdout);
    s->bytes = 0;
    s->text[0] = '\0';
}

/* One line; gives false when it is to end. */
static bool shell_line(shell *s, char *line, size_t bytes)
{
    int err;

    if (s->bytes == 0 && line[0] == '.')
        return shell_command(s, line);
    err = strlen(line) == bytes
              ? shell_keep(s, line, bytes)
              : pastset_fail(PASTSET_EINVAL,
                             "standard input: it is no text, as it has a "
                             "byte 0");
    shell_note(s, err);
    if (err)
        return false;
    if (viewer_sql_is_blank(s->text))
        s->bytes = 0;
    else if (viewer_sql_is_complete(s->text))
        shell_run(s);
    return true;
}

static void shell_prompt(const shell *s)
{
    if (!s->is_terminal)
        return;
    fputs(s->bytes ? "   ...> " : "eventspace> ", stdout);
    fflush(stdout);
}

/* A file ends at what fails, and its last statement needs no ';'. */
static void shell_read(shell *s)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t got = 0;
    bool goes_on = true;

    while (goes_on && (s->is_terminal || !s->failed)) {
        shell_prompt(s);
        got = getline(&line, &capacity, stdin);
        if (got < 0)
            break;
        goes_on = shell_line(s, line, (size_t)got);
    }
    if (got < 0 && s->is_terminal)
        putchar('\n');
    else if (s->bytes > 0 && !s->failed && !viewer_sql_is_blank(s->text))
        shell_run(s);
    free(line);
}

/* A command with a dot, given as an argument. */
static int run_command(viewer_sql *sql, const char *text, viewer_format format)
{
    shell s = {.sql = sql, .format = format};
    char *line = strdup(text);

    if (!line)
        return pastset_no_memory("for a command");
    shell_command(&s, line);
    free(line);
    return s.failed;
}

static int run_shell(viewer_sql *sql, viewer_format format)
{
    shell s = {
        .sql = sql, .format = format, .is_terminal = isatty(STDIN_FILENO)};

    if (s.is_terminal)
        puts("Statements end with ';'. '.help' lists the commands.");
    shell_read(&s);
    free(s.text);
    return s.is_terminal ? COMMAND_OK : s.failed;
}

/* --- the command --- */

static int sql_run(eventspace_run *run, const sql_arguments *a)
{
    viewer_sql *sql;
    int code = COMMAND_OK, err = viewer_sql_open(&sql, run);

    if (!err)
        err = cli_parameters_set(&a->parameters, sql);
    if (!err && a->statements && a->statements[0] == '.')
        code = run_command(sql, a->statements, a->format);
    else if (!err && a->statements)
        err = cli_sql_run(sql, a->statements, a->format);
    else if (!err)
        code = run_shell(sql, a->format);
    code = code ? code : cli_end_output(err);
    if (sql)
        cli_sql_warn(sql, run, a->run);
    viewer_sql_close(sql);
    return code;
}

static error_t parse_sql(int key, char *text, struct argp_state *state)
{
    sql_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_MEMORY:
        a->memory_bytes = cli_memory(text, state);
        return 0;
    case KEY_PARAM:
        cli_parameter(&a->parameters, text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (!a->run)
            a->run = text;
        else
            cli_take(&a->statements, text, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cli_sql(int argc, char **argv)
{
    static const struct argp argp = {
        sql_options,
        parse_sql,
        "RUN [STATEMENTS]",
        "Answers questions about a run in SQL, as SQLite understands it. "
        "Without STATEMENTS, reads them from standard input.\vThe table event "
        "has the events that collectors recorded; collector, wrapper, thread, "
        "process, element, path, edge and clock describe the run; each view "
        "is a table too, with '_' for '-', and a function of a window: "
        "communication('1s','2s'). `.tables` lists them, and `.schema "
        "TABLE` shows their columns. Times are nanoseconds since the start of "
        "the first process; a column whose name ends in _ns is printed in "
        "milliseconds in tables. The files of the run are read only, and no "
        "other file can be reached.",
        NULL,
        NULL,
        NULL};
    sql_arguments a = {0};
    eventspace_run *run;
    int code;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (scopes_memory_limit(a.memory_bytes))
        return cli_fail();
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    code = sql_run(run, &a);
    eventspace_run_close(run);
    return code;
}
