/* facts.c - counting what a run directory holds. */
#include "viewer/facts.h"

#include "pastset/status.h"

#include <stdlib.h>
#include <string.h>

static void count_elements(viewer_host_facts *facts, eventspace_run *run)
{
    pastset_space *space = facts->host->space;
    size_t count = space ? pastset_space_count(space) : 0;
    for (size_t i = 0; i < count; i++) {
        if (eventspace_run_is_trace(run, pastset_space_at(space, i)))
            facts->traces++;
        else
            facts->elements++;
    }
}

static uint32_t threads_on(const paths_map *map, uint32_t host)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        count +=
            map->nodes[i].kind == PATHS_THREAD && map->nodes[i].host == host;
    return count;
}

static int take_host(viewer_host_facts *facts, eventspace_run *run, size_t i)
{
    facts->host = eventspace_run_host_at(run, i);
    facts->state = "missing";
    facts->text = facts->host->problem;
    if (facts->host->has_meta) {
        facts->state = eventspace_state_name(facts->host->meta.state);
        facts->text = facts->host->meta.text;
    }
    facts->threads = threads_on(eventspace_run_map(run), (uint32_t)i);
    count_elements(facts, run);
    return eventspace_run_events(run, i, &facts->events);
}

static void add(viewer_host_facts *total, const viewer_host_facts *host)
{
    if (strcmp(host->state, "finished") != 0)
        total->state = host->state;
    total->threads += host->threads;
    total->elements += host->elements;
    total->traces += host->traces;
    total->events.made += host->events.made;
    total->events.present += host->events.present;
    total->events.dropped += host->events.dropped;
    total->events.drained += host->events.drained;
    total->events.bytes += host->events.bytes;
}

int viewer_facts_take(viewer_facts *out, eventspace_run *run)
{
    memset(out, 0, sizeof(*out));
    out->total.state = "finished";
    out->total.text = "";
    out->host_count = eventspace_run_host_count(run);
    out->hosts = calloc(out->host_count + 1, sizeof(*out->hosts));
    int err = 0;
    if (!out->hosts)
        err = pastset_fail(PASTSET_ENOMEM, "no memory for the hosts");
    for (size_t i = 0; i < out->host_count && !err; i++) {
        err = take_host(&out->hosts[i], run, i);
        add(&out->total, &out->hosts[i]);
    }
    if (err)
        viewer_facts_drop(out);
    return err;
}

void viewer_facts_drop(viewer_facts *facts)
{
    free(facts->hosts);
    memset(facts, 0, sizeof(*facts));
}
