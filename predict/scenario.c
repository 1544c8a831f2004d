/* scenario.c - conditions as texts: see scenario.h.
 *
 * Names of nodes may have a '-' in them, so that of "a-b-c" all parts are tried
 * that two nodes are called; if there is more than one such way, it is refused.
 * The texts are looked at as a whole before anything is changed. */
#include "predict/scenario.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "paths/map.h"

#define TEXT_BYTES 512

/* --- numbers with units --- */

int predict_bandwidth_parse(double *out, const char *text)
{
    uint64_t bytes;
    int err = paths_parse_rate(text, &bytes);
    if (err)
        return err;
    if (!bytes)
        return pastset_fail(PASTSET_EINVAL,
                            "the bandwidth \"%.60s\" must be above 0", text);
    *out = (double)bytes;
    return 0;
}

int predict_time_parse(double *out, const char *text)
{
    uint64_t ns;
    int err = paths_parse_duration(text, &ns);
    if (!err)
        *out = (double)ns / 1e9;
    return err;
}

/* Only what is written with digits: strtod knows "inf" and "nan" too. */
static int parse_real(double *out, const char *text, const char *what)
{
    char *end;
    double number = strtod(text, &end);
    if (!*text || strspn(text, "0123456789.") != strlen(text) || *end ||
        !isfinite(number))
        return pastset_fail(PASTSET_EINVAL,
                            "the %s \"%.60s\" is no number from 0", what, text);
    *out = number;
    return 0;
}

/* --- texts: NAME=PART,PART --- */

typedef struct condition {
    char text[TEXT_BYTES]; /* cut into pieces */
    char *name, *rest;     /* what was not looked at yet */
} condition;

static int condition_begin(condition *c, const char *text, const char *example)
{
    char *equals;
    if (strlen(text) >= sizeof(c->text))
        return pastset_fail(PASTSET_EINVAL,
                            "the condition \"%.60s...\" is too "
                            "long",
                            text);
    strcpy(c->text, text);
    equals = strrchr(c->text, '=');
    if (!equals || equals == c->text || !equals[1])
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" is no condition: write it as %s", text,
                            example);
    *equals = '\0';
    c->name = c->text;
    c->rest = equals + 1;
    return 0;
}

/* The next part; NULL at the end. */
static char *condition_next(condition *c)
{
    char *part = c->rest;
    char *comma;
    if (!part)
        return NULL;
    comma = strchr(part, ',');
    if (comma)
        *comma++ = '\0';
    c->rest = comma;
    return part;
}

/* What follows "key:"; NULL when it is another key. */
static const char *value_of(const char *part, const char *key)
{
    size_t length = strlen(key);
    return strncmp(part, key, length) == 0 && part[length] == ':'
               ? part + length + 1
               : NULL;
}

/* --- which node, which link --- */

/* All names, as many as there is room for. */
static const char *node_names(const predict_profile *profile, char *buffer,
                              size_t bytes)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < profile->node_count; i++) {
        const char *name = profile->nodes[i].name;
        if (used + strlen(name) + 8 > bytes)
            return strcat(buffer, ", ...");
        used += (size_t)snprintf(buffer + used, bytes - used, "%s%s",
                                 i ? ", " : "", name);
    }
    return buffer;
}

static int no_such(const predict_profile *profile, const char *what,
                   const char *name)
{
    char names[300];
    return pastset_fail(PASTSET_ENOENT,
                        "there is no %s \"%.60s\" in the profile; its nodes "
                        "are: %s",
                        what, name, node_names(profile, names, sizeof(names)));
}

/* The two nodes of "n0-n1". */
static int find_ends(const predict_profile *profile, const char *name,
                     uint32_t *a, uint32_t *b)
{
    char left[TEXT_BYTES];
    unsigned found = 0;
    for (const char *dash = strchr(name, '-'); dash;
         dash = strchr(dash + 1, '-')) {
        uint32_t from, to;
        size_t length = (size_t)(dash - name);
        memcpy(left, name, length);
        left[length] = '\0';
        from = predict_profile_find_node(profile, left);
        to = predict_profile_find_node(profile, dash + 1);
        if (from == PREDICT_NONE || to == PREDICT_NONE)
            continue;
        found++;
        *a = from;
        *b = to;
    }
    if (found > 1)
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" can be read as %u links of the profile",
                            name, found);
    if (!found)
        return no_such(profile, "link", name);
    if (*a == *b)
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" leads from a node to itself", name);
    return 0;
}

/* A range of links: one, all, or (from == to) none. */
static int find_links(const predict_profile *profile, const char *name,
                      size_t *from, size_t *to)
{
    uint32_t a = 0, b = 0, link;
    int err;
    *from = 0;
    *to = profile->link_count;
    if (strcmp(name, "*") == 0)
        return 0;
    err = find_ends(profile, name, &a, &b);
    if (err)
        return err;
    link = predict_profile_find_link(profile, a, b);
    *from = link == PREDICT_NONE ? 0 : link;
    *to = link == PREDICT_NONE ? 0 : link + (size_t)1;
    return 0;
}

static int find_nodes(const predict_profile *profile, const char *name,
                      size_t *from, size_t *to)
{
    uint32_t node;
    *from = 0;
    *to = profile->node_count;
    if (strcmp(name, "*") == 0)
        return 0;
    node = predict_profile_find_node(profile, name);
    if (node == PREDICT_NONE)
        return no_such(profile, "node", name);
    *from = node;
    *to = node + (size_t)1;
    return 0;
}

/* --- conditions of nodes --- */

typedef struct node_condition {
    double load, speed, credit_s; /* NaN: not told */
} node_condition;

static int parse_node_part(node_condition *out, const char *part)
{
    const char *value;
    predict_law law;
    int err;
    if ((value = value_of(part, "load")))
        return parse_real(&out->load, value, "load");
    if ((value = value_of(part, "speed"))) {
        err = parse_real(&out->speed, value, "speed");
        if (!err && out->speed <= 0)
            err = pastset_fail(PASTSET_EINVAL, "the speed must be above 0");
        return err;
    }
    if ((value = value_of(part, "law"))) {
        err = predict_law_parse(&law, value);
        if (!err)
            out->credit_s = law.credit_s;
        return err;
    }
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is no condition of a node: those are "
                        "load:NUMBER, law:LAW and speed:NUMBER",
                        part);
}

int predict_scenario_node(predict_scenario *scenario, const char *text)
{
    node_condition told = {NAN, NAN, NAN};
    condition c;
    size_t from, to;
    int err = condition_begin(&c, text, "n0=load:1 or *=load:0.5,law:fair");
    if (!err)
        err = find_nodes(scenario->profile, c.name, &from, &to);
    for (char *part; !err && (part = condition_next(&c));)
        err = parse_node_part(&told, part);
    if (err)
        return err;
    for (size_t i = from; i < to; i++) {
        if (!isnan(told.load))
            scenario->loads[i] = told.load;
        if (!isnan(told.speed))
            scenario->speeds[i] = told.speed;
        if (!isnan(told.credit_s))
            scenario->laws[i].credit_s = told.credit_s;
    }
    return 0;
}

/* --- conditions of links --- */

typedef struct link_condition {
    predict_wire wire; /* NaN: not told */
    predict_flow flow; /* 0: not told */
    double busy;
} link_condition;

static int parse_link_part(link_condition *out, const char *part, bool busy)
{
    const char *value = busy ? value_of(part, "busy") : NULL;
    int err;
    if (value) {
        err = parse_real(&out->busy, value, "busy share");
        if (!err && out->busy > 1)
            err = pastset_fail(PASTSET_EINVAL, "the busy share %s is above 1",
                               value);
        return err;
    }
    value = value_of(part, "rate");
    if (value)
        return predict_bandwidth_parse(&out->flow.rate, value);
    value = value_of(part, "burst");
    if (value)
        return parse_real(&out->flow.burst, value, "burst");
    value = value_of(part, "alone");
    if (value)
        return predict_time_parse(&out->flow.latency_s, value);
    if (!predict_time_parse(&out->wire.latency_s, part))
        return 0;
    if (!paths_parse_rate(part, &(uint64_t){0}))
        return predict_bandwidth_parse(&out->wire.bandwidth, part);
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is no condition of a link: write a "
                        "bandwidth such as 10mbit, a latency such as 400us, or "
                        "both with a comma",
                        part);
}

static int parse_link(link_condition *told, size_t *from, size_t *to,
                      const predict_profile *profile, const char *text,
                      bool busy)
{
    condition c;
    int err = condition_begin(&c, text, "n0-n1=10mbit,400us or *=10mbit");
    *told = (link_condition){{NAN, NAN}, {0, 0, 0}, NAN};
    if (!err)
        err = find_links(profile, c.name, from, to);
    for (char *part; !err && (part = condition_next(&c));)
        err = parse_link_part(told, part, busy);
    return err;
}

int predict_scenario_link(predict_scenario *scenario, const char *text)
{
    link_condition told;
    size_t from, to;
    int err = parse_link(&told, &from, &to, scenario->profile, text, false);
    if (err)
        return err;
    scenario->unused += from == to;
    for (size_t i = from; i < to; i++) {
        if (!isnan(told.wire.latency_s))
            scenario->wires[i].latency_s = told.wire.latency_s;
        if (!isnan(told.wire.bandwidth))
            scenario->wires[i].bandwidth = told.wire.bandwidth;
        if (!isnan(told.wire.bandwidth) || told.flow.rate > 0)
            scenario->flows[i] = told.flow;
    }
    return 0;
}

/* What is not told stays as it was. */
static int set_wire(predict_profile *profile, uint32_t link,
                    const link_condition *told)
{
    predict_link *l = &profile->links[link];
    double latency_s =
        isnan(told->wire.latency_s) ? l->latency_s : told->wire.latency_s;
    double bandwidth =
        isnan(told->wire.bandwidth) ? l->bandwidth : told->wire.bandwidth;

    if (!isnan(latency_s) && !isnan(bandwidth))
        return predict_profile_set_wire(profile, link, latency_s, bandwidth,
                                        told->flow);
    l->latency_s = latency_s;
    l->bandwidth = bandwidth;
    return 0;
}

int predict_wire_set(predict_profile *profile, const char *text)
{
    link_condition told;
    size_t from, to;
    int err = parse_link(&told, &from, &to, profile, text, true);
    if (err)
        return err;
    for (size_t i = from; i < to; i++) {
        predict_link *link = &profile->links[i];
        err = set_wire(profile, (uint32_t)i, &told);
        if (err)
            return err;
        if (!isnan(told.busy))
            link->busy = told.busy;
    }
    return 0;
}

/* --- a scenario --- */

static int allocate(predict_scenario *s, size_t nodes, size_t links)
{
    s->loads = calloc(nodes + 1, sizeof(*s->loads));
    s->laws = calloc(nodes + 1, sizeof(*s->laws));
    s->speeds = calloc(nodes + 1, sizeof(*s->speeds));
    s->old = calloc(links + 1, sizeof(*s->old));
    s->wires = calloc(links + 1, sizeof(*s->wires));
    s->flows = calloc(links + 1, sizeof(*s->flows));
    s->places = calloc(nodes + 1, sizeof(*s->places));
    s->processors = calloc(nodes + 1, sizeof(*s->processors));
    if (s->loads && s->laws && s->speeds && s->old && s->wires && s->flows &&
        s->places && s->processors)
        return 0;
    return pastset_fail(PASTSET_ENOMEM, "no memory for a scenario");
}

/* There may be more places in a profile than nodes, of which some are not
 * used; here a place has the number of its first node. */
static void fill_places(predict_scenario *s)
{
    const predict_profile *profile = s->profile;
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t place = profile->nodes[i].place;
        uint32_t first = 0;
        while (profile->nodes[first].place != place)
            first++;
        s->places[i] = first;
        s->processors[i] = 1;
        if (place < profile->place_count)
            s->processors[first] = profile->places[place].processors;
    }
}

int predict_scenario_create(predict_scenario **out,
                            const predict_profile *profile, predict_law law)
{
    predict_scenario *s = calloc(1, sizeof(*s));
    int err;
    *out = NULL;
    if (!s)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a scenario");
    s->profile = profile;
    err = allocate(s, profile->node_count, profile->link_count);
    if (err) {
        predict_scenario_free(s);
        return err;
    }
    for (size_t i = 0; i < profile->node_count; i++) {
        s->laws[i] = law;
        s->speeds[i] = 1;
    }
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        s->old[i] = (predict_wire){link->latency_s, link->bandwidth};
        s->wires[i] = s->old[i];
        s->flows[i] = link->flow;
    }
    fill_places(s);
    *out = s;
    return 0;
}

void predict_scenario_free(predict_scenario *s)
{
    if (!s)
        return;
    free(s->loads);
    free(s->laws);
    free(s->speeds);
    free(s->old);
    free(s->wires);
    free(s->flows);
    free(s->places);
    free(s->processors);
    free(s);
}
