/* command_profile.c - `eventspace profile`. */
#include "viewer/command.h"

#include "pastset/status.h"

int command_profile(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pastset_fail(PASTSET_ENOTSUP, "not built yet");
    return command_fail();
}
