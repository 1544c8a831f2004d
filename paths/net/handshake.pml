/* handshake.pml - two processes prove to each other who they are, and whoever
 * sits between them hears all that they say.
 *
 * A model of handshake_internal.h. Cryptography is perfect: nobody makes, reads
 * or changes a sealed message without the run's key, which the attacker does
 * not have. But he has every message that was ever said, also of a run before
 * with the same key, and what a process receives is whatever he hands it, as
 * often and to whom he likes; or nothing, and it stops there. So there is no
 * network here: a process that waits takes any of the messages in `said`.
 *
 * Each of two processes connects once, in a role of its choice, and has two
 * places at its door, so that each can be told the same thing twice, and be
 * told what it has said itself. Ephemeral keys are numbers; a cipher is the
 * pair of them from which it comes. Their maps may be the same or not.
 *
 * What must hold, when one side believes the other (Lowe's injective
 * agreement): it is the process that it says it is, it has meant this process,
 * in this role, with the same map, now, and only once; and both have the same
 * pair of keys.
 *
 * Faults: FAULT_REFLECT, names are no part of what is sealed, as in 4b07966;
 * FAULT_ROLE and FAULT_MAP, nor are roles and maps; FAULT_REPLAY, the first
 * message is believed, and no proof waited for; FAULT_TRANSCRIPT, an answer is
 * not bound to the message that it answers; FAULT_PROOF, nor the proof to
 * them; FAULT_DIRECTION, first messages and answers look the same.
 * FAULT_NOBODY claims that nobody is ever let in: that would prove nothing. */
/* cc: -DSAFETY -DCOLLAPSE */
/* pan: -m10000 */

#define DIALLERS 3 /* one for each process, and one of the run before */
#define OLD 2
#define DOORS 5    /* two for each process, and one of the run before */
#define OLD_DOOR 4
#define NONE 9

mtype = {FIRST, SECOND, THIRD};

typedef message {
    mtype kind;
    byte dialler, door; /* the ephemeral keys, of which the seal comes */
    byte from, to, role, map;
}

/* What was said, each thing in a place of its own, as it does not matter when;
 * kind 0: it was not. */
#define FIRST_OF(d) (d)
#define SECOND_OF(r) (DIALLERS + (r))
#define THIRD_OF(d) (DIALLERS + DOORS + (d))
#define MOST (2 * DIALLERS + DOORS)
message said[MOST];

byte map_of[2];

/* What a dialler wants; and with which door it has finished. */
byte wants_from[DIALLERS], wants_to[DIALLERS], wants_role[DIALLERS];
byte finished[DIALLERS];
bool taken[DIALLERS]; /* it was let in */
byte answered[DOORS]; /* whose message a door has answered */

#define process_of(door) ((door) / 2)

inline say(at, k, d, r, f, t, ro, m)
{
    said[at].kind = k;
    said[at].dialler = d;
    said[at].door = r;
    said[at].from = f;
    said[at].to = t;
    said[at].role = ro;
    said[at].map = m
}

/* Any of the messages. */
inline hear(i)
{
    i = 0;
    do
    :: i < MOST - 1 -> i++
    :: said[i].kind != 0 -> break
    od
}

#define M said[i]

/* --- who connects --- */

proctype dial(byte d)
{
    byte i, from = d, to = 1 - d, role;

    atomic {
        if
        :: role = 0
        :: role = 1
        fi;
        wants_from[d] = from;
        wants_to[d] = to;
        wants_role[d] = role;
        say(FIRST_OF(d), FIRST, d, NONE, from, to, role, map_of[from])
    }
    atomic {
        hear(i);
        /* paths__handshake_finish, and what greet() in link.c looks at */
        if
        :: (
#ifndef FAULT_DIRECTION
            M.kind == SECOND &&
#if !defined(FAULT_TRANSCRIPT)
            M.dialler == d &&
#endif
#else
            M.kind != THIRD && M.dialler != d &&
#endif
#ifndef FAULT_REFLECT
            M.from == to && M.to == from &&
#endif
#ifndef FAULT_ROLE
            M.role == role &&
#endif
#ifndef FAULT_MAP
            M.map == map_of[from] &&
#endif
            true) ->
            assert(M.door != NONE && M.door != OLD_DOOR);
            assert(process_of(M.door) == to && answered[M.door] == d);
            assert(map_of[to] == map_of[from]);
            finished[d] = M.door;
            say(THIRD_OF(d), THIRD, d, M.door, NONE, NONE, NONE, NONE)
        :: else
        fi;
        i = 0
    }
}

/* --- who is connected to --- */

/* It believes that dialler `d` of process `from` is there, in this role. */
inline believe()
{
#ifdef FAULT_NOBODY
    assert(false);
#endif
    assert(d != OLD && !taken[d]);
    assert(from != self && wants_from[d] == from && wants_to[d] == self);
    assert(wants_role[d] == role && map_of[from] == map_of[self]);
    assert(finished[d] == r); /* and so the same pair of keys */
    taken[d] = true
}

proctype answer(byte r)
{
    byte i, self = process_of(r), d, from, role;
    byte map;

    atomic {
        hear(i);
        /* paths__handshake_answer */
        if
        :: (M.kind == FIRST
#ifndef FAULT_REFLECT
            && M.to == self && M.from != self
#endif
            ) ->
            d = M.dialler;
            from = M.from;
            role = M.role;
            map = M.map;
            answered[r] = d;
            say(SECOND_OF(r), SECOND, d, r, self, from, role, map_of[self])
        :: else -> goto closed
        fi;
        i = 0
    }
#ifndef FAULT_REPLAY
    atomic {
        hear(i);
        /* paths__handshake_check */
        if
        :: (M.kind == THIRD
#ifndef FAULT_PROOF
            && M.dialler == d && M.door == r
#endif
            )
        :: else -> goto closed
        fi;
#else
    atomic {
#endif
#ifdef FAULT_ROLE
        if
        :: role = 0
        :: role = 1
        fi;
#endif
        /* paths__member_come */
        if
#ifdef FAULT_MAP
        :: true -> believe()
#else
        :: map == map_of[self] -> believe()
        :: else
#endif
        fi
    }
closed:
    i = 0
}

init
{
    byte k;

    atomic {
        if
        :: map_of[1] = 0
        :: map_of[1] = 1
        fi;
        for (k : 0 .. DIALLERS - 1) {
            finished[k] = NONE
        }
        for (k : 0 .. DOORS - 1) {
            answered[k] = NONE
        }
        /* The run before: process 0 was let in by process 1, with the same
         * maps. */
        wants_to[OLD] = 1;
        say(FIRST_OF(OLD), FIRST, OLD, NONE, 0, 1, 0, 0);
        say(SECOND_OF(OLD_DOOR), SECOND, OLD, OLD_DOOR, 1, 0, 0, 0);
        say(THIRD_OF(OLD), THIRD, OLD, OLD_DOOR, NONE, NONE, NONE, NONE);
        for (k : 0 .. 1) {
            run dial(k)
        }
        for (k : 0 .. 3) {
            run answer(k)
        }
    }
}
