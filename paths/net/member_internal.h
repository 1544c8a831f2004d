/* member_internal.h - the processes of a run: how they come together, and
 * part. */
#ifndef PATHS_MEMBER_INTERNAL_H
#define PATHS_MEMBER_INTERNAL_H

#include "paths/net/connection_internal.h"

/* --- unauthenticated.c: those who have not proven that they belong here --- */

/* Takes a socket over that came to the door. Loop only, as all. */
void paths__unauthenticated_accept(paths_process *process, int fd);
/* There is something to read from one that is not open. */
void paths__unauthenticated_read(connection *c);
/* Those that do not prove it in time are closed. */
void paths__unauthenticated_tidy(paths_process *process);

/* --- join.c: how a process joins the others --- */

/* Begins to connect. Errors: PASTSET_ENOMEM, PASTSET_ELIMIT. */
int paths__join_start(paths_process *process);
/* The loop: takes over what is connected. 1, once: all of it is there. Errors:
 * what went wrong, once. */
int paths__join_turn(paths_process *process);
/* Begins to join the coordinator, which has taken the place of one that died,
 * on a thread. Errors: PASTSET_ELIMIT. */
int paths__rejoin_start(paths_process *process);
/* The loop: true, once, when that is over, and what came of it. `refused`: that
 * one is there, and does not let this process in. */
bool paths__rejoin_over(paths_process *process, int *err, bool *refused);
/* Has it still to come to this process, which is the coordinator now? */
static inline bool is_late(const paths_process *process, uint32_t other)
{
    const peer *p = &process->peers[other];

    return other != process->self && !p->member && !p->lost &&
           !atomic_load(&p->dead);
}

/* Begins to find out, on such a thread, who is there. Errors: PASTSET_ELIMIT,
 * PASTSET_ENOMEM. */
int paths__probe_start(paths_process *process);
/* The loop: true, once, when `probes` are filled in. */
bool paths__probe_over(paths_process *process);
/* Waits for the thread, if there is one. */
void paths__rejoin_end(paths_process *process);
/* The loop: the run fails when processes have not come in time. */
void paths__join_late(paths_process *process);

/* --- launcher.c: the line to whoever started this process --- */

/* Takes the socket over. Errors: PASTSET_EINVAL. */
int paths__launcher_open(paths_process *process, int fd);
/* The loop: a process has joined, this one or, at the coordinator, another. */
void paths__launcher_tell(paths_process *process, uint32_t joined,
                          paths_join state);

/* --- member.c: who is there, who is done, what failed --- */

/* Whoever connected has proven who it is. False: close it. */
bool paths__member_come(connection *c, const handshake_claim *claim);
/* DONE, END, FAILED, GONE, ENDED and COMPLETE. */
void paths__member_frame(connection *c);
void paths__member_lost(connection *c, const char *why);
/* Of those that were lost some time ago: who has died, and who is only behind
 * one that has. Of those that have not come to the next coordinator: that they
 * died. */
void paths__member_tidy(paths_process *process);
/* What came from there was changed on the way. */
void paths__member_broken(connection *c);
/* The loop: looks whether the run can end, and tells the others what they
 * must know. */
void paths__member_turn(paths_process *process);
/* The run has failed, and everybody who can be told knows. */
bool paths__member_gone(const paths_process *process);

#endif
