/* element.pml - tuples that are read without a lock while they are overwritten.
 *
 * Model of append.h (pastset_append_begin, pastset_append_end) and read.c
 * (pastset__copy_out, still_there). A slot has two words, which a reader copies
 * one by one. The writer is one that discards: whoever waits for room overwrites
 * the same slots later, and those with a lock have it instead of being one.
 *
 * Stores become visible in any order, as on processors that promise less than
 * x86: each waits in a buffer that is emptied at any time. A release store, and
 * a store behind a release fence, waits until the ones before it are visible.
 * Loads are in order, as acquire makes them, but for the words of a slot.
 *
 * What must hold: a copy that its reader accepts is that of the tuple he asked
 * for. To kill the writer at any point is nothing else than not to let him go
 * on, and is in here too. */
/* cc: -DSAFETY */
/* pan: -m200000 */

#define CAPACITY 2
#define TUPLES 6
#ifdef FAULT_ONE_SLOT_FEWER
#define SLOTS CAPACITY
#else
#define SLOTS (CAPACITY + 1)
#endif
#define WORDS 2

/* Visible to all. Both words of tuple i are i + 1. */
byte slots[6]; /* SLOTS times WORDS */
byte last;

/* The writer's buffer. */
bool word_waits[WORDS], last_waits;
byte word_at, word_value, last_value;

active proctype buffer()
{
end:
    do
    :: atomic { word_waits[0] -> slots[word_at] = word_value;
                word_waits[0] = false }
    :: atomic { word_waits[1] -> slots[word_at + 1] = word_value;
                word_waits[1] = false }
    :: atomic { last_waits -> last = last_value; last_waits = false }
    od
}

#define PAYLOAD_VISIBLE (!word_waits[0] && !word_waits[1])

inline store_last(value)
{
    atomic { !last_waits -> last_value = value; last_waits = true }
}

active proctype writer()
{
    byte next = 0;

    do
    :: next < TUPLES ->
#ifndef FAULT_NO_FENCE_BEFORE_FILLING
       !last_waits; /* release fence: the count that retires the old tuple */
#endif
       atomic {
           PAYLOAD_VISIBLE -> /* one store to a word waits at a time */
           word_at = (next % SLOTS) * WORDS;
           word_value = next + 1
       };
#ifdef FAULT_PUBLISHES_FIRST
       store_last(next + 1);
       word_waits[0] = true;
       word_waits[1] = true;
#else
       word_waits[0] = true;
       word_waits[1] = true;
#ifndef FAULT_NO_RELEASE
       PAYLOAD_VISIBLE; /* release store of the count */
#endif
       store_last(next + 1);
#endif
       next++
    :: else -> break
    od
}

/* First, as it follows from the count. */
#define FIRST_GIVEN(l) ((l) > CAPACITY -> (l) - CAPACITY : 0)

/* One is enough: readers change nothing. */
active proctype reader()
{
    byte index, x, y, oldest, seen;

    seen = last;
    oldest = FIRST_GIVEN(seen);
    if
    :: oldest < seen ->
       atomic { select (index : oldest .. seen - 1) };
#ifdef FAULT_CHECKS_BEFORE_COPYING
       seen = last;
#endif
       if
       :: x = slots[(index % SLOTS) * WORDS];
          y = slots[(index % SLOTS) * WORDS + 1]
       :: y = slots[(index % SLOTS) * WORDS + 1];
          x = slots[(index % SLOTS) * WORDS]
       fi;
#ifndef FAULT_CHECKS_BEFORE_COPYING
#ifndef FAULT_DOES_NOT_CHECK
       seen = last; /* still_there */
#endif
#endif
       if
       :: index >= FIRST_GIVEN(seen) ->
          assert(x == index + 1 && y == index + 1)
       :: else /* gone meanwhile: he throws it away */
       fi
    :: else /* nothing is there */
    fi
}
