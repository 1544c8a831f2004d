/* condition.c - reads conditions: see condition.h.
 *
 * What the parts behind the '=' tell decides whether the name is that of a node
 * or of a link. Names of nodes may have a '-' in them, so that of "a-b-c" all
 * parts are tried that two nodes are called; if there is more than one such
 * way, it is refused. */
#include "predict/cluster/condition.h"

#include <stdio.h>
#include <string.h>

#include "pastset/status.h"
#include "paths/map/map.h"
#include "predict/cluster/cluster_internal.h"

#define TEXT_BYTES 512
#define OF_LINKS (PREDICT_OF_LINKS | PREDICT_BUSY)

bool predict_condition_of_node(const predict_condition *c, uint32_t node)
{
    return (c->told & PREDICT_OF_NODES) && (c->all || c->a == node);
}

bool predict_condition_of_link(const predict_condition *c, uint32_t a,
                               uint32_t b)
{
    return (c->told & OF_LINKS) &&
           (c->all || (c->a == a && c->b == b) || (c->a == b && c->b == a));
}

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

static int parse_real(double *out, const char *text, const char *what)
{
    if (paths_parse_real(text, out) == 0)
        return 0;
    return pastset_fail(PASTSET_EINVAL, "the %s \"%.60s\" is no number from 0",
                        what, text);
}

/* --- parts: KEY:VALUE, or a value whose unit says what it is --- */

static const struct {
    const char *key;
    unsigned tells;
} keys[] = {{"load:", PREDICT_LOAD},   {"law:", PREDICT_SCHEDULER},
            {"speed:", PREDICT_SPEED}, {"rate:", PREDICT_RATE},
            {"burst:", PREDICT_BURST}, {"alone:", PREDICT_ALONE},
            {"busy:", PREDICT_BUSY}};

/* 0: nothing that we know. */
static unsigned what_tells(const char *part, const char **value)
{
    uint64_t number;
    *value = part;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        size_t length = strlen(keys[i].key);
        if (strncmp(part, keys[i].key, length) != 0)
            continue;
        *value = part + length;
        return keys[i].tells;
    }
    if (!paths_parse_duration(part, &number))
        return PREDICT_LATENCY;
    return paths_parse_rate(part, &number) ? 0 : PREDICT_BANDWIDTH;
}

static int set(predict_condition *c, unsigned what, const char *value)
{
    switch (what) {
    case PREDICT_LOAD:
        return parse_real(&c->load, value, "load");
    case PREDICT_SCHEDULER:
        return predict_scheduler_parse(&c->scheduler, value);
    case PREDICT_SPEED:
        return parse_real(&c->speed, value, "speed");
    case PREDICT_BANDWIDTH:
        return predict_bandwidth_parse(&c->wire.bandwidth, value);
    case PREDICT_LATENCY:
        return predict_time_parse(&c->wire.latency_s, value);
    case PREDICT_RATE:
        return predict_bandwidth_parse(&c->flow.rate, value);
    case PREDICT_BURST:
        return parse_real(&c->flow.burst, value, "burst");
    case PREDICT_ALONE:
        return predict_time_parse(&c->flow.latency_s, value);
    default:
        return parse_real(&c->busy, value, "busy share");
    }
}

static int check(const predict_condition *c)
{
    const char *wrong = NULL;
    if ((c->told & PREDICT_SPEED) && c->speed <= 0)
        wrong = "the speed must be above 0";
    if (c->busy > 1)
        wrong = "the busy share is above 1";
    if ((c->told & PREDICT_OF_NODES) && (c->told & OF_LINKS))
        wrong = "a condition is either of a node, n0=load:1, or of a link, "
                "n0-n1=10mbit";
    return wrong ? pastset_fail(PASTSET_EINVAL, "%s", wrong) : 0;
}

/* Says what may stand there. */
static int no_part(const char *part, unsigned allowed)
{
    bool node = allowed & PREDICT_OF_NODES, link = allowed & OF_LINKS;
    return pastset_fail(
        PASTSET_EINVAL, "\"%.60s\" is no condition%s%s%s", part,
        node ? " of a node: those are load:NUMBER, law:LAW and speed:NUMBER"
             : "",
        node && link ? "; nor" : "",
        link ? " of a link: write a bandwidth such as 10mbit, a latency such "
               "as 400us, or both with a comma"
             : "");
}

static int parse_parts(predict_condition *c, char *parts, unsigned allowed)
{
    for (char *part = parts, *next; part; part = next) {
        const char *value;
        unsigned what;
        int err;
        next = strchr(part, ',');
        if (next)
            *next++ = '\0';
        what = what_tells(part, &value);
        err = what & allowed ? set(c, what, value) : no_part(part, allowed);
        if (err)
            return err;
        c->told |= what;
    }
    return check(c);
}

/* --- names --- */

/* The `length` first bytes of `name`. */
static uint32_t find(const char *const *names, size_t count, const char *name,
                     size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (uint32_t)i;
    return PREDICT_NONE;
}

/* Tells all names, as many as there is room for. */
static int no_such(const char *what, const char *name, const char *const *names,
                   size_t count)
{
    char all[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (used + strlen(names[i]) + 8 > sizeof(all)) {
            strcat(all, ", ...");
            break;
        }
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 i ? ", " : "", names[i]);
    }
    return pastset_fail(PASTSET_ENOENT,
                        "there is no %s \"%.60s\"; the nodes are: %s", what,
                        name, all);
}

/* The two nodes of "n0-n1". */
static int find_ends(predict_condition *c, const char *name,
                     const char *const *names, size_t count)
{
    unsigned found = 0;
    for (const char *dash = strchr(name, '-'); dash;
         dash = strchr(dash + 1, '-')) {
        uint32_t a = find(names, count, name, (size_t)(dash - name));
        uint32_t b = find(names, count, dash + 1, strlen(dash + 1));
        if (a == PREDICT_NONE || b == PREDICT_NONE)
            continue;
        found++;
        c->a = a;
        c->b = b;
    }
    if (!found)
        return no_such("link", name, names, count);
    if (found > 1)
        return pastset_fail(PASTSET_EINVAL, "\"%.60s\" can be read as %u links",
                            name, found);
    if (c->a == c->b)
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" leads from a node to itself", name);
    return 0;
}

static int find_name(predict_condition *c, const char *name,
                     const char *const *names, size_t count)
{
    c->all = strcmp(name, "*") == 0;
    if (c->all)
        return 0;
    if (c->told & OF_LINKS)
        return find_ends(c, name, names, count);
    c->a = c->b = find(names, count, name, strlen(name));
    return c->a == PREDICT_NONE ? no_such("node", name, names, count) : 0;
}

/* --- all of it --- */

static int no_condition(const char *text, unsigned allowed)
{
    const char *example = "n0=load:1 or n0-n1=10mbit";
    if (!(allowed & OF_LINKS))
        example = "n0=load:1 or *=load:0.5,law:fair";
    else if (!(allowed & PREDICT_OF_NODES))
        example = "n0-n1=10mbit,400us or *=10mbit";
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is no condition: write it as %s", text,
                        example);
}

int predict_condition_parse(predict_condition *out, const char *text,
                            unsigned allowed, const char *const *names,
                            size_t count)
{
    char copy[TEXT_BYTES], *equals;
    int err;
    *out = (predict_condition){.a = PREDICT_NONE, .b = PREDICT_NONE};
    if (strlen(text) >= sizeof(copy))
        return pastset_fail(PASTSET_EINVAL,
                            "the condition \"%.60s...\" is too long", text);
    strcpy(copy, text);
    equals = strrchr(copy, '=');
    if (!equals || equals == copy || !equals[1])
        return no_condition(text, allowed);
    *equals = '\0';
    err = parse_parts(out, equals + 1, allowed);
    if (err)
        return pastset_fail_while(err, "%.60s", text);
    return find_name(out, copy, names, count);
}
