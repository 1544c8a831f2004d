/* ledger.pml - First and the counts of what is gone, which are kept twice.
 *
 * Model of change.c (ledger_store, first_move, take_hole, consume_oldest),
 * pastset__ledger_load and read.c (is_hole). One process consumes, under the
 * lock of the element; others look at any moment, and once it is killed.
 *
 * Two kinds of elements: in the one (`bare`) a writer that takes no lock
 * appends, and what it discards by that follows from its count; in the other
 * tuples can be taken from the middle, and their slots are marked.
 *
 * Stores become visible in any order but where a fence or a release store says
 * otherwise, as in element.pml. A kill lets the stores become visible that were
 * done before.
 *
 * What must hold: who looks finds counts of one moment; and after a kill the
 * tuples that can be read are as many as the counts say. */
/* cc: -DSAFETY */
/* pan: -E -m200000 */

#define TUPLES 3   /* there from the beginning */
#define MORE 3     /* appended, where `bare` */
#define CAPACITY 3 /* the same */
#define CHANGES 3

bool bare;

/* Visible to all. */
byte version;
byte first[2], consumed[2], dropped[2], hole[2];
bool marked[TUPLES];
byte last = TUPLES;

/* What waits in the consumer's buffer. */
bool version_waits, first_waits, consumed_waits, dropped_waits, hole_waits;
byte to, version_new, first_new, consumed_new, dropped_new, hole_new;
byte mark_waits = 255; /* which slot's */
bool killed;

/* The part of the buffer that belongs to a copy of the ledger. */
#define COPY_VISIBLE                                                           \
    (!first_waits && !consumed_waits && !dropped_waits && !hole_waits)

proctype buffer()
{
end:
    do
    :: atomic { version_waits -> version = version_new; version_waits = false }
    :: atomic { first_waits -> first[to] = first_new; first_waits = false }
    :: atomic { consumed_waits -> consumed[to] = consumed_new;
                consumed_waits = false }
    :: atomic { dropped_waits -> dropped[to] = dropped_new;
                dropped_waits = false }
    :: atomic { hole_waits -> hole[to] = hole_new; hole_waits = false }
    :: atomic { mark_waits != 255 -> marked[mark_waits] = true;
                mark_waits = 255 }
    od
}

proctype writer()
{
    do
    :: atomic { !killed && last < TUPLES + MORE -> last++ } /* release */
    :: break
    od
}

/* ledger_store: the other copy, and then the version that makes it valid. */
inline ledger_store(f, c, d, h)
{
#ifdef FAULT_VERSION_FIRST
    atomic { !killed && COPY_VISIBLE && !version_waits ->
             version_new = now + 1; version_waits = true };
#endif
#ifndef FAULT_NO_FENCE
    !killed && !version_waits; /* release fence */
#endif
    atomic {
        !killed && COPY_VISIBLE -> /* one store to each waits at a time */
#ifdef FAULT_IN_PLACE
        to = now % 2;
#else
        to = (now + 1) % 2;
#endif
        first_new = f; consumed_new = c; dropped_new = d; hole_new = h;
    };
    atomic { !killed -> first_waits = true };
    atomic { !killed -> consumed_waits = true };
    atomic { !killed -> dropped_waits = true };
    atomic { !killed -> hole_waits = true };
#ifndef FAULT_VERSION_FIRST
#ifndef FAULT_NO_RELEASE
    !killed && COPY_VISIBLE && mark_waits == 255; /* release store */
#endif
    atomic { !killed && !version_waits ->
             version_new = now + 1; version_waits = true };
#endif
    now++
}

inline mark(index)
{
    atomic { !killed && mark_waits == 255 -> mark_waits = index;
             gone[index] = true }
}

proctype consumer()
{
    /* As it knows them, who alone changes them. */
    byte now = 0, f = 0, c = 0, d = 0, done = 0, i, seen;
    bool gone[TUPLES];

    do
    :: done < CHANGES && bare -> /* consume_oldest: the oldest that is there */
       seen = last;
       i = (seen > CAPACITY && seen - CAPACITY > f -> seen - CAPACITY : f);
       if
       :: i < seen ->
          d = d + i - f;
          c++;
          f = i + 1;
          ledger_store(f, c, d, 0)
       :: else
       fi;
       done++
    :: done < CHANGES && !bare && f < TUPLES ->
       atomic { select (i : f .. TUPLES - 1) };
       if
       :: gone[i] /* taken before: looks for another */
       :: !gone[i] && i == f -> /* first_move */
          f++;
          do
          :: f < TUPLES -> if :: gone[f] -> f++ :: else -> break fi
          :: else -> break
          od;
          c++;
          ledger_store(f, c, d, 0)
       :: !gone[i] && i > f -> /* take_hole */
          c++;
#ifdef FAULT_MARKS_FIRST
          mark(i);
          ledger_store(f, c, d, 0)
#else
#ifdef FAULT_NO_HOLE
          ledger_store(f, c, d, 0);
#else
          ledger_store(f, c, d, i + 1);
#endif
          mark(i)
#endif
       fi;
       done++
    :: else -> break
    od
}

/* pastset__ledger_load, by another process that looks while all goes on. */
proctype looker()
{
    byte v, f, c, d, l;

    do
    :: v = version;
       f = first[v % 2];
       c = consumed[v % 2];
       d = dropped[v % 2];
       l = last;
#ifndef FAULT_DOES_NOT_LOOK_AGAIN
       if
       :: version == v -> break
       :: else
       fi
#else
       break
#endif
    od;
    assert(c + d <= l);
    assert(bare -> f == c + d : f <= c + d)
}

/* The consumer is killed; then somebody opens the file. */
proctype killer()
{
    byte copy, i, found, gone_by_count;

    killed = true;
    COPY_VISIBLE && !version_waits && mark_waits == 255;
    d_step {
        copy = version % 2;
        gone_by_count = consumed[copy] + dropped[copy];
        i = first[copy];
        if
        :: bare ->
           if
           :: last > CAPACITY && last - CAPACITY > i ->
              gone_by_count = gone_by_count + last - CAPACITY - i;
              i = last - CAPACITY
           :: else
           fi;
           found = last - i
        :: else ->
           do
           :: i < TUPLES ->
              if
              :: !marked[i] && hole[copy] != i + 1 -> found++
              :: else
              fi;
              i++
           :: else -> break
           od
        fi
    };
    assert(found == last - gone_by_count)
}

init {
    atomic {
        if
        :: bare = true
        :: bare = false
        fi;
        run buffer();
        if
        :: bare -> run writer()
        :: else
        fi;
        run consumer();
        if /* they change nothing, so that one at a time is enough */
        :: run looker()
        :: run killer()
        fi
    }
}
