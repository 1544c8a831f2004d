/* command_scope_serve.c - a gather tree of two processes that find each other
 * over the network: one on each side, and no launcher. */
#include "viewer/cli/scope/command_scope.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/launch/launch.h"
#include "pastset/status.h"

static atomic_bool stopped;

static void stop(int number)
{
    (void)number;
    atomic_store(&stopped, true);
}

static const char *clients_text(const scope *s, char *text, size_t bytes)
{
    if (s->clients == 0)
        return "Ctrl-C or SIGTERM ends it";
    snprintf(text, bytes, "ends after %" PRIu64 " client%s", s->clients,
             s->clients > 1 ? "s" : "");
    return text;
}

/* Once, though it listens anew for each that comes. */
static void listening_tell(void *context)
{
    scope *s = context;
    char text[64];

    if (!s->told)
        fprintf(stderr,
                "eventspace: listening at %s for `eventspace scope` or `top` "
                "with --connect and the same key; %s\n",
                s->listen, clients_text(s, text, sizeof(text)));
    s->told = true;
}

/* One that fails has to do with the other side. */
static bool is_of_client(int err)
{
    return err == PASTSET_EHOST || err == PASTSET_EAPP ||
           err == PASTSET_ECANCELED || err == PASTSET_ETIMEDOUT;
}

static volatile sig_atomic_t client_failed;

static void serving_end(int number)
{
    (void)number;
    _exit(client_failed ? COMMAND_FAILED : COMMAND_OK);
}

/* Without a number of clients a signal is how it ends. One that is ignored
 * stays ignored. */
static void serving_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = serving_end}, now;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
}

/* A client that fails is told at once, and others are waited for. */
static int clients_serve(scope *s, const uint8_t *key)
{
    int code = COMMAND_OK;

    if (s->clients == 0)
        serving_catch();
    for (uint64_t i = 0; s->clients == 0 || i < s->clients; i++) {
        int err =
            scopes_gather_serve(&s->gather, s->listen, key, listening_tell, s);
        if (err) {
            code = cli_fail();
            client_failed = 1;
        }
        if (err && !is_of_client(err))
            break;
    }
    return code;
}

int cli_scope_serve(scope *s)
{
    int code;
    uint8_t key[PATHS_KEY_BYTES];
    char run[PATH_MAX];
    paths_map *app = NULL;
    int err = cli_scope_find_run(s, run, &app);

    paths_map_destroy(app);
    if (!err)
        err = eventspace_key_load(key, s->key_file);
    code = err ? cli_fail() : clients_serve(s, key);
    explicit_bzero(key, sizeof(key));
    return code;
}

/* The first signal ends it well, the second one at once: the other side may
 * not answer any more. Before there is a map nothing would be lost. */
static int connect_record(const scopes_record *r, void *context)
{
    struct sigaction action = {.sa_handler = stop,
                               .sa_flags = (int)SA_RESETHAND};
    scope *s = context;
    bool before = scopes_mirror_map(s->mirror) != NULL;
    int err = cli_scope_record(r, s);

    if (!before && scopes_mirror_map(s->mirror)) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
    return err;
}

int cli_scope_connect(scope *s)
{
    scopes_consumer consumer = {
        .record = connect_record, .turn = cli_scope_turn, .context = s};
    uint8_t key[PATHS_KEY_BYTES];
    int err = eventspace_key_load(key, s->key_file);

    if (err)
        goto done;
    err = scopes_gather_check(&s->gather, NULL);
    if (err)
        goto done;
    err = cli_scope_begin(s, NULL);
    if (err)
        goto done;
    err =
        scopes_gather_connect(&s->gather, s->connect, key, &consumer, &stopped);
    if (err && strstr(pastset_error(), strerror(ECONNREFUSED)))
        err = pastset_fail(err,
                           "nothing listens at %s: start `eventspace scope RUN "
                           "--serve --listen %s --key FILE` there",
                           s->connect, s->connect);
done:
    err = cli_scope_end(s, err);
    explicit_bzero(key, sizeof(key));
    return err ? cli_fail() : COMMAND_OK;
}
