#include "viewer/command.h"

int command_top(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return COMMAND_USAGE;
}
