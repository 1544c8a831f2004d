/* options.h - the options of a command line, read in the same way by all
 * programs.
 *
 * argp reads them. What it does not do is done here: a word that has been
 * renamed says what it is called now, a misspelt one which was meant, and all
 * can be listed for completion and for the tests that compare them with the
 * manual. See docs/options.md for the words.
 *
 * Threads: before there are others. */
#ifndef EVENTSPACE_OPTIONS_H
#define EVENTSPACE_OPTIONS_H

#include <argp.h>
#include <stddef.h>

/* The key of an option that has another name now: hidden, with the new name in
 * the place of the text for --help. No parser gets to see it. */
#define EVENTSPACE_RENAMED 0x10000

/* The program to be run, and its arguments, begin behind so many others. */
#define EVENTSPACE_NO_PROGRAM SIZE_MAX

/* argp_parse, but:
 *   --list-options, alone, prints a line for each visible option (its name, its
 *     letter, what it takes and what it does, with tabs in between), and exits;
 *   an option that was renamed, or that there is not, is wrong usage, which
 *     ends the program with argp_err_exit_status.
 * `operands` arguments are the program's own; what follows belongs to a program
 * that it runs, and is left alone, as is all behind "--". */
error_t eventspace_options_parse(const struct argp *argp, int argc, char **argv,
                                 unsigned flags, size_t operands, void *input);

#endif
