/* one_host.c - see one_host.h. */
#include "tests/bench/one_host.h"

#include <string.h>

#include "eventspace/register_collectors.h"
#include "paths/engine/host.h"
#include "tests/bench/bench.h"

void one_host_run(const char *text, const char *space_file, paths_main *program,
                  void *argument)
{
    paths_map *map;
    paths_host *host;
    paths_host_options options = {
        .host = "h0", .space_file = space_file, .listen_fd = -1};

    bench_check(eventspace_register(), "register");
    bench_check(paths_map_parse(&map, text, strlen(text), "bench"), "map");
    options.map = map;
    bench_check(paths_host_start(&host, &options), "start");
    bench_check(paths_host_program(host, "*", program, argument), "program");
    bench_check(paths_host_run(host), "run");
    paths_host_stop(host);
    paths_map_destroy(map);
}
