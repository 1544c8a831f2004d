/* gather_connect.c - a gather tree of two processes that are started apart: one
 * beside the application, and whoever comes with the key.
 *
 * Both make the same map, from the address alone. The server is its first
 * process, so that the tree ends when the other one has ended or is gone. */
#include "scopes/gather/gather_internal.h"
#include "scopes/wrappers/register_gather.h"

#define SERVE_MS (24 * 3600 * 1000) /* until somebody comes */
#define CONNECT_MS 20000
#define REFUSED_MS 2000 /* it may be just about to listen */

typedef struct end {
    const char *address, *name;
    const uint8_t *key;
    const scopes_consumer *consumer;
    const atomic_bool *stop;
    const paths_wrapper_context *contexts; /* of the leaves */
    uint32_t timeout_ms;
    scopes_listening *listening; /* NULL: nobody wants to know */
    void *context;               /* of that */
} end;

static int process_run(const scopes_gather_options *options, const end *which)
{
    paths_process_options start = {.process = which->name,
                                   .listen_fd = -1,
                                   .key = which->key,
                                   .contexts = which->contexts,
                                   .connect_timeout_ms = which->timeout_ms,
                                   .refused_ms = REFUSED_MS};
    scopes_gatherer gatherer = {.consumer = which->consumer,
                                .stop = which->stop};
    scopes_gather_options plain = *options;
    paths_process *process = NULL;
    paths_map *map;
    int err = scopes_register();

    if (err)
        return err;
    plain.run = NULL; /* a place on the server's machine */
    err = scopes__gather_map_pair(&map, &plain, which->address);
    if (err)
        return err;
    start.map = gatherer.map = map;
    err = paths_process_start(&process, &start);
    if (err)
        goto done;
    if (which->listening)
        which->listening(which->context);
    err = paths_process_program(process, "*", scopes_gather_thread, &gatherer);
    if (err)
        goto done;
    err = paths_process_run(process);
done:
    if (process)
        paths_process_stop(process);
    paths_map_destroy(map);
    return err;
}

int scopes_gather_serve(const scopes_gather_options *options,
                        const char *address, const uint8_t *key,
                        scopes_listening *listening, void *context)
{
    scopes_leaf leaf = {.run = options->run};
    const paths_wrapper_context contexts[] = {{"traces", &leaf},
                                              {"filter", &leaf},
                                              {"recorder", &leaf},
                                              {NULL, NULL}};

    return process_run(options, &(end){.address = address,
                                       .name = "server",
                                       .key = key,
                                       .contexts = contexts,
                                       .timeout_ms = SERVE_MS,
                                       .listening = listening,
                                       .context = context});
}

int scopes_gather_connect(const scopes_gather_options *options,
                          const char *address, const uint8_t *key,
                          const scopes_consumer *consumer,
                          const atomic_bool *stop)
{
    return process_run(options, &(end){.address = address,
                                       .name = "scope",
                                       .key = key,
                                       .consumer = consumer,
                                       .stop = stop,
                                       .timeout_ms = CONNECT_MS});
}
