/* say.h - numbers as sentences have them: three digits, and a unit that suits.
 *
 * Threads:   any.
 * Ownership: what is said is in `text`, which is also given. */
#ifndef SCOPES_SAY_H
#define SCOPES_SAY_H

#define SCOPES_SAY_BYTES 32

/* "49.3 us" */
const char *scopes_say_time(double ns, char text[SCOPES_SAY_BYTES]);
/* "3.3 %", "61 %" */
const char *scopes_say_share(double share, char text[SCOPES_SAY_BYTES]);

#endif
