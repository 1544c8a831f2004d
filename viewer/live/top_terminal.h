/* top_terminal.h - the whole terminal for a program that refreshes it.
 *
 * Plain escape sequences that every terminal of the last decades knows (an
 * alternate screen, the cursor home, clear to the end of a line): there is
 * nothing here that ncurses would save. What was changed is put back by leave,
 * which may be called at any time, also by a signal handler.
 *
 * Threads: one. */
#ifndef VIEWER_TOP_TERMINAL_H
#define VIEWER_TOP_TERMINAL_H

#include <stdbool.h>

/* Takes the terminal of standard output; keys are read from standard input if
 * that is one, too. Errors: PASTSET_EIO. */
int viewer_terminal_enter(void);
/* Gives it back. Does nothing when it was not taken. */
void viewer_terminal_leave(void);

/* What is printed on standard error from now on, also by programs that are
 * started, is kept until release, which prints it: the screen would be written
 * over it. Gives what release needs, or -1: nothing is kept. */
int viewer_terminal_keep_errors(void);
void viewer_terminal_release_errors(int kept);

/* 24 lines of 80 when it does not tell. */
void viewer_terminal_size(unsigned *rows, unsigned *columns);

#endif
