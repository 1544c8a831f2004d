/* one_process.c - see one_process.h. */
#include "tests/bench/one_process.h"

#include <string.h>

#include "eventspace/register_collectors.h"
#include "paths/engine/process.h"
#include "tests/bench/bench.h"

void one_process_run(const char *text, const char *space_file,
                     paths_main *program, void *argument)
{
    paths_map *map;
    paths_process *process;
    paths_process_options options = {
        .process = "h0", .space_file = space_file, .listen_fd = -1};

    bench_check(eventspace_register(), "register");
    bench_check(paths_map_parse(&map, text, strlen(text), "bench"), "map");
    options.map = map;
    bench_check(paths_process_start(&process, &options), "start");
    bench_check(paths_process_program(process, "*", program, argument),
                "program");
    bench_check(paths_process_run(process), "run");
    paths_process_stop(process);
    paths_map_destroy(map);
}
