#include "viewer/command.h"

int command_scope(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return COMMAND_USAGE;
}
