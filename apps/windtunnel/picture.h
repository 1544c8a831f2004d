/* picture.h - the mean flow of a wind tunnel as a picture. */
#ifndef WINDTUNNEL_PICTURE_H
#define WINDTUNNEL_PICTURE_H

#include "apps/common/pixels_slices.h"
#include "apps/windtunnel/lattice.h"

/* Draws the sums of `whole`, a slice that holds all rows and was sampled at
 * least once, into a PNG file: how fast the gas flows by colour (a scale under
 * the flow shows the mean speed in sites per step), where it flows to by
 * streaks and arrows, and the obstacle. When there are several threads, it also
 * shows which rows each of them had, and how long each computed
 * (apps/common/pixels_slices.h).
 * Errors: PASTSET_EIO with the file's name, PASTSET_ENOMEM, PASTSET_EINVAL
 * (no samples). */
int picture_write(const lattice_slice *whole, const pixels_slices *slices,
                  const char *file);

#endif
