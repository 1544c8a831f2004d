/* structural_profile.c - see structural_profile.h. */
#include "predict/structural/structural_profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pastset/status.h"

typedef struct writer {
    FILE *out;
    const predict_profile *profile;
} writer;

/* A member of a set is any text without blanks, commas and parentheses. */
static int names_check(const predict_profile *p)
{
    for (size_t i = 0; i < p->node_count; i++)
        if (!*p->nodes[i].name ||
            p->nodes[i].name[strcspn(p->nodes[i].name, " \t,()#=")])
            return pastset_fail(PASTSET_EINVAL,
                                "node \"%.60s\" of the profile cannot be named "
                                "in a model",
                                p->nodes[i].name);
    return 0;
}

static bool is_measured(const predict_link *link)
{
    return isfinite(link->latency_s) && link->bandwidth > 0;
}

/* Messages over a link, in both directions. */
static void traffic_of(double *messages, double *bytes,
                       const predict_profile *p, const predict_link *link)
{
    *messages = *bytes = 0;
    for (size_t i = 0; i < p->message_count; i++) {
        const predict_message *m = &p->messages[i];
        if (!((m->from == link->a && m->to == link->b) ||
              (m->from == link->b && m->to == link->a)))
            continue;
        ++*messages;
        *bytes += (double)m->bytes;
    }
}

/* Does the model know its exchanges by this link? */
static bool is_used(const predict_profile *p, const predict_link *link)
{
    double messages, bytes;

    traffic_of(&messages, &bytes, p, link);
    return is_measured(link) && messages > 0;
}

static void link_name(const writer *w, const predict_link *link)
{
    fprintf(w->out, "%s-%s", w->profile->nodes[link->a].name,
            w->profile->nodes[link->b].name);
}

/* --- parts of it --- */

static void sets_put(const writer *w, bool has_links)
{
    const predict_profile *p = w->profile;
    bool any = false;

    fputs("set N =", w->out);
    for (size_t i = 0; i < p->node_count; i++)
        fprintf(w->out, "%s %s", i ? "," : "", p->nodes[i].name);
    if (has_links)
        fputs("\nset L =", w->out);
    for (size_t i = 0; has_links && i < p->link_count; i++) {
        if (!is_used(p, &p->links[i]))
            continue;
        fputs(any ? ", " : " ", w->out);
        link_name(w, &p->links[i]);
        any = true;
    }
    fputs("\n\n", w->out);
}

static void links_put(const writer *w)
{
    const predict_profile *p = w->profile;

    fputs("\n# Messages of both directions, and how good the links were.\n",
          w->out);
    for (size_t i = 0; i < p->link_count; i++) {
        const predict_link *link = &p->links[i];
        double messages, bytes;
        if (!is_used(p, link))
            continue;
        traffic_of(&messages, &bytes, p, link);
        fputs("messages(", w->out);
        link_name(w, link);
        fprintf(w->out, ") = %.0f\nbytes(", messages);
        link_name(w, link);
        fprintf(w->out, ") = %.0fB\nlatency(", bytes);
        link_name(w, link);
        fprintf(w->out, ") = %.9fs\nbandwidth(", link->latency_s);
        link_name(w, link);
        fprintf(w->out, ") = %.0fbit\n", 8 * link->bandwidth);
    }
    fputs("carry(l in L) = messages(l) * latency(l) + bytes(l) / "
          "bandwidth(l)\n",
          w->out);
}

/* What is known of its exchanges, in seconds as they were; the rest of what was
 * measured is a number. */
static double exchange_put(const writer *w, uint32_t node, double comm_s)
{
    const predict_profile *p = w->profile;
    double known_s = 0;
    bool any = false;

    fprintf(w->out, "exchange(%s) =", p->nodes[node].name);
    for (size_t i = 0; i < p->link_count; i++) {
        const predict_link *link = &p->links[i];
        double messages, bytes;
        if ((link->a != node && link->b != node) || !is_used(p, link))
            continue;
        traffic_of(&messages, &bytes, p, link);
        known_s += messages * link->latency_s + bytes / link->bandwidth;
        fputs(any ? " + carry(" : " carry(", w->out);
        link_name(w, link);
        fputs(")", w->out);
        any = true;
    }
    if (!any)
        fprintf(w->out, " %.6fs", comm_s);
    fputs("\n", w->out);
    return any ? known_s : comm_s;
}

static void nodes_put(const writer *w, bool has_links)
{
    const predict_profile *p = w->profile;
    double wall_s = (double)p->wall_ns / 1e9, longest_s = 0;

    fputs("# Seconds of a processor, alone.\n", w->out);
    for (uint32_t i = 0; i < p->node_count; i++)
        fprintf(w->out, "compute(%s) = %.6fs\n", p->nodes[i].name,
                predict_profile_sums(p, i).comp_s);
    if (has_links)
        links_put(w);
    fputs("\n", w->out);
    for (uint32_t i = 0; i < p->node_count; i++) {
        predict_sums sums = predict_profile_sums(p, i);
        longest_s =
            fmax(longest_s, sums.comp_s + exchange_put(w, i, sums.comm_s));
    }
    fprintf(w->out,
            "\n# The share of a processor that each gets: eventspace model "
            "--with.\nload(n in N) = 1\n\n"
            "# What is neither, such as waiting for others in turn.\n"
            "rest = %.6fs\n\n"
            "time = max(n in N: compute(n) / load(n) + exchange(n)) + rest\n",
            wall_s - longest_s);
}

int predict_structural_of_profile(FILE *out, const predict_profile *profile)
{
    writer w = {out, profile};
    bool has_links = false;
    int err = names_check(profile);

    if (err)
        return err;
    for (size_t i = 0; i < profile->link_count; i++)
        has_links |= is_used(profile, &profile->links[i]);
    fprintf(out, "# Made of a profile of: %s\n", profile->command);
    if (!has_links && profile->message_count)
        fputs(
            "# How good its links were is not known, so that exchanges take as "
            "long as they\n# did. `--profiled-link` says it.\n",
            out);
    sets_put(&w, has_links);
    nodes_put(&w, has_links);
    return ferror(out)
               ? pastset_fail(PASTSET_EIO, "the model cannot be written")
               : 0;
}
