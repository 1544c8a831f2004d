/* collective.pml - a model of the rounds of a collective: collective.c and
 * collective_fail.c, with the gate. Checked by tests/models/check.sh.
 *
 * N ways in, by which K operations come one after the other. Way 0 waits at
 * the gate, has no deadlines, and comes once less. The ways between wait at
 * the gate too, with deadlines at times. The last way's operations do not wait
 * at the gate, each is run by a thread of its own, and it begins the next as
 * soon as the round of the one before is over. Any operation may bring an
 * error, any round fail below, and at any moment somebody may close it all.
 *
 * What holds: the operation k of a way is of round k + 1 and of no other,
 * whatever fails; all who are in a round get a result, or all get an error; a
 * round is complete when all have come, and only then; each operation is
 * completed once; nobody writes the buffer while a result is taken from it;
 * and (as there is no invalid end state) whoever has a deadline, or is closed,
 * comes back.
 *
 * Threads see each other's stores in order, but later. It matters where one
 * stores and then looks: the carrier's stores of `state` and of the gate go
 * through a buffer. All other stores are followed by an exchange or the lock.
 *
 * Faults that were there, or could be:
 *   FAULT_GENERATION  the exchange does not look at the round
 *   FAULT_PRESENCE    who has come is told by the gate, not by the state
 *   FAULT_SETTLE      a new round fails before the gate of the last is open
 *   FAULT_OWES        who owes a contribution counts as come
 *   FAULT_DROPPED     who is dropped may be of the round before the one that fails
 *   FAULT_SEEN        whether an operation was seen is told by its contribution
 *   FAULT_RELEASING   the buffer is written while a result is taken from it
 *   FAULT_REFUSED     one is refused as it is closed, and the next one counted
 *   FAULT_FENCE       who closes does not have the carrier's stores flushed */
/* cc: -O1 -DSAFETY -DVECTORSZ=1024 */
/* pan: -m1000000 -w24 */
/* FAULT_OWES: -DK=3 -DGATED */
/* with: -DK=2 */
/* with: -DK=3 -DGATED */
#define N 2
#ifdef GATED /* the last way too; way 0 comes once less */
#define ASYNC N
#define OPS_0 (K - 1)
#else
#define ASYNC (N - 1)
#define OPS_0 K
#endif

#define NONE 0
#define RESULT 1
#define ERROR 2

/* The state, and the gate. */
byte round = 1, come;
bit slow, some_others;
byte gate;
bit store_state, store_gate; /* of the carrier, still in its buffer */

/* Contributions. A round that is far from any: 0. */
byte c_round[N + 1], c_op[N + 1], c_owes[N + 1], c_failed[N + 1];
bit c_error[N + 1], c_gated[N + 1], c_member[N + 1];

/* Under the lock, but for `closed`. */
bit lock, failing, closed;
byte late;

bit releasing, buffer_read;

/* What became of rounds, and of operations. */
byte fate[K + 4];
byte verdict[(N + 1) * K];
bit is_held[K]; /* of the last way: its thread has come back from it */

#ifdef FAULT_OWES
#define HAS_COME(j) (c_round[j] == round)
#else
#define HAS_COME(j) (c_round[j] == round && c_owes[j] == 0)
#endif
#ifdef FAULT_PRESENCE
#define IS_PRESENT(j) (c_round[j] == gate + 1 && c_owes[j] == 0)
#else
#define IS_PRESENT(j) HAS_COME(j)
#endif
#define FLUSHED (!store_state && !store_gate)

inline complete(j, k, what)
{
    d_step {
        assert(verdict[(j) * K + (k)] == NONE);
        verdict[(j) * K + (k)] = what;
        assert(what == ERROR || fate[(k) + 1] == RESULT);
        assert(what == RESULT || closed || fate[(k) + 1] == ERROR)
    }
}

inline take_lock()
{
    atomic { (!lock && (!stored || FLUSHED)) -> lock = 1; stored = 0 }
}

/* `ok`: it is set. Else all have come. */
inline slow_set()
{
    d_step {
        if
        :: come == N -> ok = 0
        :: else -> slow = 1; ok = 1
        fi
    }
#if !defined(FAULT_SETTLE) && !defined(FAULT_PRESENCE)
    if
    :: ok -> (gate + 1 == round)
    :: else
    fi
#endif
}

inline slow_unset()
{
    if
    :: !late && !failing && !closed -> slow = 0
    :: else
    fi
}

/* The lock is given back between the two halves. `self`: the carrier's way, or
 * N. */
inline release_failed(self, k)
{
    skip;
    d_step {
        list = 0;
        j = 0;
        do
        :: j < N ->
            if
            :: (failing && c_member[j]) || (!failing && IS_PRESENT(j)) ->
                c_member[j] = 0;
                c_failed[j] = round;
                c_error[j] = 1;
                if
                :: j == ASYNC && !(self == j && c_op[j] == k) ->
                    list = 1;
                    list_op = c_op[j]
                :: else
                fi
            :: else
            fi;
            j++
        :: else -> break
        od;
        j = 0;
        assert(fate[round] == NONE);
        assert(gate + 1 == round);
        fate[round] = ERROR;
        failing = 0;
        round++;
        come = 0;
        some_others = 0;
        slow = (late || closed -> 1 : 0)
    }
    gate++;
    lock = 0;
    if
    :: list -> complete(ASYNC, list_op, ERROR); list = 0; list_op = 0
    :: else
    fi
}

/* `there`: the operation k of that way must be of the round that fails. */
inline fail(own, there, k)
{
    ok = 0;
    if
    :: failing || closed
    :: else ->
        slow_set();
#ifndef FAULT_DROPPED
        if
        :: ok && there && !(HAS_COME(own) && c_op[own] == k) -> ok = 0; slow_unset()
        :: else
        fi;
#endif
        if
        :: !ok
        :: else ->
            missing = 0;
            j = 0;
            do /* one look at each */
            :: j < N ->
                atomic {
                    c_member[j] = (HAS_COME(j) -> 1 : 0);
                    missing = missing + 1 - c_member[j];
                    j++
                }
            :: else -> break
            od;
            skip;
            d_step {
                failing = (missing -> 1 : 0);
                ok = failing;
                j = 0;
                do
                :: j < N ->
                    if
                    :: !ok -> c_member[j] = 0
                    :: ok && !c_member[j] && j != own ->
                        late = late + (c_owes[j] == 0 -> 1 : 0);
                        c_owes[j]++
                    :: else
                    fi;
                    j++
                :: else -> break
                od;
                j = 0;
                missing = 0;
                slow_unset()
            }
        fi
    fi
}

inline pay(i)
{
    c_owes[i]--;
    if
    :: c_owes[i] == 0 ->
        late--;
        slow_unset()
    :: else
    fi
}

inline close_now()
{
    take_lock();
    ok = 0;
    if
    :: failing
    :: else -> slow_set()
    fi;
    if
    :: ok -> ok = 0; release_failed(N, 0)
    :: else -> lock = 0
    fi
}

/* The carrier comes up with an error. */
inline failed(i, k)
{
    take_lock();
    release_failed(i, k);
    complete(i, k, ERROR)
}

/* The carrier comes up with a result. */
inline release(i, k)
{
    skip;
    d_step {
        assert(fate[round] == NONE);
        fate[round] = RESULT;
        list = 0;
        others = some_others;
        if
        :: others -> releasing = 1; buffer_read = 1
        :: else
        fi;
        if
        :: others && i != ASYNC -> list = 1; list_op = c_op[ASYNC]
        :: else
        fi;
        store_state = 1;
        store_gate = 1;
        stored = 1
    }
    if
    :: list -> FLUSHED; complete(ASYNC, list_op, RESULT); list = 0; list_op = 0
    :: else
    fi;
    if
    :: closed -> close_now()
    :: else
    fi;
    if
    :: i == ASYNC -> FLUSHED /* it takes a lock, or sends */
    :: else
    fi;
    complete(i, k, RESULT);
    if
    :: others -> FLUSHED; d_step { buffer_read = 0; releasing = 0; others = 0 }
    :: else
    fi
}

/* All have come. */
inline go_on(i, k)
{
#ifndef FAULT_RELEASING
    !releasing;
#endif
    skip;
    d_step {
        assert(!buffer_read);
        j = 0;
        do
        :: j < N ->
            assert(c_round[j] == round && c_op[j] + 1 == round);
            j++
        :: else -> break
        od;
        j = 0
    }
    if
    :: release(i, k)
    :: failed(i, k)
    fi
}

#define WAIT 0
#define GO_ON 1
#define REFUSED 2
#define SLOWLY 3
#define FAILED 4

inline contribute(i, k)
{
    d_step { c_op[i] = k; c_error[i] = 0; c_gated[i] = (i != ASYNC -> 1 : 0) }
    c_round[i] = r
}

inline join_failing(i, k)
{
    r = round;
    contribute(i, k);
    c_member[i] = 1;
    if
    :: c_owes[i] -> pay(i)
    :: else
    fi;
    how = WAIT
}

inline refuse(i)
{
    if
    :: c_owes[i] -> pay(i)
    :: else
    fi;
#ifndef FAULT_REFUSED
    if
    :: closed -> slow_set()
    :: else
    fi;
#endif
    c_round[i] = 0;
    how = REFUSED
}

inline count(i)
{
    come++;
    some_others = (i == ASYNC -> 1 : some_others);
    how = (come == N -> GO_ON : WAIT)
}

#ifdef FAULT_SEEN
#define WAS_SEEN(i) (c_round[i] != r || c_error[i] || (failing && c_member[i]))
#else
#define WAS_SEEN(i)                                                            \
    (c_failed[i] == r || (failing && c_member[i]) || c_round[i] != r)
#endif
#ifdef FAULT_GENERATION
#define IS_ROUND true
#else
#define IS_ROUND (round == r)
#endif

inline come_slowly(i, k)
{
    take_lock();
    if
    :: WAS_SEEN(i) -> how = WAIT
    :: else ->
        if
        :: failing && c_owes[i] <= 1 -> join_failing(i, k)
        :: (closed || c_owes[i]) && !(failing && c_owes[i] <= 1) -> refuse(i)
        :: else ->
            r = round;
            contribute(i, k);
            atomic { count(i) }
        fi
    fi;
    lock = 0
}

inline come_well(i, k)
{
    r = round;
    contribute(i, k);
    atomic {
        if
        :: IS_ROUND && !slow -> count(i)
        :: else -> how = SLOWLY
        fi
    }
    if
    :: how == SLOWLY -> come_slowly(i, k)
    :: else
    fi
}

inline come_spoilt(i, k)
{
    take_lock();
    if
    :: failing && c_owes[i] <= 1 -> join_failing(i, k)
    :: else ->
        if
        :: closed -> refuse(i)
        :: !closed && c_owes[i] -> pay(i); how = REFUSED
        :: !closed && !c_owes[i] && failing -> how = REFUSED
        :: else ->
            fail(i, false, 0);
            assert(ok);
            how = FAILED
        fi
    fi;
    lock = 0
}

inline operate(i, k)
{
    if
    :: come_well(i, k)
    :: come_spoilt(i, k)
    fi;
    if
    :: how == GO_ON -> go_on(i, k)
    :: how == FAILED -> failed(i, k)
    :: how == REFUSED -> complete(i, k, ERROR)
    :: how == WAIT
    fi
}

/* Threads that wait at the gate. */
proctype Gated(byte i; byte ops)
{
    byte k, r, how, j, missing, list_op;
    bit ok, list, others, stored, timed, given_up;

    do
    :: k < ops ->
        (!stored || FLUSHED);
        stored = 0;
        /* Whoever is alone in the end has a deadline. */
        if
        :: i > 0 -> timed = 1
        :: i == 0 || k < K - 1 -> timed = 0
        fi;
        given_up = 0;
        operate(i, k);
        if
        :: how == WAIT ->
            do
            :: gate != r - 1 ->
                complete(i, k, (c_error[i] -> ERROR : RESULT));
                break
            :: gate == r - 1 && timed && !given_up ->
                given_up = 1;
                take_lock();
                ok = 0;
                if
                :: HAS_COME(i) -> fail(i, true, k)
                :: else
                fi;
                lock = 0;
                if
                :: ok -> failed(i, k); break
                :: else
                fi
            od
        :: else
        fi;
        skip;
        d_step { k++; r = 0; how = 0; ok = 0; timed = 0; given_up = 0 }
    :: else -> break
    od
}

/* An operation that does not wait at the gate. */
proctype Other(byte k)
{
    byte r, how, j, missing, list_op;
    bit ok, list, others, stored;

    /* The one before is complete; or it is held, and its round over. */
    (k == 0 || verdict[ASYNC * K + k - 1] != NONE ||
     (is_held[k - 1] && c_round[ASYNC] != round));
    operate(ASYNC, k);
    is_held[k] = 1
}

/* The deadline of what does not wait at the gate: the network loop's work. */
proctype Loop()
{
    byte k, j, missing, list_op;
    bit ok, list, stored;

end_loop:
    do
    :: k < K && c_round[ASYNC] == round && c_op[ASYNC] == k &&
       verdict[ASYNC * K + k] == NONE ->
        take_lock();
        ok = 0;
        if
        :: HAS_COME(ASYNC) && c_op[ASYNC] == k -> fail(ASYNC, true, k)
        :: else
        fi;
        lock = 0;
        if
        :: ok -> ok = 0; failed(ASYNC, k); k++
        :: else /* and again */
        fi
    :: k < K && verdict[ASYNC * K + k] != NONE -> k++
    od
}

proctype Closer()
{
    byte j, list_op;
    bit ok, list, stored;

    take_lock();
    closed = 1;
    lock = 0;
#ifndef FAULT_FENCE
    FLUSHED;
#endif
    close_now()
}

/* The carrier's buffer: in order, at any time. */
proctype Buffer()
{
end_buffer:
    do
    :: atomic {
           store_state -> round++; come = 0; some_others = 0; slow = 0;
           store_state = 0
       }
    :: atomic { !store_state && store_gate -> gate++; store_gate = 0 }
    od
}

/* Nothing moves any more. */
proctype End()
{
    byte k;

    timeout;
    d_step {
        do
        :: k < K ->
            assert(k >= OPS_0 || verdict[k] != NONE);
            assert(verdict[K + k] != NONE);
            k++
        :: else -> break
        od
    }
}

init
{
    byte i;

    atomic {
        run Buffer();
        run Gated(0, OPS_0);
        i = 1;
        do
        :: i < N && i < ASYNC -> run Gated(i, K); i++
        :: else -> break
        od;
#ifndef GATED
        i = 0;
        do
        :: i < K -> run Other(i); i++
        :: else -> break
        od;
        run Loop();
#endif
        run End();
        if
        :: run Closer()
        :: skip
        fi
    }
}
