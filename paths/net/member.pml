/* member.pml - membership: joining, DONE, END, FAILED, GONE, and processes that
 * die at any moment (member.c, join.c, stand_in.c).
 *
 * Three processes; 0 is the coordinator, whom 1 and 2 join by a connection
 * each. Each has a link to make to another before its threads run. Those of 1
 * and 2 need that process to have come as far, and then write to an element of
 * 0, which 0 reads; they end, or with an error when whom they need has died. Up
 * to DEATHS of the processes are killed, at any moment, or end by themselves
 * before they have joined. Each has a launcher that sees this, and what the
 * process has told it by its line.
 *
 * No time passes here: that somebody is ended by a second line, SIGTERM or 60
 * seconds, would be that all others stand still, which spin reports as an
 * invalid end state. So every process ends by itself, and one that fails must
 * name one that was killed or ended too early, not one that ended because of
 * it. */
/* cc: -O1 -DSAFETY */
#define N 3
/* One finds each of the faults. */
#if defined(FAULT_NO_NOTICE) || defined(FAULT_FIRST_PROCESS) ||                \
    defined(FAULT_LINE_EARLY) || defined(FAULT_MEMBER_LATE) ||                 \
    defined(FAULT_LATE_NOT_TOLD) || defined(FAULT_NO_SECOND_TRY) ||            \
    defined(FAULT_NO_CAUSE) || defined(FAULT_ENDED_IS_LEFT) ||                 \
    defined(FAULT_UNANNOUNCED) || defined(FAULT_TAKEN_FOR_COME)
#define DEATHS 1
#else
#define DEATHS 2
#endif

#define OTHER(i) ((i) == 2 -> 0 : (i) + 1) /* whom its threads need */

mtype = {WELCOME, DONE, END, FAILED, GONE};

/* Of a connection between 0 and another: what is under way, and whether one
 * of the two has closed it, which is read after that. */
chan up[N] = [2] of {mtype, byte};
chan down[N] = [5] of {mtype, byte};
bool closed[N];
/* The queue of 0's listening socket, which its launcher has too. */
mtype = {NO, WAITS, ACCEPTED, RESET};
mtype dial[N] = NO;
chan answer[N] = [1] of {byte}; /* FAILED, in place of WELCOME: the cause */
mtype stand_in[N] = NO;         /* a launcher speaks for 1 or 2 */

byte deaths_left = DEATHS;
bool alive[N] = true;
bool victim[N]; /* it was killed, or ended too early */
bool killed[N];
bool listens[N], ran[N];
bool wrote[N]; /* its thread, to an element of 0, which 0 reads at last */
byte cause[N]; /* of a failure: 1 + the process that is named; UNKNOWN */
#define UNKNOWN 9

bool told[N]; /* the launcher: it has joined, or was told why not */
bool came[N]; /* 0's launcher: the same of those who joined 0 */
bool coming[N]; /* 0's launcher: 0 is about to let it in */

typedef knows { bool dead[N] };
knows process[N]; /* who has died, as each knows */

/* What the kernel does when a process ends. */
inline connections_close(i)
{
    alive[i] = false;
    if
    :: i == 0 ->
       closed[1] = true; closed[2] = true;
       if :: dial[1] == ACCEPTED -> dial[1] = RESET :: else fi;
       if :: dial[2] == ACCEPTED -> dial[2] = RESET :: else fi
    :: else ->
       closed[i] = true;
       dial[i] = NO
    fi
}

inline end_of(i)
{
    d_step {
        assert(cause[i] == 0 ||
               (cause[i] != UNKNOWN && victim[cause[i] - 1]));
        connections_close(i)
    }
}

#define link_is_there(i)                                                       \
    ((listens[OTHER(i)] && alive[OTHER(i)]) || process[i].dead[OTHER(i)])

#ifdef FAULT_MEMBER_LATE /* its connection is looked at when all are made */
#define reads(i) linked
#else
#define reads(i) true
#endif

proctype member(byte i)
{
    bool linked, done;
    byte x;

    {
        if /* in its first milliseconds it may end by itself */
        :: true -> skip
        :: deaths_left > 0 ->
           atomic { deaths_left--; victim[i] = true }
           goto ended
        fi;
        listens[i] = true;
#ifdef FAULT_LINE_EARLY
        told[i] = true;
#endif
again:
        dial[i] = WAITS;
        if
        :: down[i]?WELCOME(x)
        :: answer[i]?x -> cause[i] = x; told[i] = true; goto ended
        :: dial[i] == RESET && empty(answer[i]) && empty(down[i]) ->
#ifdef FAULT_NO_SECOND_TRY
           cause[i] = UNKNOWN; goto ended
#else
           goto again
#endif
        fi;
        told[i] = true;
        do
        :: reads(i) && nempty(down[i]) ->
           if
           :: down[i]?GONE(x) -> process[i].dead[x] = true
           :: down[i]?END(x) -> goto ended
           :: down[i]?FAILED(x) -> cause[i] = x; goto ended
           fi
        :: reads(i) && closed[i] && empty(down[i]) -> cause[i] = 1; goto ended
        :: !linked && link_is_there(i) -> linked = true
        :: linked && !ran[i] -> ran[i] = true
        :: ran[i] && !done && (ran[OTHER(i)] || process[i].dead[OTHER(i)]) ->
           wrote[i] = true; done = true; up[i]!DONE(0)
        :: ran[i] && !done && process[i].dead[OTHER(i)] ->
           /* the program fails */
           cause[i] = 1 + OTHER(i);
           up[i]!FAILED(cause[i]);
           goto ended
        od;
ended:
        end_of(i)
    } unless { !alive[i] }
}

/* The coordinator's own. */
bool joined[N], is_done[N], failed;

inline fail_0(why)
{
    d_step {
        if
        :: !failed ->
           failed = true;
           cause[0] = why;
#ifndef FAULT_NO_CAUSE
           if :: joined[1] -> down[1]!FAILED(why) :: else fi;
           if :: joined[2] -> down[2]!FAILED(why) :: else fi
#endif
        :: else
        fi
    }
}

inline died(i)
{
    d_step {
        joined[i] = false;
        if
        :: !failed && !process[0].dead[i] ->
           process[0].dead[i] = true;
           is_done[i] = true;
           if :: joined[3 - i] -> down[3 - i]!GONE(i) :: else fi
        :: else
        fi
    }
}

/* One that dialled has proven the key and said who it is. */
inline welcome(i)
{
#ifndef FAULT_UNANNOUNCED
    coming[i] = true;
#endif
    d_step {
        dial[i] = NO;
        if
        :: failed -> answer[i]!cause[0]
        :: else ->
           joined[i] = true;
           down[i]!WELCOME(0);
#ifndef FAULT_LATE_NOT_TOLD
           if :: process[0].dead[3 - i] -> down[i]!GONE(3 - i) :: else fi
#endif
        fi
    }
    came[i] = true
}

inline turn_0(i)
{
    if
    :: dial[i] == WAITS -> dial[i] = ACCEPTED
    :: dial[i] == ACCEPTED -> welcome(i)
    :: stand_in[i] != NO ->
       if
       :: joined[i] -> skip /* refused: the connection tells */
       :: !joined[i] && stand_in[i] == GONE -> died(i); came[i] = true
       :: !joined[i] && stand_in[i] == FAILED -> fail_0(1 + i); came[i] = true
       fi;
       stand_in[i] = NO
    :: joined[i] && nempty(up[i]) ->
       if
       :: up[i]?DONE(x) -> is_done[i] = true
       :: up[i]?FAILED(x) -> fail_0(x)
       fi
    :: joined[i] && closed[i] && empty(up[i]) -> died(i)
    fi
}

/* Is that process's thread no longer one that may write to the element? */
#ifdef FAULT_ENDED_IS_LEFT
#define is_gone(i) process[0].dead[i]
#else
#define is_gone(i) (process[0].dead[i] || is_done[i])
#endif
#define is_bereft()                                                            \
    (is_gone(1) && is_gone(2) && (process[0].dead[1] || process[0].dead[2]))

proctype coordinator()
{
    bool linked;
    byte x;

    {
        if
        :: true -> skip
        :: deaths_left > 0 ->
           atomic { deaths_left--; victim[0] = true; cause[0] = 1 }
           goto ended
        fi;
        listens[0] = true;
        do
        :: turn_0(1)
        :: turn_0(2)
        :: !linked && !failed && link_is_there(0) -> linked = true
        :: linked && !ran[0] -> ran[0] = true
        :: ran[0] && !is_done[0] && !failed &&
           wrote[1] && wrote[2] -> is_done[0] = true
        :: ran[0] && !is_done[0] && !failed && is_bereft() ->
           fail_0((process[0].dead[1] -> 2 : 3))
        :: failed -> goto ended /* it lingers, or not */
        :: !failed && is_done[0] && is_done[1] && is_done[2] ->
           if :: joined[1] -> down[1]!END(0) :: else fi;
           if :: joined[2] -> down[2]!END(0) :: else fi;
           goto ended
        od;
ended:
        end_of(0)
    } unless { !alive[0] }
}

/* 0 and its launcher have ended. Who has reached them before sees that soon, and
 * for who has not they are still there. */
bool nobody_listens;

/* The launcher of 1 or 2. */
proctype launcher(byte i)
{
    !alive[i];
#if !defined(FAULT_NO_NOTICE)
    if
    :: !told[i] ->
       stand_in[i] = (killed[i] -> GONE : FAILED);
       (stand_in[i] == NO || nobody_listens)
    :: else
    fi
#endif
}

#ifdef FAULT_TAKEN_FOR_COME
#define may_know(i) false
#define has_to_be_told(i) (!came[i] && !coming[i])
#else
#define may_know(i) (came[i] || coming[i])
#define has_to_be_told(i) (!came[i])
#endif

/* The launcher of 0. Whether others have ended it does not know. */
proctype first_launcher()
{
    !alive[0];
#if !defined(FAULT_NO_NOTICE) && !defined(FAULT_FIRST_PROCESS)
    do
    :: dial[1] == WAITS ->
       d_step { answer[1]!(killed[0] -> 1 : cause[0]); dial[1] = NO }
       came[1] = true
    :: dial[2] == WAITS ->
       d_step { answer[2]!(killed[0] -> 1 : cause[0]); dial[2] = NO }
       came[2] = true
    :: stand_in[1] != NO -> stand_in[1] = NO; came[1] = true
    :: stand_in[2] != NO -> stand_in[2] = NO; came[2] = true
    :: !has_to_be_told(1) && !has_to_be_told(2) -> break
    /* COMING_MS are over, as nothing else happens any more. */
    :: timeout && may_know(1) && may_know(2) -> break
    od;
#endif
    nobody_listens = true
}

inline kill(i)
{
    d_step {
        deaths_left > 0 && alive[i] ->
        deaths_left--;
        victim[i] = true;
        killed[i] = true;
        connections_close(i)
    }
}

proctype killer()
{
end:
    do
    :: kill(0)
    :: kill(1)
    :: kill(2)
    od
}

init
{
    atomic {
        run coordinator();
        run member(1);
        run member(2);
        run launcher(1);
        run launcher(2);
        run first_launcher();
        run killer()
    }
}
