/* schedule.h - marked places at which a test build disturbs the threads.
 *
 * A fault between two threads shows only when they meet in an order that is
 * rare. PASTSET_POINT marks the places where they meet; a build with
 * EVENTSPACE_SCHEDULE delays threads there, by a seed, so that rare orders
 * become usual ones. In other builds it is nothing at all.
 *
 * The seed is the environment variable EVENTSPACE_SCHEDULE, a number; without
 * it nothing is delayed. Each seed has some of the points delay often, some
 * now and then, and the rest never; and what a thread does at each depends on
 * the seed, the thread's name and how many points it has passed, so that the
 * same seed disturbs the same places again. */
#ifndef PASTSET_SCHEDULE_H
#define PASTSET_SCHEDULE_H

#ifdef EVENTSPACE_SCHEDULE

/* `name`: "file.place", a string that stays. Any thread; keeps errno. */
void pastset__schedule_point(const char *name);
#define PASTSET_POINT(name) pastset__schedule_point(name)

#else

#define PASTSET_POINT(name) ((void)0)

#endif

#endif
