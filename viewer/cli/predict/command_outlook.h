/* command_outlook.h - what machines and links will give a program, by their
 * histories: what commands that predict have in common.
 *
 * Threads:   any.
 * Ownership: read gives, clear takes back. */
#ifndef VIEWER_COMMAND_OUTLOOK_H
#define VIEWER_COMMAND_OUTLOOK_H

#include "predict/stochastic/outlook.h"
#include "predict/stochastic/vary.h"
#include "viewer/cli/watch/command_histories.h"

/* --- options --- */

#define CLI_OUTLOOK_NOW INT64_MAX

typedef struct cli_outlook_options {
    const char **paths; /* of histories; none: they are not used */
    size_t path_count;
    int64_t at_ms; /* when the run begins; CLI_OUTLOOK_NOW */
    predict_outlook_how how;
    bool by_runs; /* the time is a hindcast's (hindcast.h) */
    double risk;  /* as in predict_at_risk */
    bool has_at, has_how, has_risk;
} cli_outlook_options;

enum {
    CLI_KEY_WITH = 0x5000,
    CLI_KEY_AT,
    CLI_KEY_OUTLOOK,
    CLI_KEY_RISK,
};

/* `hows`: of --outlook; `more` is said of those that only some commands have.
 */
#define CLI_OUTLOOK_OPTIONS(hows, more)                                        \
    {"with",                                                                   \
     CLI_KEY_WITH,                                                             \
     "HISTORIES",                                                              \
     0,                                                                        \
     "Use what 'eventspace watch' has measured of machines and links: a file " \
     "or a folder of them. The time is then one with a range. Can be given "   \
     "several times",                                                          \
     0},                                                                       \
        {"at",                                                                 \
         CLI_KEY_AT,                                                           \
         "TIME",                                                               \
         0,                                                                    \
         "The run begins then, and only what was measured before counts: now " \
         "(default), '2026-11-26 04:40:00' (UTC), or seconds since 1970",      \
         0},                                                                   \
        {"outlook",                                                            \
         CLI_KEY_OUTLOOK,                                                      \
         hows,                                                                 \
         0,                                                                    \
         "Take the forecast of what comes next, for as long as the run takes " \
         "(default), or the modes of what was last, for as long, "             \
         "averaged" more,                                                      \
         0},                                                                   \
    {                                                                          \
        "risk", CLI_KEY_RISK, "mean|upper|SHARE", 0,                           \
            "Count on the mean (default), on the upper end of the range, or "  \
            "on the time that is not exceeded with this probability, such as " \
            "0.95",                                                            \
            0                                                                  \
    }

/* One of these, or ARGP_ERR_UNKNOWN. */
error_t cli_outlook_parse(cli_outlook_options *options, int key, char *text,
                          struct argp_state *state);
/* At the end: the others need --with. `has_runs`: the command has
 * --outlook=runs. */
void cli_outlook_check(const cli_outlook_options *options, bool has_runs,
                       struct argp_state *state);
void cli_outlook_options_clear(cli_outlook_options *options);

/* --- what is given --- */

typedef struct cli_given {
    const measure_history *history;
    measure_kind kind;
    const char *place; /* what it is of: "n0", "n0-n1" */
    uint32_t a, b;     /* machines, by their index; `b` of links */
    predict_readings readings;
    predict_outlook outlook;
} cli_given;

typedef struct cli_outlook {
    cli_histories histories;
    cli_given *given; /* those of the machines that were asked for */
    size_t count;
    int64_t at_ms, lasts_ms;
    predict_varied *varied; /* one for each */
} cli_outlook;

/* Of these machines and the links between them; `machines` NULL: all there are.
 * Errors: those of
 * cli_histories_read; PASTSET_ENOENT (there is none of any of them). */
int cli_outlook_read(cli_outlook *out, const cli_outlook_options *options,
                     const char *const *machines, size_t count);
/* What they will give for as long as the run takes. That is first worked out by
 * what comes next, and not again (paper 002, 3.2): `time` says how long it
 * takes with what they give then. Errors: those of predict_outlook_make and of
 * `time`. */
int cli_outlook_settle(cli_outlook *outlook, const cli_outlook_options *options,
                       int (*time)(double *seconds, void *context),
                       void *context);
/* Says on standard error of which machines there is no availability, and what
 * is done about it. */
void cli_outlook_tell_missing(const cli_outlook *outlook,
                              const char *const *machines, size_t count,
                              const char *instead);
void cli_outlook_clear(cli_outlook *outlook);

/* A row for each: of what it is, what it will be, and what that adds to the
 * range of the time, if `adds`. */
scopes_table *cli_outlook_table(const cli_outlook *outlook, bool adds,
                                bool for_people);

#endif
