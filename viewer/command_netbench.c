/* command_netbench.c - `eventspace netbench`. */
#include "viewer/command.h"

#include "pastset/status.h"

int command_netbench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pastset_fail(PASTSET_ENOTSUP, "not built yet");
    return command_fail();
}
