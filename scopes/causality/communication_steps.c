/* communication_steps.c - the steps of a thread of which operations are not
 * there.
 *
 * A program that uses its paths in turn does operation s over path (s - 1) mod
 * (number of its paths), so an operation's number tells its step. That is tried
 * on what is there, and taken if it goes well for long enough. */
#include "scopes/causality/communication_times_internal.h"

/* Operations before the thread's last whose tuples are not there: `*lost`
 * of them are lost. Numbers tell nothing when some path of the thread has no
 * collector. */
static uint64_t count_gone(const scopes__making *m, const scopes_thread *thread,
                           uint64_t *lost)
{
    uint32_t highest = m->highest, lowest = m->lowest;
    uint64_t before;

    *lost = 0;
    if (!thread->all_collected || highest < thread->operations)
        return 0;
    before = m->whole || lowest == 0 ? 0 : lowest - 1;
    if (highest - before > thread->operations)
        *lost = highest - before - thread->operations;
    return highest - thread->operations;
}

/* Goes on from step `step`. */
static void count_steps(scopes_operation *operations, size_t count,
                        uint32_t step, uint32_t *uses)
{
    for (size_t i = 0; i < count; i++) {
        step = scopes__step_next(step, &uses[operations[i].path]);
        operations[i].step = step;
    }
}

static void clear_uses(scopes__making *m, const scopes_operation *operations,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        m->uses[operations[i].path] = 0;
}

/* How many paths the thread uses before it uses one again. */
static uint32_t find_turn(const scopes_operation *operations, size_t count,
                          uint32_t *uses)
{
    uint32_t turn = 0;
    while (turn < count && uses[operations[turn].path]++ == 0)
        turn++;
    for (size_t i = 0; i < count; i++)
        uses[operations[i].path] = 0;
    return turn;
}

/* Numbers the steps as if operation s had gone over path (s - 1) mod `turn`
 * from the start, and goes on counting where that ends: many programs do
 * something else in the end. Gives the number of operations in turn. */
static size_t turn_steps(scopes_operation *operations, size_t count,
                         uint32_t turn, uint32_t *slots, uint32_t *uses)
{
    size_t in_turn = 0;
    for (uint32_t i = 0; i < turn; i++)
        slots[i] = PATHS_NONE;
    for (; in_turn < count && operations[in_turn].sequence > 0; in_turn++) {
        scopes_operation *op = &operations[in_turn];
        uint32_t *slot = &slots[(op->sequence - 1) % turn];
        if (*slot != PATHS_NONE && *slot != op->path)
            break;
        *slot = op->path;
        op->step = (op->sequence - 1) / turn + 1;
        uses[op->path] = op->step;
    }
    count_steps(operations + in_turn, count - in_turn,
                in_turn ? operations[in_turn - 1].step : 1, uses);
    return in_turn;
}

/* Each path belongs to one thread. */
void scopes__number_steps(scopes__making *m, scopes_thread *thread)
{
    scopes_operation *operations = &m->view->operations[thread->operation];
    size_t count = thread->operations, in_turn;
    uint32_t turn;

    if (count_gone(m, thread, &thread->lost) == 0)
        return;
    clear_uses(m, operations, count);
    turn = find_turn(operations, count, m->uses);
    in_turn = turn_steps(operations, count, turn, m->slots, m->uses);
    /* Three rounds, and a good part of what is there: no accident. */
    thread->steps_known = in_turn >= 3 * turn && in_turn > count / 4;
    if (!thread->steps_known) {
        clear_uses(m, operations, count);
        count_steps(operations, count, 1, m->uses);
    }
}
