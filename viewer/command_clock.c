#include "viewer/command.h"

int command_clock(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return COMMAND_USAGE;
}
