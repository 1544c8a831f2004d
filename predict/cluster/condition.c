/* condition.c - reads conditions: see condition.h.
 *
 * What the parts behind the ':' tell decides whether the name is that of a node
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
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LATENCY "latency"
#define BANDWIDTH "bandwidth"
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
    return pastset_fail(PASTSET_EINVAL,
                        "the %s \"%.60s\" is not a number from 0", what, text);
}

/* --- parts: KEY=VALUE --- */

static const struct {
    const char *key;
    unsigned tells;
} keys[] = {{"load", PREDICT_LOAD},         {"law", PREDICT_SCHEDULER},
            {"speed", PREDICT_SPEED},       {LATENCY, PREDICT_LATENCY},
            {BANDWIDTH, PREDICT_BANDWIDTH}, {"rate", PREDICT_RATE},
            {"burst", PREDICT_BURST},       {"alone", PREDICT_ALONE},
            {"busy", PREDICT_BUSY},         {"waiting", PREDICT_WAITING},
            {"session", PREDICT_SESSION}};

/* What KEY tells, and where the value behind it and `equals` begins; 0: it is
 * nothing that we know. */
static unsigned what_tells(const char *part, char equals, const char **value)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        size_t length = strlen(keys[i].key);
        if (strncmp(part, keys[i].key, length) != 0 || part[length] != equals)
            continue;
        *value = part + length + 1;
        return keys[i].tells;
    }
    return 0;
}

/* One of so many words; its number. */
static int parse_word(uint32_t *out, const char *text, const char *key,
                      const char *const *words, uint32_t count)
{
    for (*out = 0; *out < count; ++*out)
        if (strcmp(text, words[*out]) == 0)
            return 0;
    return pastset_fail(PASTSET_EINVAL, "%s=%.60s: it is %s, %s%s%s", key, text,
                        words[0], words[1], count > 2 ? " or " : "",
                        count > 2 ? words[2] : "");
}

static int parse_session(bool *is_other, const char *text)
{
    static const char *const words[] = {"same", "other"};
    uint32_t word;
    int err = parse_word(&word, text, "session", words, 2);

    *is_other = word == 1;
    return err;
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
    case PREDICT_WAITING:
        return parse_word(&c->waiting, value, "waiting", predict_waiting_words,
                          PREDICT_WAITINGS);
    case PREDICT_SESSION:
        return parse_session(&c->of_other_session, value);
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
        wrong = "a condition is either of a node, n0:load=1, or of a link, "
                "n0-n1:bandwidth=10mbit";
    return wrong ? pastset_fail(PASTSET_EINVAL, "%s", wrong) : 0;
}

/* Says what may stand there. */
static int no_part(const char *part, unsigned allowed)
{
    bool node = allowed & PREDICT_OF_NODES, link = allowed & OF_LINKS;
    return pastset_fail(
        PASTSET_EINVAL, "\"%.60s\" is not a condition%s%s%s%s", part,
        node ? " of a node: those are load=NUMBER, law=LAW, speed=NUMBER, "
               "waiting=WAY and session=SESSION"
             : "",
        node && link ? "; nor" : "",
        link ? " of a link: those are latency=TIME, bandwidth=RATE, "
               "rate=RATE, burst=BYTES, alone=TIME"
             : "",
        allowed & PREDICT_BUSY ? ", busy=SHARE" : "");
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
        what = what_tells(part, '=', &value);
        err = what & allowed ? set(c, what, value) : no_part(part, allowed);
        if (err)
            return err;
        c->told |= what;
    }
    return check(c);
}

/* --- the form of before --- */

/* What `part` was: KEY:VALUE, or a value whose unit says what it is. Gives its
 * key in `out`, and where the value begins; NULL: none. */
static const char *older_part(const char *part, const char **out,
                              unsigned allowed)
{
    const char *value = part;
    uint64_t number;
    unsigned what = what_tells(part, ':', &value);
    if (!what)
        what = what_tells(part, '=', &value);
    if (!what && !paths_parse_duration(part, &number))
        what = PREDICT_LATENCY;
    if (!what && !paths_parse_rate(part, &number))
        what = PREDICT_BANDWIDTH;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (keys[i].tells == what)
            *out = keys[i].key;
    return what & allowed ? value : NULL;
}

/* How "n0-n1=10mbit,400us" is written now, into TEXT_BYTES twice. */
static bool renew(char *out, const char *text, unsigned allowed)
{
    char copy[TEXT_BYTES];
    size_t length = strcspn(text, "="), used = 0;
    char *parts = copy;
    const char *value;
    strcpy(copy, text);
    if (!text[length])
        length = strcspn(text, ":");
    if (!length || what_tells(text, '=', &value))
        return false;
    if (text[length]) {
        parts += length + 1;
        used = (size_t)sprintf(out, "%.*s:", (int)length, text);
    } else if (!(allowed & PREDICT_UNNAMED)) {
        return false;
    }
    for (char *part = parts, *next; part; part = next) {
        const char *key = NULL;
        next = strchr(part, ',');
        if (next)
            *next++ = '\0';
        value = older_part(part, &key, allowed);
        if (!value || used + strlen(value) + 16 > 2 * (size_t)TEXT_BYTES)
            return false;
        used +=
            (size_t)sprintf(out + used, "%s=%s%s", key, value, next ? "," : "");
    }
    return true;
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
    if (c->all || !names)
        return 0;
    if (c->told & OF_LINKS)
        return find_ends(c, name, names, count);
    c->a = c->b = find(names, count, name, strlen(name));
    return c->a == PREDICT_NONE ? no_such("node", name, names, count) : 0;
}

/* --- all of it --- */

static int no_condition(const char *text, unsigned allowed)
{
    const char *example = "n0:load=1 or n0-n1:bandwidth=10mbit";
    char now[2 * TEXT_BYTES];
    if (renew(now, text, allowed))
        return pastset_fail(PASTSET_EINVAL,
                            "\"%.60s\" is an older form: write it as %s", text,
                            now);
    if (allowed & PREDICT_UNNAMED)
        example = "latency=400us,bandwidth=10mbit or "
                  "n0-n1:latency=400us,bandwidth=10mbit";
    else if (!(allowed & OF_LINKS))
        example = "n0:load=1 or *:load=0.5,law=fair";
    else if (!(allowed & PREDICT_OF_NODES))
        example = "n0-n1:latency=400us,bandwidth=10mbit or *:bandwidth=10mbit";
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.60s\" is not a condition: write it as %s", text,
                        example);
}

/* Where the name ends: at the first ':' behind which there is KEY=. */
static char *name_end(char *text)
{
    char *end = strchr(text, ':');
    while (end) {
        size_t key = strspn(end + 1, LETTERS);
        if (key && end[1 + key] == '=')
            break;
        end = strchr(end + 1, ':');
    }
    return end;
}

int predict_condition_parse(predict_condition *out, const char *text,
                            unsigned allowed, const char *const *names,
                            size_t count)
{
    char copy[TEXT_BYTES], *colon;
    const char *name = copy, *value;
    int err;
    *out = (predict_condition){.a = PREDICT_NONE, .b = PREDICT_NONE};
    if (strlen(text) >= sizeof(copy))
        return pastset_fail(PASTSET_EINVAL,
                            "the condition \"%.60s...\" is too long", text);
    strcpy(copy, text);
    colon = name_end(copy);
    if (colon && colon != copy)
        *colon = '\0';
    else if ((allowed & PREDICT_UNNAMED) && what_tells(copy, '=', &value))
        name = "*";
    else
        return no_condition(text, allowed);
    err = parse_parts(out, name == copy ? colon + 1 : copy, allowed);
    if (err)
        return pastset_fail_while(err, "%.60s", text);
    return find_name(out, name, names, count);
}

int predict_condition_check(const char *text, unsigned allowed)
{
    predict_condition unused;
    return predict_condition_parse(&unused, text, allowed, NULL, 0);
}

/* --- writing --- */

const char *predict_link_text(predict_wire wire, predict_flow flow,
                              char *buffer, size_t bytes)
{
    char latency[32], bandwidth[32], rate[32], alone[32];
    int used =
        snprintf(buffer, bytes, LATENCY "=%s," BANDWIDTH "=%s",
                 paths_duration_text(wire.latency_s, latency, sizeof(latency)),
                 paths_rate_text(wire.bandwidth, bandwidth, sizeof(bandwidth)));
    if (flow.rate > 0)
        snprintf(buffer + used, bytes - (size_t)used,
                 ",rate=%s,burst=%.0f,alone=%s",
                 paths_rate_text(flow.rate, rate, sizeof(rate)), flow.burst,
                 paths_duration_text(flow.latency_s, alone, sizeof(alone)));
    return buffer;
}
