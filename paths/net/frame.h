/* frame.h - what frames take on the wire, for those who count its bytes. */
#ifndef PATHS_FRAME_H
#define PATHS_FRAME_H

/* The header of each frame: of a request, before what it brings, and of a
 * reply, before what it brings back. */
#define PATHS_FRAME_HEADER_BYTES 48

#endif
