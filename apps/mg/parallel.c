/* parallel.c - a thread of `mg`: on each shared level some planes, and all of
 * the coarser ones (slab.h).
 *
 * Before an operator looks at the planes below and above, the thread exchanges
 * planes with both neighbours: it writes its first one to the thread below and
 * its last one to the thread above, and observes theirs. On a level that is
 * not shared these are copied. Between the coarsest shared level and the next,
 * the residual is gathered: `coarse` gives all blocks to all threads.
 *
 * The operators work on the same numbers in the same order as in one process,
 * so u has the same bits. Sums of squares are made in another order.
 *
 * Operations of a thread in a run of C cycles, with L levels of which those
 * from K on are shared, and more than one thread:
 *
 *     planes       2 written and 2 observed in each exchange
 *     exchanges    1 + C * ((L - K + 1) + 3 (L - K) + 3), one fewer in each
 *                  cycle when K = 1, ...
 */
