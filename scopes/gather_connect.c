/* gather_connect.c - a gather tree of two hosts that are started apart: one
 * beside the application, and whoever comes with the key.
 *
 * Both make the same map, from the address alone. The server is its first
 * host, so that the tree ends when the other one has ended or is gone. */
#include "scopes/gather_internal.h"
#include "scopes/register.h"

#define SERVE_MS (24 * 3600 * 1000) /* until somebody comes */
#define CONNECT_MS 20000
#define REFUSED_MS 2000 /* it may be just about to listen */

static int host_run(const scopes_gather_options *options, const char *address,
                    const char *name, const uint8_t *key,
                    const scopes_consumer *consumer, const atomic_bool *stop,
                    uint32_t patience_ms)
{
    paths_host_options start = {.host = name,
                                .listen_fd = -1,
                                .key = key,
                                .connect_timeout_ms = patience_ms,
                                .refused_ms = REFUSED_MS};
    scopes_gatherer gatherer = {.consumer = consumer, .stop = stop};
    scopes_gather_options plain = *options;
    paths_host *host = NULL;
    paths_map *map;
    int err = scopes_register();

    plain.run = NULL; /* a place on the server's machine */
    if (!err)
        err = gather__map_pair(&map, &plain, address);
    if (err)
        return err;
    start.map = gatherer.map = map;
    err = paths_host_start(&host, &start);
    if (!err)
        err = paths_host_program(host, "*", scopes_gather_thread, &gatherer);
    if (!err)
        err = paths_host_run(host);
    if (host)
        paths_host_stop(host);
    paths_map_destroy(map);
    return err;
}

int scopes_gather_serve(const scopes_gather_options *options,
                        const char *address, const uint8_t *key)
{
    gather__run_set(options->run);
    return host_run(options, address, "server", key, NULL, NULL, SERVE_MS);
}

int scopes_gather_connect(const scopes_gather_options *options,
                          const char *address, const uint8_t *key,
                          const scopes_consumer *consumer,
                          const atomic_bool *stop)
{
    return host_run(options, address, "scope", key, consumer, stop, CONNECT_MS);
}
