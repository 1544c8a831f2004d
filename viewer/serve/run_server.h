/* run_server.h - runs in a browser while they go on: the report's page, views
 * and what is new, over HTTP.
 *
 * Three threads, however many clients there are: one speaks HTTP
 * (libmicrohttpd), one follows the runs as `eventspace top` does, and one makes
 * what takes long: pages and views. What they make is shared by all clients, so
 * that ten of them cost as much as one. A run is read as everybody reads it,
 * from the files in its directory; its processes notice nothing of that.
 *
 * Who is let in: those who know the token, a random number in the address. It
 * must be in each request. The name by which a browser has come must be a
 * number or "localhost" (or the name that was listened at), so that a page from
 * elsewhere whose name is made to mean this machine gets nothing. There are no
 * files behind the addresses, and no request changes anything.
 *
 * Threads:   one thread per server.
 * Ownership: open gives, close takes back. All texts are borrowed. */
#ifndef VIEWER_SERVE_H
#define VIEWER_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "viewer/report/report.h"

#define VIEWER_SERVE_RUNS_MAX 4

typedef struct viewer_server viewer_server;

typedef struct viewer_serve_run {
    const char *directory;
    const char *name; /* what pages and errors call it */
} viewer_serve_run;

/* What the page of each run shows below its own tables. Of a run that goes on
 * it is made again with each page, by a thread of the server. */
typedef struct viewer_serve_panels {
    /* Fills in `panels` and `panel_count`; the rest of `of` is told. What it
     * gives in `*made` is ended when the page is there. NULL: no panels. */
    int (*make)(void **made, viewer_report_run *of, void *context);
    void (*end)(void *made);
    void *context;
} viewer_serve_panels;

typedef struct viewer_serve_options {
    const char *listen;  /* ADDRESS:PORT, port 0: any that is free; NULL:
                            127.0.0.1:0 */
    int64_t interval_ns; /* between two frames; 0: 1 s. Nothing is made again
                            sooner */
    viewer_serve_panels panels;
} viewer_serve_options;

/* Begins to listen, after a first look at the runs. `options` may be NULL.
 * Errors: PASTSET_EINVAL (not an address), PASTSET_EIO (it cannot be listened
 * at, as when another program does), those of eventspace_run_open,
 * PASTSET_ENOMEM. */
int viewer_server_open(viewer_server **out, const viewer_serve_run *runs,
                       size_t run_count, const viewer_serve_options *options);
/* "http://127.0.0.1:40123/TOKEN/" */
const char *viewer_server_address(const viewer_server *server);
/* Ends all connections. What is being made is waited for. NULL is allowed. */
void viewer_server_close(viewer_server *server);

#endif
