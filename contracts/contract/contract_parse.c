/* contract_parse.c - reading a contract.
 *
 *     contract   = { ( "interval" | "tolerance" | "violated" ) NUMBER ";"
 *                  | "rules" STRING ";" | "metric" metric (metrics.c)
 *                  | "group" STRING "of" STRING { "," STRING } ";"
 *                  | "class" KIND "of" ( STRING | "all" ) numbers
 *                    "deviates" numbers "seen" NUMBER
 *                    [ "with" ( "none" | NUMBER { "," NUMBER } ) ] ";"
 *                  | "project" STRING METRIC "by" NUMBER ";"
 *                  | "usual" STRING { PART NUMBER } ";"
 *                  | "usual" STRING "with" STRING
 *                    { ( "waiting" | "transfer" ) NUMBER } ";" }
 *     numbers    = "(" NUMBER { "," NUMBER } ")" */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "contracts/text/tokens.h"
#include "pastset/status.h"

#define ITEMS_MAX 100000
#define SEEN_MAX 1e15
#define VIOLATED_MAX 1000

typedef struct parser {
    contracts__tokens t;
    contracts_contract *c;
} parser;

/* A number within these, whatever comes next. */
static double number_within(parser *p, double least, double most,
                            const char *otherwise)
{
    contracts__tokens at = p->t;
    double number = contracts__need_number(&p->t);
    bool is_within = number >= least && number <= most;

    if (!p->t.err && !is_within) {
        contracts__wrong(&at, "%s", otherwise);
        p->t.err = at.err;
    }
    return is_within ? number : least;
}

/* --- classes --- */

static contracts_kind kind_parse(parser *p)
{
    for (int k = 0; k < CONTRACTS_KINDS; k++)
        if (contracts__take_word(&p->t, contracts_kind_names[k]))
            return (contracts_kind)k;
    contracts__expected(&p->t, "intrinsic or performance");
    return CONTRACTS_INTRINSIC;
}

static double *numbers_parse(parser *p, size_t count, bool is_deviation)
{
    double *out = p->t.err ? NULL : calloc(count + 1, sizeof(*out));

    if (!out) {
        contracts__text_no_memory(&p->t);
        return NULL;
    }
    contracts__need_mark(&p->t, "(");
    for (size_t i = 0; i < count; i++) {
        if (i)
            contracts__need_mark(&p->t, ",");
        out[i] = number_within(p, is_deviation ? 0 : -INFINITY, INFINITY,
                               "a deviation is not below 0");
    }
    contracts__need_mark(&p->t, ")");
    return out;
}

/* How many intrinsic ones there are of the process of a class. */
static size_t intrinsic_count(const parser *p, const contracts_class *class)
{
    size_t count = 0;

    for (size_t i = 0; i < p->c->class_count; i++) {
        const contracts_class *one = &p->c->classes[i];
        count += one->kind == CONTRACTS_INTRINSIC &&
                 contracts_class_is_of(one, class->process);
    }
    return count;
}

static size_t class_number(parser *p, size_t most)
{
    static const char otherwise[] =
        "there is no intrinsic class of this number before it";
    contracts__tokens at = p->t;
    double number = number_within(p, 1, (double)most, otherwise);

    if (!p->t.err && number != floor(number)) {
        contracts__wrong(&at, "%s", otherwise);
        p->t.err = at.err;
    }
    return (size_t)number;
}

static void with_parse(parser *p, contracts_class *class)
{
    if (class->kind != CONTRACTS_PERFORMANCE)
        contracts__wrong(&p->t, "only classes of performance are with others");
    class->has_with = true;
    if (contracts__take_word(&p->t, "none"))
        return;
    do {
        size_t *more =
            contracts__more(&p->t, (void **)&class->with, &class->with_count,
                            sizeof(*more), ITEMS_MAX, "classes");
        if (!more)
            return;
        *more = class_number(p, intrinsic_count(p, class));
    } while (contracts__take_mark(&p->t, ","));
}

static void class_parse(parser *p)
{
    contracts_class *class =
        contracts__more(&p->t, (void **)&p->c->classes, &p->c->class_count,
                        sizeof(*class), ITEMS_MAX, "classes");

    if (!class)
        return;
    class->kind = kind_parse(p);
    if (!p->t.err && p->c->sizes[class->kind] == 0)
        contracts__wrong(&p->t, "there are no %s metrics before this class",
                         contracts_kind_names[class->kind]);
    if (!contracts__take_word(&p->t, "of"))
        contracts__expected(&p->t, "of");
    if (!contracts__take_word(&p->t, "all"))
        class->process = contracts__need_string(
            &p->t, "a process in quotation marks, or all");
    class->centroid = numbers_parse(p, p->c->sizes[class->kind], false);
    if (!contracts__take_word(&p->t, "deviates"))
        contracts__expected(&p->t, "deviates");
    class->deviation = numbers_parse(p, p->c->sizes[class->kind], true);
    if (!contracts__take_word(&p->t, "seen"))
        contracts__expected(&p->t, "seen");
    class->seen = (size_t)number_within(p, 0, SEEN_MAX,
                                        "so many intervals there cannot be");
    if (contracts__take_word(&p->t, "with"))
        with_parse(p, class);
    contracts__need_mark(&p->t, ";");
}

/* --- other statements --- */

static void metric_parse(parser *p)
{
    if (p->c->class_count > 0) {
        contracts__wrong(&p->t, "metrics come before classes");
        return;
    }
    contracts__metric_parse(p->c->metrics, &p->t);
    if (!p->t.err)
        p->t.err = contracts__contract_members(p->c);
}

static void group_parse(parser *p)
{
    char *name = contracts__need_string(&p->t, "a group in quotation marks");

    if (!contracts__take_word(&p->t, "of"))
        contracts__expected(&p->t, "of");
    do {
        contracts__tokens at = p->t;
        char *process =
            contracts__need_string(&p->t, "a process in quotation marks");
        int err =
            p->t.err ? p->t.err : contracts_contract_group(p->c, name, process);
        if (err == PASTSET_EINVAL) {
            contracts__wrong(&at, "%s", pastset_error());
            p->t.err = at.err;
        } else if (err)
            p->t.err = err;
        free(process);
    } while (contracts__take_mark(&p->t, ","));
    contracts__need_mark(&p->t, ";");
    free(name);
}

static void project_parse(parser *p)
{
    contracts_projection *one = contracts__more(
        &p->t, (void **)&p->c->projections, &p->c->projection_count,
        sizeof(*one), ITEMS_MAX, "projections");
    size_t count = contracts_metrics_count(p->c->metrics);

    if (!one)
        return;
    one->process =
        contracts__need_string(&p->t, "a process in quotation marks");
    for (one->metric = 0; one->metric < count; one->metric++)
        if (contracts__is_name(
                &p->t, contracts_metric_name(p->c->metrics, one->metric)))
            break;
    if (!p->t.err && one->metric == count)
        contracts__expected(&p->t, "the name of a metric");
    else if (!p->t.err &&
             contracts_metric_is_intrinsic(p->c->metrics, one->metric))
        contracts__wrong(&p->t, "an intrinsic metric is the same everywhere: "
                                "performance metrics are projected");
    contracts__token_next(&p->t);
    if (!contracts__take_word(&p->t, "by"))
        contracts__expected(&p->t, "by");
    one->factor =
        number_within(p, 1e-12, 1e12, "a factor of a projection is above 0");
    contracts__need_mark(&p->t, ";");
}

/* What comes of these, up to the end of the statement. */
static void parts_parse(parser *p, double parts[CONTRACTS_PARTS],
                        contracts_part first)
{
    bool is_part = true;

    while (is_part && !p->t.err) {
        is_part = false;
        for (int i = (int)first; i < CONTRACTS_PARTS && !is_part; i++) {
            is_part = contracts__take_word(&p->t, contracts_part_names[i]);
            if (is_part)
                parts[i] = number_within(p, 0, 1e9, "a time is not below 0");
        }
    }
    contracts__need_mark(&p->t, ";");
}

/* What has to do with another process, behind what is usual in all. */
static void peer_parse(parser *p, const char *process)
{
    double parts[CONTRACTS_PARTS] = {0};
    contracts_usual *usual =
        p->c->usual_count ? &p->c->usual[p->c->usual_count - 1] : NULL;
    contracts_peer *peer;

    if (!usual || strcmp(usual->process, process) != 0) {
        contracts__wrong(&p->t,
                         "what is usual with others comes right behind what "
                         "is usual of this process in all");
        return;
    }
    peer = contracts__more(&p->t, (void **)&usual->peers, &usual->peer_count,
                           sizeof(*peer), ITEMS_MAX, "others of a process");
    if (!peer)
        return;
    peer->name = contracts__need_string(&p->t, "a process in quotation marks");
    parts_parse(p, parts, CONTRACTS_PART_WAITING);
    peer->waiting = parts[CONTRACTS_PART_WAITING];
    peer->transfer = parts[CONTRACTS_PART_TRANSFER];
}

static void usual_parse(parser *p)
{
    char *process =
        contracts__need_string(&p->t, "a process in quotation marks");
    contracts_usual *usual;

    if (!p->t.err && contracts__take_word(&p->t, "with")) {
        peer_parse(p, process);
        free(process);
        return;
    }
    usual =
        contracts__more(&p->t, (void **)&p->c->usual, &p->c->usual_count,
                        sizeof(*usual), ITEMS_MAX, "lines of what is usual");
    if (!usual) {
        free(process);
        return;
    }
    usual->process = process;
    usual->parts[CONTRACTS_PART_READY] = (double)NAN;
    usual->parts[CONTRACTS_PART_SLEEPING] = (double)NAN;
    parts_parse(p, usual->parts, CONTRACTS_PART_COMPUTING);
}

/* A file lies beside the contract, if it is no whole path. */
static char *beside(const char *name, const char *file)
{
    const char *slash = strrchr(name, '/');
    bool is_device = strncmp(name, "/dev/", 5) == 0; /* standard input */
    size_t bytes =
        slash && *file != '/' && !is_device ? (size_t)(slash - name) + 1 : 0;
    char *out = malloc(bytes + strlen(file) + 1);

    if (out) {
        memcpy(out, name, bytes);
        strcpy(out + bytes, file);
    }
    return out;
}

/* The name of a file, once in a contract, and where it is, or NULL. */
static const char *file_parse(parser *p, char **name, char **path,
                              const char *what)
{
    if (*name) {
        contracts__wrong(&p->t, "there is a %s already", what);
        return NULL;
    }
    *name = contracts__need_string(&p->t, "a file in quotation marks");
    contracts__need_mark(&p->t, ";");
    if (p->t.err)
        return NULL;
    *path = beside(p->t.name, *name);
    if (!*path)
        contracts__text_no_memory(&p->t);
    return *path;
}

static void rules_parse(parser *p)
{
    const char *path =
        file_parse(p, &p->c->rules_file, &p->c->rules_path, "rulebase");

    if (path)
        p->t.err = contracts_rules_read(&p->c->rules, path);
}

static void cluster_parse(parser *p)
{
    const char *path =
        file_parse(p, &p->c->cluster_file, &p->c->cluster_path, "cluster");

    if (path && strcmp(path, "-") == 0)
        contracts__wrong(&p->t, "a cluster is in a file");
    else if (path)
        p->t.err = predict_cluster_read(&p->c->cluster, path);
}

/* They are read by whoever measures: only if a metric is of them. */
static void histories_parse(parser *p)
{
    (void)file_parse(p, &p->c->histories_file, &p->c->histories_path,
                     "folder of histories");
}

static void statement_parse(parser *p)
{
    contracts_contract *c = p->c;

    if (contracts__take_word(&p->t, "metric"))
        metric_parse(p);
    else if (contracts__take_word(&p->t, "group"))
        group_parse(p);
    else if (contracts__take_word(&p->t, "class"))
        class_parse(p);
    else if (contracts__take_word(&p->t, "project"))
        project_parse(p);
    else if (contracts__take_word(&p->t, "usual"))
        usual_parse(p);
    else if (contracts__take_word(&p->t, "rules"))
        rules_parse(p);
    else if (contracts__take_word(&p->t, "cluster"))
        cluster_parse(p);
    else if (contracts__take_word(&p->t, "histories"))
        histories_parse(p);
    else {
        if (contracts__take_word(&p->t, "interval"))
            c->interval_s = number_within(
                p, 1e-6, 1e6, "an interval is of a microsecond to 1e6 seconds");
        else if (contracts__take_word(&p->t, "tolerance"))
            c->tolerance =
                number_within(p, 1e-9, 1e9, "a tolerance is above 0");
        else if (contracts__take_word(&p->t, "violated"))
            c->violated = (unsigned)number_within(
                p, 1, VIOLATED_MAX, "violated after 1 to 1000 intervals");
        else
            contracts__expected(&p->t,
                                "interval, tolerance, violated, rules, "
                                "cluster, histories, metric, group, class, "
                                "project or usual");
        contracts__need_mark(&p->t, ";");
    }
}

/* --- all of it --- */

/* Something has to follow from any distance, and from nothing else. */
static int rules_try(const contracts_contract *c)
{
    double *values =
        calloc(contracts_rules_count(c->rules) + 1, sizeof(*values));
    int err = values ? 0 : pastset_no_memory("for a rulebase");

    for (double distance = 0; distance <= 20 && !err; distance += 0.0625) {
        for (size_t i = 0; i < contracts_rules_count(c->rules); i++)
            values[i] = (double)NAN;
        values[c->distance] = distance;
        err = contracts_rules_infer(c->rules, values);
        if (!err && isnan(values[c->conclusion]))
            err = pastset_fail(PASTSET_EFORMAT,
                               "%s: nothing follows from a distance of %g",
                               c->rules_file, distance);
    }
    free(values);
    return err == PASTSET_EINVAL ? PASTSET_EFORMAT : err;
}

/* The variables by which a contract asks its rulebase. */
static int rules_find(contracts_contract *c)
{
    int err = c->rules ? 0 : contracts_rules_read(&c->rules, NULL);

    if (err)
        return err;
    c->distance = contracts_rules_find(c->rules, "distance");
    c->conclusion = contracts_rules_find(c->rules, "contract");
    if (c->distance == CONTRACTS_NONE || c->conclusion == CONTRACTS_NONE ||
        contracts_rules_concludes(c->rules, c->distance) ||
        !contracts_rules_concludes(c->rules, c->conclusion))
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: the rulebase of a contract concludes the "
                            "variable contract from the variable distance",
                            c->rules_file ? c->rules_file : "rules");
    return c->rules_file ? rules_try(c) : 0;
}

static int parse(contracts_contract **out, const char *text, const char *name)
{
    parser p;
    int err = contracts__contract_create(&p.c);

    *out = NULL;
    if (err)
        return err;
    contracts__tokens_begin(&p.t, text, name);
    while (!p.t.err && p.t.kind != CONTRACTS__END)
        statement_parse(&p);
    err = p.t.err ? p.t.err : rules_find(p.c);
    if (err)
        contracts_contract_destroy(p.c);
    else
        *out = p.c;
    return err;
}

static int without_metrics(contracts_contract **out, const char *name)
{
    contracts_contract_destroy(*out);
    *out = NULL;
    return pastset_fail(PASTSET_EFORMAT, "%s: there is no metric in it", name);
}

int contracts__contract_parse(contracts_contract **out, const char *text,
                              const char *name)
{
    int err = parse(out, text, name);

    if (!err && contracts_metrics_count((*out)->metrics) == 0)
        err = without_metrics(out, name);
    return err;
}
