/* loop_link_internal.h - the loop's links to other processes. */
#ifndef PATHS_LOOP_LINK_INTERNAL_H
#define PATHS_LOOP_LINK_INTERNAL_H

#include "paths/net/connection_internal.h"

/* The loop's way through a proxy. Any thread that holds `o`. */
int paths__loop_link_send(paths_process *process, operation *o,
                          const paths_stage *proxy);
/* Under held_lock. False: its reply is being taken. */
bool paths__loop_link_forget(paths_process *process, operation *o);
/* Tells the process behind a proxy that nobody contributes that way any
 * more. */
void paths__loop_link_left(const paths_stage *proxy, const char *why);
/* The link to a process is there: sends what came in before it was. */
void paths__loop_link_adopt(paths_process *process, peer *p, connection *link);
/* There will be none: that process has died. */
void paths__loop_link_none(paths_process *process, uint32_t other);
/* It has closed: the operations that wait for its replies fail. */
void paths__loop_link_lost(connection *c, const char *why);

/* A REPLY: where its payload goes (NULL: refuse), and when all of it is there
 * or will not come. */
unsigned char *paths__loop_link_reply_begin(connection *c);
void paths__loop_link_reply_end(connection *c);
void paths__loop_link_reply_abandon(connection *c, operation *o);

#endif
