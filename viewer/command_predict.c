/* command_predict.c - `eventspace predict`. */
#include "viewer/command.h"

#include "pastset/status.h"

int command_predict(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pastset_fail(PASTSET_ENOTSUP, "not built yet");
    return command_fail();
}
