#include "viewer/command.h"

int command_archive(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return COMMAND_USAGE;
}
