/* command_experiment.c - `eventspace experiment`. */
#include "viewer/command.h"

#include "pastset/status.h"

int command_experiment(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pastset_fail(PASTSET_ENOTSUP, "not built yet");
    return command_fail();
}
