/* page.c - what pages cost: a report of 5 million operations in a browser
 * (page_bench.mjs), and the live page: how soon one of 100 million events is
 * seen (serve_large_bench.mjs), and what those who look cost the program
 * (serve_bench.mjs); and what sensors cost (sensors_bench.mjs). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"

static void run(const char *name, const char *script)
{
    fflush(stdout);
    if (bench_wants(name) && system(script) != 0) {
        fprintf(stderr,
                "bench: %s: node, Chromium and chromedriver are needed, and "
                "the tests built\n",
                name);
        exit(1);
    }
}

void bench_page(void)
{
    run("page", "node " BENCH_FOLDER "/page_bench.mjs " BENCH_BIN
                "/eventspace " REPORT_RUN);
}

void bench_sensors(void)
{
    run("sensors",
        "node " BENCH_FOLDER "/sensors_bench.mjs " BENCH_BIN "/eventspace");
}

void bench_serve(void)
{
    run("serve.large", "node " BENCH_FOLDER "/serve_large_bench.mjs " BENCH_BIN
                       "/eventspace " REPORT_RUN);
    run("serve.cost",
        "taskset -c 1 node " BENCH_FOLDER "/serve_bench.mjs " BENCH_BIN);
}
