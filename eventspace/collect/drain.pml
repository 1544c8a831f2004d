/* drain.pml - trace tuples that move from a lane into a file, and who reads
 * them meanwhile.
 *
 * Model of drain.c (stream_empty, drain_run), collector.c (write_slowly) and
 * streams.c (eventspace_stream_count, eventspace_stream_read). A collector writes
 * into a lane of policy block, which is full after two tuples; the drain copies
 * what is there into an element of the file, and then truncates the lane. What
 * one of these steps does inside of an element is in element.pml and
 * ledger.pml, and how the drain is woken in waiter.pml.
 *
 * The two stores of the drain, the count of the file and First of the lane,
 * become visible in their order, as the second is a release store.
 *
 * What must hold: each tuple that was written is in the lane or in the file,
 * whenever the process is killed; a reader counts and finds all of them; the
 * collector never waits for ever, although the drain looks by itself only once
 * here, and not after each pause. */
/* cc: -DSAFETY */
/* pan: -m200000 */

#define CAPACITY 2
#define TUPLES 5
#define PAUSES 1

byte last, first; /* of the lane */
byte in_file;     /* tuples of the file, as others see it */
byte copied;      /* the same, as the drain does */
bool file_waits;  /* its store is in the drain's buffer */
bool held;        /* the collector is held by the lane */
bool woken;       /* the drain's waiter */

active proctype buffer()
{
end:
    do
    :: atomic { file_waits -> in_file = copied; file_waits = false }
    od
}

active proctype collector()
{
    do
    :: last < TUPLES ->
       if
       :: atomic { last - first < CAPACITY -> last++ }
       :: atomic { last - first >= CAPACITY -> skip }; /* it would wait */
          woken = true;
          if /* again, and now it waits */
          :: atomic { last - first < CAPACITY -> last++ }
          :: atomic { last - first >= CAPACITY -> held = true };
             !held
          fi
       fi
    :: else -> break
    od
}

/* Truncating settles the lane: who waits for room writes. */
inline truncate(to)
{
    atomic {
        first = to;
        if
        :: held && last - first < CAPACITY -> last++; held = false
        :: else
        fi
    }
}

active proctype drain()
{
    byte cursor = 0, pauses = 0;

end:
    do
    :: woken || pauses < PAUSES ->
       if
       :: woken
       :: pauses < PAUSES -> pauses++
       fi;
#ifndef FAULT_REARMS_AFTERWARDS
       woken = false;
#endif
       do
       :: cursor < last ->
#ifdef FAULT_TRUNCATES_FIRST
          truncate(cursor + 1);
#endif
          !file_waits;
          atomic { copied++; file_waits = true };
          cursor++
       :: else -> break
       od;
#ifndef FAULT_RELAXED
       !file_waits; /* release */
#endif
#ifdef FAULT_TRUNCATES_ALL
       truncate(last);
#else
       truncate(cursor);
#endif
#ifdef FAULT_REARMS_AFTERWARDS
       woken = false
#endif
    od
}

#define LESSER(a, b) ((a) < (b) -> (a) : (b))
#define GREATER(a, b) ((a) > (b) -> (a) : (b))

/* eventspace_lane_count; the lane's ledger is of one moment. */
proctype counter()
{
    byte f, l, file, drained, beyond;

#ifdef FAULT_COUNTS_THE_FILE_FIRST
    file = in_file;
    atomic { l = last; f = first };
#else
    atomic { l = last; f = first };
    file = in_file;
#endif
    drained = LESSER(file, l);
    beyond = GREATER(f, drained);
    beyond = LESSER(beyond, l);
    assert(drained + LESSER(l - beyond, l - f) == l)
}

/* eventspace_lane_read: a walk by index. */
proctype reader()
{
    byte index, f, l, file;

    do
    :: index < TUPLES ->
#ifdef FAULT_READS_THE_FILE_FIRST
       file = in_file;
       atomic { l = last; f = first };
#else
       atomic { l = last; f = first };
       file = in_file;
#endif
       if
       :: index >= f && index < l -> index++ /* from the lane */
       :: else ->
          if
          :: index < file -> index++ /* from the file */
          :: else -> assert(index >= l) /* it is not written yet */
          fi
       fi
    :: else -> break
    od
}

/* The process is killed, and what it has stored becomes visible. */
proctype killer()
{
    d_step { assert(copied >= first && first <= last) }
}

/* They change nothing, so that one of them at a time is enough. */
init {
    if
    :: run counter()
    :: run reader()
    :: run killer()
    fi
}
