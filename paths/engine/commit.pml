/* commit.pml - steps that threads commit, and going back to the last that all
 * have committed (commit.c, eventspace/launch/restart.c).
 *
 * Three threads do LAST steps each, and none begins one before all have
 * committed the last. What a thread has after a step it keeps, in an element
 * that has room for ROOM of these; then it commits. DEATHS times, at any moment,
 * all are killed and started again: also while they take what they had kept.
 *
 * Whoever goes back to a step must find what it had then, none may go back
 * behind what all had committed, and all come to the end. */
/* cc: -O1 -DSAFETY */
#define N 3
#define LAST 4
#define DEATHS 2
#ifdef FAULT_NO_ROOM
#define ROOM 1
#else
#define ROOM 2
#endif

mtype = {TAKE, TELL, STEP, KEEP, COMMIT};

#ifdef FAULT_COMMITTED_FIRST
#define AFTER_STEP COMMIT
#define AFTER_KEEP STEP
#define AFTER_COMMIT KEEP
#else
#define AFTER_STEP KEEP
#define AFTER_KEEP COMMIT
#define AFTER_COMMIT STEP
#endif
#ifdef FAULT_TOLD_FIRST /* of what was restored */
#define BEGIN TELL
#define AFTER_TELL TAKE
#define AFTER_TAKE STEP
#else
#define BEGIN TAKE
#define AFTER_TELL STEP
#define AFTER_TAKE TELL
#endif

mtype next[N] = BEGIN;
byte at[N]; /* the step that it is in, or was in last */

/* The space of its process. */
byte least[N], last[N]; /* of which steps there is what it kept; 0: none */
byte committed[N];      /* the last step; 0: none */

/* What is gone back to. */
byte from;
byte from_least[N], from_last[N];

byte deaths_left = DEATHS;
byte all_committed; /* the most that was ever so */

#define SMALLER(a, b) ((a) < (b) -> (a) : (b))
#define by_all SMALLER(committed[0], SMALLER(committed[1], committed[2]))

#ifdef FAULT_APART
#define may_step(t) (at[t] < LAST)
#else
#define may_step(t) (at[t] < LAST && by_all >= at[t])
#endif

inline move(t)
{
    if
    :: next[t] == TAKE ->
       assert(from == 0 || (from_least[t] <= from && from <= from_last[t]));
       least[t] = from;
       last[t] = from;
       next[t] = AFTER_TAKE
    :: next[t] == TELL ->
       committed[t] = from;
       at[t] = from;
       next[t] = AFTER_TELL
    :: next[t] == STEP && may_step(t) ->
       at[t]++;
       next[t] = AFTER_STEP
    :: next[t] == KEEP ->
       last[t] = at[t];
       if
       :: least[t] == 0 -> least[t] = 1
       :: else
       fi;
       if
       :: last[t] - least[t] >= ROOM -> least[t] = last[t] - ROOM + 1
       :: else
       fi;
       next[t] = AFTER_KEEP
    :: next[t] == COMMIT ->
       committed[t] = at[t];
       if
       :: by_all > all_committed -> all_committed = by_all
       :: else
       fi;
       next[t] = AFTER_COMMIT
    fi
}

inline forget(t)
{
    least[t] = 0;
    last[t] = 0;
    committed[t] = 0;
    at[t] = 0;
    next[t] = BEGIN
}

inline start_again()
{
    deaths_left--;
    if
    :: by_all > 0 ->
       from = by_all;
       from_least[0] = least[0];
       from_least[1] = least[1];
       from_least[2] = least[2];
       from_last[0] = last[0];
       from_last[1] = last[1];
       from_last[2] = last[2]
    :: else /* nothing that all have: what was gone back to before */
    fi;
    assert(from >= all_committed);
    forget(0);
    forget(1);
    forget(2)
}

#define is_over (by_all == LAST)

init
{
    do
    :: d_step { !is_over && (next[0] != STEP || may_step(0)) -> move(0) }
    :: d_step { !is_over && (next[1] != STEP || may_step(1)) -> move(1) }
    :: d_step { !is_over && (next[2] != STEP || may_step(2)) -> move(2) }
    :: d_step { !is_over && deaths_left > 0 -> start_again() }
    :: is_over -> break
    od
}
