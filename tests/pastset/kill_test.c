/* kill_test.c - a process that is killed between any two of its instructions
 * leaves an element whose counts add up, and all of whose tuples can be read.
 *
 * A child changes an element one instruction at a time. After each one that
 * changes what is in the file, the file is opened as a tool would open it after
 * a kill just then. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "support.h"

TestSuite(kill, .timeout = 300);

static pastset_space *space;
static pastset_element *element;
static const char *file;

/* What the file says of the element now. */
static void audit(const char *doing, unsigned long step)
{
    pastset_space *opened;
    pastset_element *found;
    pastset_cursor cursor = {0, 0, 0};
    pastset_ledger ledger;
    uint64_t value, sum;
    size_t bytes = sizeof(value);

    check_status(pastset_space_open(&opened, file), 0);
    check_status(pastset_space_refresh(opened), 0);
    found = pastset_space_find(opened, "numbers");
    cr_assert(found);
    pastset_element_ledger(found, &ledger);
    while (pastset_read_next(found, &cursor, &value, &bytes, PASTSET_NOWAIT) ==
           0)
        cr_assert_eq(value, cursor.next - 1, "%s, instruction %lu: tuple %lu",
                     doing, step, (unsigned long)cursor.next - 1);
    cr_assert_eq(cursor.read, ledger.present,
                 "%s, instruction %lu: %lu of the %lu tuples can be read",
                 doing, step, (unsigned long)cursor.read,
                 (unsigned long)ledger.present);
    sum = ledger.consumed + ledger.truncated + ledger.dropped;
    cr_assert_eq(ledger.written, ledger.present + sum);
    cr_assert_leq(ledger.first, sum);
    pastset_space_close(opened);
}

/* The header and the slots: all that a change can touch. */
static size_t watched_bytes(void)
{
    uint64_t slots =
        element->policy == PASTSET_GROW ? element->committed : element->slots;

    return (size_t)(element->data - (unsigned char *)element->header) +
           slots * element->stride_bytes;
}

static void child_run(void (*change)(void))
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(9);
    raise(SIGSTOP);
    change();
    raise(SIGSTOP);
    _exit(0);
}

/* Runs `change` in a child and audits the file after each instruction. */
static void kill_anywhere(const char *doing, void (*change)(void))
{
    size_t bytes = watched_bytes();
    unsigned char *before = malloc(bytes);
    unsigned long steps = 0, changes = 0;
    pid_t pid = fork();
    int status;

    if (pid == 0)
        child_run(change);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status))
        cr_skip_test("no right to trace a child");
    memcpy(before, element->header, bytes);
    do {
        cr_assert_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0, "%s",
                     strerror(errno));
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_assert(WIFSTOPPED(status), "%s: it ended", doing);
        steps++;
        if (memcmp(before, element->header, bytes) != 0) {
            memcpy(before, element->header, bytes);
            changes++;
            audit(doing, steps);
        }
    } while (WSTOPSIG(status) == SIGTRAP);
    cr_assert_eq(WSTOPSIG(status), SIGSTOP);
    cr_assert_gt(changes, 0, "%s changed nothing", doing);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    free(before);
}

static void begin(pastset_policy policy, uint64_t capacity, bool single_writer)
{
    file = space_path("kill");
    unlink(file);
    space = space_make(file);
    element =
        element_make(space, "numbers", "u64", policy, capacity, single_writer);
}

static void end(void)
{
    pastset_space_close(space);
    unlink(file);
}

/* Ends the child with an exit code when it goes wrong, which the test sees. */
static void must(int status)
{
    if (status)
        _exit(2);
}

static void takes(uint64_t value)
{
    pastset_pattern pattern = {
        .fields = 1, .values = &value, .bytes = sizeof(value)};
    uint64_t got;
    size_t bytes = sizeof(got);

    must(pastset_take(element, &pattern, &got, &bytes, PASTSET_NOWAIT, NULL));
}

static void observes(void)
{
    uint64_t got;
    size_t bytes = sizeof(got);

    must(pastset_observe(element, &got, &bytes, PASTSET_NOWAIT, NULL));
}

static void write_two(void)
{
    must(put(element, element->appender.next));
    must(put(element, element->appender.next));
}

static void take_fourth(void)
{
    takes(element->appender.next - 2);
}

static void truncate_all_but_one(void)
{
    must(pastset_element_truncate(element, element->appender.next - 1));
}

/* From the middle, from the front, and over what was taken before. */
static void take_around(void)
{
    uint64_t last = element->appender.next;

    takes(last - 3);
    takes(last - 2);
    takes(last - 4);
    observes();
}

Test(kill, while_it_writes)
{
    begin(PASTSET_BLOCK, 8, false);
    kill_anywhere("writing", write_two);
    end();
}

Test(kill, while_it_writes_and_the_oldest_are_dropped)
{
    begin(PASTSET_DISCARD, 3, false);
    put_range(element, 0, 4);
    kill_anywhere("writing", write_two);
    end();
}

Test(kill, while_it_drops_what_was_taken)
{
    begin(PASTSET_DISCARD, 4, false);
    put_range(element, 0, 4);
    takes(1);
    kill_anywhere("writing", write_two);
    end();
}

Test(kill, while_the_one_writer_writes)
{
    begin(PASTSET_DISCARD, 3, true);
    put_range(element, 0, 7);
    kill_anywhere("writing", write_two);
    end();
}

Test(kill, while_an_element_grows)
{
    begin(PASTSET_GROW, 100000, true);
    put_range(element, 0, element->committed - 1);
    kill_anywhere("writing", write_two);
    end();
}

Test(kill, while_it_takes_one_from_the_middle)
{
    begin(PASTSET_BLOCK, 8, false);
    put_range(element, 0, 5);
    kill_anywhere("taking", take_fourth);
    end();
}

Test(kill, while_it_takes_several)
{
    begin(PASTSET_BLOCK, 8, false);
    put_range(element, 0, 5);
    kill_anywhere("taking", take_around);
    end();
}

Test(kill, while_it_observes)
{
    begin(PASTSET_BLOCK, 8, false);
    put_range(element, 0, 5);
    takes(1);
    kill_anywhere("observing", observes);
    end();
}

Test(kill, while_it_observes_what_one_writer_wrote)
{
    begin(PASTSET_DISCARD, 3, true);
    put_range(element, 0, 7);
    kill_anywhere("observing", observes);
    end();
}

Test(kill, while_it_truncates)
{
    begin(PASTSET_BLOCK, 8, false);
    put_range(element, 0, 6);
    takes(2);
    kill_anywhere("truncating", truncate_all_but_one);
    end();
}
