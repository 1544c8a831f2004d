/* causes_internal.h - what the view "causes" says of a cause. */
#ifndef SCOPES_VIEWS_CAUSES_INTERNAL_H
#define SCOPES_VIEWS_CAUSES_INTERNAL_H

#include "scopes/losses/losses_internal.h"

#define SCOPES__SAYS_BYTES 1024

/* One sentence, with figures; gives the buffer, of SCOPES__SAYS_BYTES. */
const char *scopes__cause_says(char *buffer, const scopes__losses *losses,
                               const scopes__loss *loss);
/* Where it is: a thread, a hop, an element; "" if nowhere. The same. */
const char *scopes__cause_where(char *buffer, const scopes__losses *losses,
                                const scopes__loss *loss);
/* The calls between which it is; "" if there is none. The same. */
const char *scopes__cause_after(char *buffer, const scopes__losses *losses,
                                const scopes__loss *loss);
const char *scopes__cause_before(char *buffer, const scopes__losses *losses,
                                 const scopes__loss *loss);

#endif
