/* sums_map.c - see sums_map.h. */
#include "tests/scopes/sums_map.h"

#include <stdlib.h>

#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

static const char mapping[] =
    "digraph sums {\n"
    "  t0 [kind=thread, number=0];\n"
    "  t1 [kind=thread, number=1];\n"
    "  t2 [kind=thread, number=2];\n"
    "  total [kind=element, type=\"u64\", policy=discard];\n"
    "  t0 -> total [use=sum];\n"
    "  t1 -> total [use=sum];\n"
    "  t2 -> total [use=sum];\n"
    "}\n";

void sums_map_make(bool collectors)
{
    free(command_run(0, 60, EVENTSPACE, "map", "generate", "--application",
                     scratch_write("app.dot", mapping), "--processes=2",
                     "--spread=cyclic", "--output", scratch_file("plain.dot"),
                     NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument",
                     scratch_file("plain.dot"),
                     collectors ? "--collectors=all" : "--collectors=none",
                     "--output", scratch_file("map.dot"), NULL));
}
