/* draw_process.h - a process that waits to make pictures.
 *
 * A process of many threads is not copied well: a lock that another thread has
 * just taken is taken for ever in the copy, and a copy of a large one takes
 * long. So whoever is going to have many threads starts, before, a process of
 * one thread, whose copies draw. Without it pictures are made by copies of who
 * wants them. */
#ifndef VIEWER_DRAW_PROCESS_H
#define VIEWER_DRAW_PROCESS_H

/* Called before there are other threads, and not twice. Pictures of this
 * process are made there from now on. Errors: PASTSET_ELIMIT. */
int viewer_draw_process_start(void);
/* Ends it, when nobody draws any more; nothing, if there is none. */
void viewer_draw_process_stop(void);

#endif
