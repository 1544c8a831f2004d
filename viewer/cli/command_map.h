/* command_map.h - between the files of `eventspace map`. */
#ifndef VIEWER_COMMAND_MAP_H
#define VIEWER_COMMAND_MAP_H

#include "viewer/cli/command.h"

int cli_map_draw(int argc, char **argv);

#endif
