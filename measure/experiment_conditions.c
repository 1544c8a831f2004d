/* experiment_conditions.c - what a case says: which nodes get how many
 * competitors, which links which rate.
 *
 * The texts are those of predict/scenario.h; here is what an experiment can
 * make true of them. A latency or a speed it cannot. */
#include "measure/experiment_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define BLANKS " \t\n"

bool experiment__is_node(const experiment_condition *c, uint32_t node)
{
    return !c->link && (c->a == PREDICT_NONE || c->a == node);
}

bool experiment__is_link(const experiment_condition *c, uint32_t a, uint32_t b)
{
    return c->link && (c->a == PREDICT_NONE || (c->a == a && c->b == b) ||
                       (c->a == b && c->b == a));
}

static uint32_t find(const char *const *names, size_t count, const char *name,
                     size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (uint32_t)i;
    return PREDICT_NONE;
}

static int unknown(const char *what, const char *name, const char *const *names,
                   size_t count)
{
    char all[300] = "";
    for (size_t i = 0; i < count; i++) {
        if (strlen(all) + strlen(names[i]) + 8 > sizeof(all)) {
            strcat(all, ", ...");
            break;
        }
        if (i)
            strcat(all, ", ");
        strcat(all, names[i]);
    }
    return pastset_fail(PASTSET_ENOENT,
                        "there is no %s \"%s\"; the nodes are: %s", what, name,
                        all);
}

/* Names may have a '-' in them: all ways to read it as two of them are tried.
 */
static int find_ends(experiment_condition *c, const char *const *names,
                     size_t count)
{
    for (const char *dash = strchr(c->name, '-'); dash;
         dash = strchr(dash + 1, '-')) {
        c->a = find(names, count, c->name, (size_t)(dash - c->name));
        c->b = find(names, count, dash + 1, strlen(dash + 1));
        if (c->a != PREDICT_NONE && c->b != PREDICT_NONE && c->a != c->b)
            return 0;
    }
    return unknown("link", c->name, names, count);
}

static int parse_load(experiment_condition *c, const char *text)
{
    char *end;
    c->load = strtod(text, &end);
    if (!*text || strspn(text, "0123456789.") != strlen(text) || *end ||
        !(c->load <= 1000))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the load \"%s\" is no number from 0 to 1000",
                            c->text, text);
    return 0;
}

static int parse_part(experiment_condition *c, const char *part)
{
    predict_law law;
    if (strncmp(part, "load:", 5) == 0)
        return parse_load(c, part + 5);
    if (strncmp(part, "law:", 4) == 0)
        return predict_law_parse(&law, part + 4);
    if (strncmp(part, "speed:", 6) == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: an experiment cannot change how fast a "
                            "processor is; it can add load",
                            c->text);
    c->link = true;
    if (predict_bandwidth_parse(&c->bandwidth, part) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: an experiment can make a load, as in "
                            "n0=load:1, and limit a rate, as in n0-n1=10mbit; "
                            "\"%s\" is neither",
                            c->text, part);
    return 0;
}

static int parse_parts(experiment_condition *c, char *parts)
{
    char *state;
    bool node = false, link = false;
    for (char *part = strtok_r(parts, ",", &state); part;
         part = strtok_r(NULL, ",", &state)) {
        int err;
        c->link = false;
        err = parse_part(c, part);
        if (err)
            return err;
        node = node || !c->link;
        link = link || c->link;
    }
    if (node == link)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: a condition is either of a node, n0=load:1, "
                            "or of a link, n0-n1=10mbit",
                            c->text);
    c->link = link;
    return 0;
}

static int parse_one(experiment_condition *c, const char *word,
                     const char *const *names, size_t count)
{
    char *equals;
    int err;
    *c = (experiment_condition){.a = PREDICT_NONE, .b = PREDICT_NONE};
    c->text = strdup(word);
    c->name = strdup(word);
    if (!c->text || !c->name)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %s", word);
    equals = strrchr(c->name, '=');
    if (!equals || equals == c->name)
        return pastset_fail(PASTSET_EINVAL,
                            "\"%s\" is no condition: write n0=load:1 or "
                            "n0-n1=10mbit",
                            word);
    *equals = '\0';
    err = parse_parts(c, equals + 1);
    if (err || strcmp(c->name, "*") == 0)
        return err;
    if (c->link)
        return find_ends(c, names, count);
    c->a = find(names, count, c->name, strlen(c->name));
    return c->a == PREDICT_NONE ? unknown("node", c->name, names, count) : 0;
}

int experiment__conditions_parse(experiment_conditions *out, const char *text,
                                 const char *const *names, size_t count)
{
    char *copy = strdup(text), *state;
    int err = copy ? 0 : pastset_fail(PASTSET_ENOMEM, "no memory for %s", text);
    *out = (experiment_conditions){0};
    for (char *word = err ? NULL : strtok_r(copy, BLANKS, &state); word && !err;
         word = strtok_r(NULL, BLANKS, &state)) {
        experiment_condition *more =
            realloc(out->items, (out->count + 1) * sizeof(*more));
        if (!more) {
            err = pastset_fail(PASTSET_ENOMEM, "no memory for %s", text);
            break;
        }
        out->items = more;
        err = parse_one(&more[out->count++], word, names, count);
    }
    if (!err && !out->count)
        err = pastset_fail(PASTSET_EINVAL, "a scenario has no condition: write "
                                           "for example 'n0=load:1'");
    free(copy);
    if (err)
        experiment__conditions_clear(out);
    return err;
}

void experiment__conditions_clear(experiment_conditions *conditions)
{
    for (size_t i = 0; i < conditions->count; i++) {
        free(conditions->items[i].text);
        free(conditions->items[i].name);
    }
    free(conditions->items);
    *conditions = (experiment_conditions){0};
}
