/* picture.h - the mean flow of a wind tunnel as a picture. */
#ifndef WINDTUNNEL_PICTURE_H
#define WINDTUNNEL_PICTURE_H

#include "apps/windtunnel/lattice.h"

/* Draws the sums of `whole`, a slice that holds all rows and was sampled at
 * least once, into a PNG file: how fast the air flows by colour (a bar under
 * the picture tells the speeds, in sites a step), where it flows to by
 * streaks and arrows, and the obstacle.
 * Errors: PASTSET_EIO with the file's name, PASTSET_ENOMEM, PASTSET_EINVAL
 * (no samples). */
int picture_write(const lattice_slice *whole, const char *file);

#endif
