/* succession.pml - the coordinator dies, and the next process takes its place
 * (member.c, join.c).
 *
 * Three processes, which have all joined 0. Each has a thread that ends at some
 * time. Up to DEATHS of them are killed, at any moment: also while END is being
 * said. Whoever takes F for the coordinator has a connection to it, or makes
 * one; F may take itself for that only later.
 *
 * Those that are not killed must all end, which spin reports as an invalid end
 * state if they do not, and nobody may end while one that lives is not done.
 * That a process did not come in time stands for that it has died: times are
 * chosen such that it has. */
/* cc: -O1 -DSAFETY */
#define N 3
#define DEATHS 2

mtype = {DONE, END, NONE, OPEN, CLOSED};

/* Of the connection of m to f: what is under way, and how it stands. It is
 * closed when one of the two has ended, after what has come before is read. */
#define OF(f, m) ((f) * N + (m))
chan up[9] = [2] of {mtype};
chan down[9] = [2] of {mtype};
mtype link[9] = NONE;

bool alive[N] = true;
bool done[N];
byte deaths_left = DEATHS;

/* As each process knows. */
typedef knows { bool dead[N]; bool done[N] };
knows process[N];

inline close_one(f, m)
{
    if
    :: link[OF(f, m)] == OPEN -> link[OF(f, m)] = CLOSED
    :: else
    fi
}

inline leave(i)
{
    d_step {
        alive[i] = false;
        if
        :: i == 0 -> close_one(0, 1); close_one(0, 2)
        :: i == 1 -> close_one(0, 1); close_one(1, 2)
        :: i == 2 -> close_one(0, 2); close_one(1, 2)
        fi
    }
}

#define lives(m) (alive[m] && !done[m])
#ifdef FAULT_DEAD_NOT_DONE /* those that died before it took over */
#define is_over(i, m)                                                          \
    ((m) == (i) || process[i].done[m] || (process[i].dead[m] && (m) > (i)))
#else
#define is_over(i, m)                                                          \
    ((m) == (i) || process[i].done[m] || process[i].dead[m])
#endif

/* What i does with m, which stands behind it in the map. */
inline hear(i, m)
{
    up[OF(i, m)]?DONE;
#ifdef FAULT_CANDIDATE_FORGOTTEN
    if
    :: first == i -> process[i].done[m] = true
    :: else
    fi
#else
    process[i].done[m] = true
#endif
}

inline say_end(i, m)
{
    if
    :: i < m && link[OF(i, m)] == OPEN -> down[OF(i, m)]!END
    :: else
    fi
}

/* Those before it are dead as well. */
inline next_first(i)
{
    d_step {
        process[i].dead[first] = true;
        first++
    }
}

proctype run_process(byte i)
{
    byte first = 0;

    {
        do
        :: !done[i] ->
           done[i] = true;
           if
           :: first != i && link[OF(first, i)] == OPEN ->
              up[OF(first, i)]!DONE
           :: else
           fi
        /* those behind it */
        :: i < 1 && nempty(up[OF(i, 1)]) -> hear(i, 1)
        :: i < 2 && nempty(up[OF(i, 2)]) -> hear(i, 2)
        :: first == i && i < 1 && !process[i].dead[1] && empty(up[OF(i, 1)]) &&
           (link[OF(i, 1)] == CLOSED ||
            (link[OF(i, 1)] == NONE && !alive[1])) -> process[i].dead[1] = true
        :: first == i && i < 2 && !process[i].dead[2] && empty(up[OF(i, 2)]) &&
           (link[OF(i, 2)] == CLOSED ||
            (link[OF(i, 2)] == NONE && !alive[2])) -> process[i].dead[2] = true
        /* the coordinator */
        :: first == i && done[i] && is_over(i, 0) && is_over(i, 1) &&
           is_over(i, 2) ->
           assert(!lives(0) && !lives(1) && !lives(2));
           say_end(i, 1);
           say_end(i, 2);
           break
        /* a member */
        :: first != i && nempty(down[OF(first, i)]) ->
           down[OF(first, i)]?END;
           break
        :: first != i && link[OF(first, i)] == CLOSED &&
           empty(down[OF(first, i)]) -> next_first(i)
        :: first != i && link[OF(first, i)] == NONE ->
           if
           :: atomic { alive[first] -> link[OF(first, i)] = OPEN };
#ifndef FAULT_NOT_TOLD_AGAIN
              if
              :: done[i] -> up[OF(first, i)]!DONE
              :: else
              fi
#endif
           :: !alive[first] -> next_first(i)
           fi
        od;
        leave(i)
    } unless { !alive[i] }
}

inline kill(i)
{
    atomic {
        deaths_left > 0 && alive[i] ->
        deaths_left--;
        leave(i)
    }
}

proctype killer()
{
end:
    do
    :: kill(0)
    :: kill(1)
    :: kill(2)
    :: deaths_left > 0 -> deaths_left = 0 /* no more */
    od
}

init
{
    atomic {
        link[OF(0, 1)] = OPEN;
        link[OF(0, 2)] = OPEN;
        run run_process(0);
        run run_process(1);
        run run_process(2);
        run killer()
    }
}
