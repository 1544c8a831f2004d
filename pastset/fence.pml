/* fence.pml - a reader that begins to wait, and a writer that takes no lock.
 *
 * Model of append.h (pastset_append_begin, pastset_append_end), append.c
 * (pastset__append_wake), queues.c (pastset__hold, pastset__settle) and
 * request.c (try_or_hold, meet_writer, pastset_cancel).
 *
 * The writer publishes a tuple by storing `last`, and then looks whether
 * `free_until` is 0, which says that readers are held. A reader is put into
 * the queue, stores 0 there, and then looks at `last` once more. Each may be
 * overtaken by its own look, as a store waits in the store buffer of its
 * processor; so the reader has the kernel empty both buffers (membarrier).
 *
 * There are two readers, as the second relies on what the first has done, and
 * one of them may give up. What must hold: no reader waits for ever for a tuple
 * that was written. Spin finds that as an invalid end state. */
/* cc: -DSAFETY */
/* pan: -m200000 */

#define TUPLES 2
#define READERS 2
#define NOBODY 255

byte last;         /* in memory; the buffered one is `last_own` */
byte last_own;     /* as the writer sees it */
bool short_way = true; /* free_until is not 0, in memory: nobody is held */
bool short_own = true;
byte short_by = NOBODY; /* whose store of it is in his buffer */
bool written;           /* the writer has ended */

byte lock_by = NOBODY;
bool held[READERS], done[READERS];
byte wanted[READERS];

/* Stores leave the buffers at any time, those of one thread in order. */
active proctype buffers()
{
end:
    do
    :: atomic { last < last_own -> last++ }
    :: atomic { short_by != NOBODY -> short_way = short_own; short_by = NOBODY }
    od
}

#define WRITER READERS /* its number */

inline lock(me)
{
    atomic { lock_by == NOBODY -> lock_by = me }
}

/* Whoever unlocks a mutex has his stores visible before that. */
inline unlock(me)
{
    atomic {
        if
        :: me == WRITER -> last = last_own
        :: else
        fi;
        if
        :: short_by == me -> short_way = short_own; short_by = NOBODY
        :: else
        fi;
        lock_by = NOBODY
    }
}

/* Under the lock: stores it, in the buffer. */
inline store_short(me, value)
{
    atomic {
        assert(short_by == NOBODY || short_by == me);
        short_own = value;
        short_by = me
    }
}

/* Completes what can be; under the lock, as d_step: nobody else looks at these
 * without it. `seen` is Last as the caller sees it. */
inline settle(me, seen)
{
    d_step {
        i = 0;
        do
        :: i < READERS ->
           if
           :: held[i] && wanted[i] < seen -> held[i] = false; done[i] = true
           :: else
           fi;
           i++
        :: else -> break
        od
    }
    i = 0;
    store_short(me, !held[0] && !held[1])
}

active proctype writer()
{
    byte i, n = 0;
    bool look;

    do
    :: n < TUPLES ->
       n++;
       if
       :: !short_way -> /* append_begin: there is no short way */
          lock(WRITER);
          last_own++;
          settle(WRITER, last_own);
          unlock(WRITER)
       :: short_way ->
#ifdef FAULT_LOOK_FIRST
          look = !short_way;
          last_own++;
#else
          last_own++; /* into the buffer */
          look = !short_way;
#endif
          if
          :: look ->
             lock(WRITER);
             settle(WRITER, last_own);
             unlock(WRITER)
          :: else
          fi
       fi
    :: else -> break
    od;
    written = true
}

/* Is free_until not 0, for who has the lock? */
#define SHORT_SEEN(me) (short_by == me -> short_own : short_way)

inline meet_writer(me)
{
    if
    :: SHORT_SEEN(me) ->
#ifdef FAULT_FENCE_BEFORE_STORE
       last = last_own;
       store_short(me, false);
#else
       store_short(me, false);
#ifdef FAULT_NO_FENCE
       skip;
#else
#ifdef FAULT_FENCE_OF_READER_ONLY
       atomic { short_way = short_own; short_by = NOBODY };
#else
#ifdef FAULT_FENCE_OF_WRITER_ONLY
       last = last_own;
#else
       /* membarrier: the caller's buffer, and then that of the writer. */
       atomic { short_way = short_own; short_by = NOBODY };
       last = last_own;
#endif
#endif
#endif
#endif
    :: else
    fi;
#ifndef FAULT_NO_LOOK
    seen = last;
    settle(me, seen)
#endif
}

proctype reader(byte me)
{
    byte i, seen;

    lock(me);
    select (i : 0 .. TUPLES - 1);
    wanted[me] = i;
    seen = last;
    if
    :: seen > wanted[me] -> done[me] = true; unlock(me)
    :: else ->
       held[me] = true;
       meet_writer(me);
       unlock(me);
       if
       :: done[me]
       :: me == 1 -> /* its deadline passes: it gives up */
          lock(me);
          if
          :: held[me] ->
             held[me] = false;
#ifdef FAULT_CANCEL_FORGETS_OTHERS
             store_short(me, true)
#else
             store_short(me, !held[0] && !held[1])
#endif
          :: else
          fi;
          unlock(me);
          done[me] = true
       fi
    fi
}

init {
    atomic { run reader(0); run reader(1) }
}
