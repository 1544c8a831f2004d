/* network.c - which link of a network it is, if the network is known.
 *
 * Two processes exchange messages over some links, one after the other, and if
 * that takes longer, it may be any of these. But others exchange messages as
 * well, over some of the same links: where that takes as long as ever, it is
 * none of those. So a link is suspected as far as what goes over it is slow: as
 * a share of the time that is usual for all that goes over it now, such that
 * what hardly uses it says little. Processes that cannot answer for reasons of
 * their own say nothing. */
#include <stdlib.h>

#include "contracts/check/checker_internal.h"
#include "pastset/status.h"
#include "predict/profile/profile.h"

#define SLOW 1.5      /* times as long as usual */
#define SUSPECTED 0.5 /* of what goes over a link */

int contracts__network_create(contracts__network *n,
                              const predict_cluster *cluster,
                              const char *const *names, uint32_t processes)
{
    n->cluster = cluster;
    if (!cluster)
        return 0;
    n->machines = calloc((size_t)processes + 1, sizeof(*n->machines));
    n->way = calloc((size_t)cluster->node_count + 1, sizeof(*n->way));
    n->slow = calloc((size_t)cluster->link_count + 1, sizeof(*n->slow));
    n->all = calloc((size_t)cluster->link_count + 1, sizeof(*n->all));
    if (!n->machines || !n->way || !n->slow || !n->all)
        return pastset_no_memory("for the links of a cluster");
    for (uint32_t p = 0; p < processes; p++)
        n->machines[p] = predict_cluster_find(cluster, names[p]);
    return 0;
}

void contracts__network_fini(contracts__network *n)
{
    free(n->machines);
    free(n->way);
    free(n->slow);
    free(n->all);
}

/* Between the machines of two processes; 0: it is not known. */
static uint32_t way_of(const contracts__network *n, uint32_t a, uint32_t b)
{
    if (n->machines[a] == PREDICT_NONE || n->machines[b] == PREDICT_NONE)
        return 0;
    return predict_cluster_way(n->cluster, n->machines[a], n->machines[b],
                               n->way);
}

static bool has_own_reason(const contracts_checker *k, uint32_t process)
{
    contracts_cause cause = k->causes[process];

    return cause == CONTRACTS_PROCESSOR || cause == CONTRACTS_SLEEPS ||
           cause == CONTRACTS_PROGRAM;
}

static void exchange_add(contracts_checker *k, const contracts_between *with,
                         double operations)
{
    const checked *p = &k->processes[with->process];
    contracts__network *n = &k->network;
    double usual = p->slower * p->transfer[with->other];
    double now = with->transfer / operations;
    uint32_t count;

    /* Of one that has not ended it is not known how long it takes. */
    if (!(operations > 0) || !(now > 0) || !(usual > 0) ||
        has_own_reason(k, with->process) || has_own_reason(k, with->other))
        return;
    count = way_of(n, with->process, with->other);
    for (uint32_t i = 0; i < count; i++) {
        n->all[n->way[i]] += usual;
        if (now >= SLOW * usual)
            n->slow[n->way[i]] += usual;
    }
}

/* Is the one more suspected than the other? Of two over which all is slow, it
 * is that over which more goes, or else the narrower one. */
static bool is_worse(const contracts__network *n, uint32_t a, uint32_t b)
{
    double share_a = n->slow[a] / n->all[a], share_b = n->slow[b] / n->all[b];

    if (share_a != share_b)
        return share_a > share_b;
    if (n->slow[a] != n->slow[b])
        return n->slow[a] > n->slow[b];
    return n->cluster->links[a].bandwidth < n->cluster->links[b].bandwidth;
}

static uint32_t worst_between(const contracts__network *n, uint32_t process,
                              uint32_t other)
{
    uint32_t count = way_of(n, process, other), worst = CONTRACTS_NONE;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t link = n->way[i];
        if (n->slow[link] >= SUSPECTED * n->all[link] && n->slow[link] > 0 &&
            (worst == CONTRACTS_NONE || is_worse(n, link, worst)))
            worst = link;
    }
    return worst;
}

/* The worst of those that its members name. */
static void link_of_mean(contracts_checker *k, uint32_t row)
{
    contracts_judgement *all = &k->judgements[row];
    const checked *of = &k->processes[row];

    for (uint32_t i = 0; i < of->member_count; i++) {
        uint32_t link = k->judgements[of->members[i]].link;
        if (all->cause == CONTRACTS_LINK && link != CONTRACTS_NONE &&
            (all->link == CONTRACTS_NONE ||
             is_worse(&k->network, link, all->link)))
            all->link = link;
    }
}

void contracts__network_suspect(contracts_checker *k,
                                const contracts_course *course, size_t interval)
{
    contracts__network *n = &k->network;

    for (uint32_t row = 0; row < k->rows; row++)
        k->judgements[row].link = CONTRACTS_NONE;
    if (!n->cluster)
        return;
    for (uint32_t i = 0; i < n->cluster->link_count; i++)
        n->slow[i] = n->all[i] = 0;
    for (uint32_t p = 0; p < k->process_count; p++) {
        const double *q = contracts_course_at(course, p, interval);
        size_t count;
        const contracts_between *with =
            contracts_course_betweens(course, p, interval, &count);
        for (size_t i = 0; i < count; i++)
            exchange_add(k, &with[i], q[CONTRACTS_OPERATIONS]);
    }
    for (uint32_t p = 0; p < k->process_count; p++) {
        contracts_judgement *j = &k->judgements[p];
        if (j->cause == CONTRACTS_LINK && j->other != CONTRACTS_NONE)
            j->link = worst_between(n, p, j->other);
    }
    for (uint32_t row = k->process_count; row < k->rows; row++)
        link_of_mean(k, row);
}

void contracts_link_text(char out[CONTRACTS_LINK_BYTES],
                         const contracts_contract *contract, uint32_t link)
{
    const predict_cluster *c = contract->cluster;

    out[0] = '\0';
    if (link != CONTRACTS_NONE)
        snprintf(out, CONTRACTS_LINK_BYTES, "%.120s -- %.120s",
                 c->nodes[c->links[link].from], c->nodes[c->links[link].to]);
}
