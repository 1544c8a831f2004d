/* profile_table.c - tables of a profile. */
#include "viewer/tables/profile_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/others.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int64_t ns_of(double seconds)
{
    return isfinite(seconds) ? llround(seconds * 1e9) : SCOPES_BLANK;
}

/* --- nodes --- */

/* First the columns of the papers, in their order. */
static const scopes_column node_columns[] = {
    {"node", "node", SCOPES_TEXT},
    {"time_ns", "time ms", SCOPES_TIME_NS},
    {"comp", "comp", SCOPES_SHARE},
    {"comm", "comm", SCOPES_SHARE},
    {"idle", "idle", SCOPES_SHARE},
    {"busy_phase_ns", "busy phase ms", SCOPES_TIME_NS},
    {"idle_phase_ns", "idle phase ms", SCOPES_TIME_NS},
    {"messages", "messages", SCOPES_COUNT},
    {"message_bytes", "bytes each", SCOPES_REAL},
    {"phases", "phases", SCOPES_COUNT},
    {"probed_ns", "probed ms", SCOPES_TIME_NS},
    {"kernel_ns", "kernel ms", SCOPES_TIME_NS},
    {"waited_ns", "waited ms", SCOPES_TIME_NS},
    {"threads", "threads", SCOPES_COUNT},
    {"waiting", "waits by", SCOPES_TEXT},
    {"place", "processors", SCOPES_TEXT},
};

static void put_node(scopes_table *table, const predict_profile *profile,
                     uint32_t number)
{
    const predict_node *node = &profile->nodes[number];
    predict_sums s = predict_profile_sums(profile, number);
    double none = NAN;
    scopes_table_text(table, node->name);
    scopes_table_integer(table, profile->wall_ns);
    scopes_table_real(table, s.wall_s > 0 ? s.comp_s / s.wall_s : none);
    scopes_table_real(table, s.wall_s > 0 ? s.comm_s / s.wall_s : none);
    scopes_table_real(table, s.wall_s > 0 ? s.idle_s / s.wall_s : none);
    scopes_table_integer(table,
                         s.phases ? ns_of(s.busy_phase_s) : SCOPES_BLANK);
    scopes_table_integer(table,
                         s.phases ? ns_of(s.idle_phase_s) : SCOPES_BLANK);
    scopes_table_integer(table, (int64_t)s.messages);
    scopes_table_real(table, s.messages ? s.message_bytes : none);
    scopes_table_integer(table, (int64_t)s.phases);
    scopes_table_integer(table, node->probed_ns);
    scopes_table_integer(table, node->kernel_ns);
    scopes_table_integer(table, node->waited_ns);
    scopes_table_integer(table, node->threads);
    scopes_table_text(table, node->waiting == PREDICT_SLEEPS
                                 ? ""
                                 : predict_waiting_words[node->waiting]);
    scopes_table_text(table, profile->places[node->place].name);
}

static scopes_table *table_nodes(const predict_profile *profile)
{
    scopes_table *table =
        scopes_table_create(node_columns, COUNT(node_columns));
    for (size_t i = 0; i < profile->node_count && table; i++)
        put_node(table, profile, (uint32_t)i);
    return table;
}

/* --- links --- */

static const scopes_column link_columns[] = {
    {"a", "a", SCOPES_TEXT},
    {"b", "b", SCOPES_TEXT},
    {"messages_ab", "a to b", SCOPES_COUNT},
    {"messages_ba", "b to a", SCOPES_COUNT},
    {"bytes_ab", "bytes a to b", SCOPES_COUNT},
    {"bytes_ba", "bytes b to a", SCOPES_COUNT},
    {"message_bytes", "bytes each", SCOPES_REAL},
    {"latency_ns", "L ms", SCOPES_TIME_NS},
    {"bandwidth_mbit_s", "B Mbit/s", SCOPES_REAL},
    {"busy", "busy", SCOPES_SHARE},
};

typedef struct traffic {
    uint64_t messages[2], bytes[2]; /* a to b, b to a */
} traffic;

static void put_link(scopes_table *table, const predict_profile *profile,
                     const predict_link *link, const traffic *t)
{
    uint64_t all = t->messages[0] + t->messages[1];
    double bytes = (double)t->bytes[0] + (double)t->bytes[1];
    scopes_table_text(table, profile->nodes[link->a].name);
    scopes_table_text(table, profile->nodes[link->b].name);
    scopes_table_integer(table, (int64_t)t->messages[0]);
    scopes_table_integer(table, (int64_t)t->messages[1]);
    scopes_table_integer(table, (int64_t)t->bytes[0]);
    scopes_table_integer(table, (int64_t)t->bytes[1]);
    scopes_table_real(table, all ? bytes / (double)all : NAN);
    scopes_table_integer(table, ns_of(link->latency_s));
    scopes_table_real(table, link->bandwidth * 8 / 1e6);
    scopes_table_real(table, isfinite(link->bandwidth) ? link->busy : NAN);
}

static scopes_table *table_links(const predict_profile *profile)
{
    scopes_table *table =
        scopes_table_create(link_columns, COUNT(link_columns));
    traffic *all = calloc(profile->link_count + 1, sizeof(*all));
    if (!table || !all) {
        scopes_table_destroy(table);
        free(all);
        errno = ENOMEM;
        return NULL;
    }
    for (size_t i = 0; i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        uint32_t at = predict_profile_find_link(profile, m->from, m->to);
        if (at == PREDICT_NONE)
            continue;
        all[at].messages[m->from > m->to]++;
        all[at].bytes[m->from > m->to] += m->bytes;
    }
    for (size_t i = 0; i < profile->link_count; i++)
        put_link(table, profile, &profile->links[i], &all[i]);
    free(all);
    return table;
}

/* --- phases and messages, which may be many --- */

static const scopes_column phase_columns[] = {
    {"node", "node", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"busy_ns", "busy ms", SCOPES_TIME_NS},
    {"idle_ns", "idle ms", SCOPES_TIME_NS},
};

static scopes_table *table_phases(const predict_profile *profile)
{
    scopes_table *table =
        scopes_table_create(phase_columns, COUNT(phase_columns));
    for (size_t i = 0; i < profile->node_count && table; i++) {
        const predict_node *node = &profile->nodes[i];
        for (size_t k = 0; k < node->phase_count; k++) {
            scopes_cell *row = scopes_table_row(table);
            if (!row)
                break;
            row[0].text = node->name;
            row[1].integer = node->phases[k].start_ns;
            row[2].integer = node->phases[k].busy_ns;
            row[3].integer = node->phases[k].idle_ns;
        }
    }
    return table;
}

static const scopes_column message_columns[] = {
    {"at_ns", "at ms", SCOPES_TIME_NS},
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"bytes", "bytes", SCOPES_COUNT},
};

static scopes_table *table_messages(const predict_profile *profile)
{
    scopes_table *table =
        scopes_table_create(message_columns, COUNT(message_columns));
    for (size_t i = 0; i < profile->message_count && table; i++) {
        const predict_message *m = &profile->messages[i];
        scopes_cell *row = scopes_table_row(table);
        if (!row)
            break;
        row[0].integer = m->at_ns;
        row[1].text = profile->nodes[m->from].name;
        row[2].text = profile->nodes[m->to].name;
        row[3].integer = (int64_t)m->bytes;
    }
    return table;
}

scopes_table *viewer_profile_table(const predict_profile *profile,
                                   const char *name)
{
    static const struct {
        const char *name;
        scopes_table *(*make)(const predict_profile *profile);
    } tables[] = {
        {"nodes", table_nodes},
        {"links", table_links},
        {"phases", table_phases},
        {"messages", table_messages},
    };
    for (size_t i = 0; i < COUNT(tables); i++) {
        if (strcmp(tables[i].name, name) == 0) {
            errno = ENOMEM;
            return tables[i].make(profile);
        }
    }
    errno = 0;
    return NULL;
}

/* --- what is to be said of it --- */

void viewer_profile_warn(const predict_profile *profile, const char *name)
{
    double share = (double)profile->others_ppm / 1e6;

    if (share > MEASURE_OTHERS_MAX)
        fprintf(stderr,
                "eventspace: %s: other programs had %.0f %% of the processors "
                "while it was measured: its times, and what is predicted from "
                "them, are not those of the program alone. Measure it again "
                "when they are idle\n",
                name, share * 100);
}
