/* waiter.pml - a mailbox, and the thread that waits for what is put there.
 *
 * Model of waiter.c, and of paths/engine/operation.c (post), paths/engine/thread.c
 * (mailbox_take, wait_for, paths_poll) and paths/net/link.c (poll_all). Others put
 * operations into the mailbox of their home, and wake it. The home takes all
 * that is there, and else waits: in the futex, whose state has three values, or
 * in poll, where a descriptor rings for it. Each time it may do the one or the
 * other, and its time may be up once.
 *
 * What is one atomic step on a word in memory here is a read-modify-write in
 * the code. A plain store waits in the buffer of its processor for as long as
 * it likes, also while the same thread does read-modify-writes of other words;
 * a sequentially consistent one does not.
 *
 * What must hold: the home gets all that was put there. Else it sleeps with
 * something in its mailbox, which spin finds as an invalid end state. */
/* cc: -DSAFETY */
/* pan: -m200000 */

#define POSTERS 3

mtype = { IDLE, SLEEPING, WOKEN };

mtype state = IDLE; /* of the waiter */
byte mailbox;       /* operations in it */
bool in_poll, rings;
bool in_futex; /* the kernel has it asleep */

/* The home's buffer: only with a fault does anything wait there. */
bool state_waits, in_poll_waits;
mtype state_value;

active proctype buffer()
{
end:
    do
    :: atomic { state_waits -> state = state_value; state_waits = false }
    :: atomic { in_poll_waits -> in_poll = true; in_poll_waits = false }
    od
}

inline wake()
{
#ifdef FAULT_WAKE_LOOKS_AND_STORES
    was = state;
    state = WOKEN;
#else
    atomic { was = state; state = WOKEN };
#endif
    if
    :: was == SLEEPING -> in_futex = false /* the system call */
    :: else
    fi
}

active [POSTERS] proctype poster()
{
    mtype was;
    bool polls;

#ifdef FAULT_POST_AFTER_WAKE
    wake();
#endif
#ifdef FAULT_BELL_BEFORE_POST
    polls = in_poll;
    mailbox++;
#else
    mailbox++;
    polls = in_poll;
#endif
    if
    :: polls -> rings = true
    :: else
    fi;
#ifndef FAULT_POST_AFTER_WAKE
    wake()
#endif
}

inline take()
{
    atomic { got = got + mailbox; some = mailbox > 0; mailbox = 0 }
}

inline rearm()
{
#ifdef FAULT_REARM_STORE
    atomic { state_value = IDLE; state_waits = true }
#else
    state = IDLE
#endif
}

/* pastset_waiter_wait: a compare-and-exchange, and the kernel's comparison. */
inline wait()
{
    !state_waits; /* a store to the same word comes before */
#ifdef FAULT_SLEEP_STORE
    if
    :: state == WOKEN
    :: else -> state = SLEEPING
    fi;
#else
    atomic {
        if
        :: state == IDLE -> state = SLEEPING
        :: else
        fi
    };
#endif
    do
    :: atomic { state == SLEEPING -> in_futex = true };
       if
       :: !in_futex
       :: atomic { !late -> late = true; in_futex = false }; break
       fi
    :: state != SLEEPING -> break
    od
}

/* poll_all: rings is the descriptor, which stays readable until it is read. */
inline poll()
{
#ifdef FAULT_IN_POLL_RELAXED
    in_poll_waits = true;
#else
    in_poll = true;
#endif
#ifndef FAULT_POLL_NO_LOOK
    if
    :: mailbox > 0
    :: else ->
#endif
       if
       :: rings
       :: atomic { !late -> late = true }
       fi
#ifndef FAULT_POLL_NO_LOOK
    fi
#endif
    ;
    !in_poll_waits;
    in_poll = false;
    rings = false
}

active proctype home()
{
    byte got = 0;
    bool some, late = false;

    do
    :: got < POSTERS ->
       rearm();
#ifndef FAULT_NO_LOOK
       take();
       if
       :: some
       :: else ->
#endif
          if
          :: wait()
          :: poll()
          fi
#ifndef FAULT_NO_LOOK
       fi
#else
       ; take()
#endif
    :: else -> break
    od
}
