/* waiting_lines_test.c - the views wait-states and delay-costs of programs that
 * call the same in several lines. */
#include <stdlib.h>

#include "pastset/request.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

TestSuite(waiting_lines, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

#define AT(from, to, id, who, number, what)                                    \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_##what          \
    }

/* As recorded programs of MPI have it: collectors of places, which lead to one
 * of the thread at the collective. */
static const char lines_map[] =
    "digraph lines { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " a0 [kind=collector, id=0]; b0 [kind=collector, id=1];"
    " a1 [kind=collector, id=2]; b1 [kind=collector, id=3];"
    " a2 [kind=collector, id=4]; b2 [kind=collector, id=5];"
    " a3 [kind=collector, id=6]; b3 [kind=collector, id=7];"
    " ja [kind=collector, id=8]; jb [kind=collector, id=9]; all [kind=barrier];"
    " box [kind=element, type=\"i64\", policy=discard, capacity=4];"
    " one [kind=element, type=\"i64\"]; two [kind=element, type=\"i64\"];"
    " three [kind=element, type=\"i64\"]; four [kind=element, type=\"i64\"]; }"
    " a -> a0 [as=\"MPI_Barrier at x.c:5\"]; a0 -> ja;"
    " b -> b0 [as=\"MPI_Barrier at x.c:5\"]; b0 -> jb;"
    " a -> a1 [as=\"MPI_Barrier at x.c:9\"]; a1 -> ja;"
    " b -> b1 [as=\"MPI_Barrier at x.c:9\"]; b1 -> jb;"
    " ja -> all; jb -> all; all -> box;"
    " a -> a2 [as=\"MPI_Send to c at x.c:6\"]; a2 -> one;"
    " b -> b2 [as=\"MPI_Send to d at x.c:6\"]; b2 -> two;"
    " a -> a3 [as=\"MPI_Send to c at x.c:7\"]; a3 -> three;"
    " b -> b3 [as=\"MPI_Send to d at x.c:7\"]; b3 -> four; }";

#define MEETS(from, to, id, who, number)                                       \
    AT(from, to, id, who, number, EXCHANGE),                                   \
        AT(from, to, 8 + (who), who, number, EXCHANGE)

Test(waiting_lines, a_collective_is_waited_in_in_each_line_that_calls_it)
{
    static const eventspace_trace events[] = {
        MEETS(1000, 3100, 0, 0, 1), MEETS(3000, 3100, 1, 1, 1),
        MEETS(4000, 9100, 2, 0, 2), MEETS(9000, 9100, 3, 1, 2),
        MEETS(9500, 9900, 0, 0, 3), MEETS(9800, 9900, 1, 1, 3)};
    scopes_table *table;
    told t;

    told_made(&t, lines_map, events, SIZE(events));
    table = told_view(&t, "wait-states");
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_expect_str_eq(table_text(table, 0, "call"), "MPI_Barrier at x.c:9");
    cr_expect_eq(table_integer(table, 0, "total_ns"), 5000);
    cr_expect_str_eq(table_text(table, 1, "call"), "MPI_Barrier at x.c:5");
    cr_expect_eq(table_integer(table, 1, "total_ns"), 2300);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Before line 6 both compute 1990. Before line 7, b computes 2000 longer. */
Test(waiting_lines, a_delay_is_found_in_the_line_that_took_longer)
{
    static const eventspace_trace events[] = {
        MEETS(100, 110, 0, 0, 1),       MEETS(100, 110, 1, 1, 1),
        AT(2100, 2110, 4, 0, 2, WRITE), AT(2100, 2110, 5, 1, 2, WRITE),
        AT(3110, 3120, 6, 0, 3, WRITE), AT(5110, 5120, 7, 1, 3, WRITE),
        MEETS(3220, 5300, 2, 0, 4),     MEETS(5220, 5300, 3, 1, 4)};
    scopes_table *table;
    told t;

    told_made(&t, lines_map, events, SIZE(events));
    table = told_view(&t, "delay-costs");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_str_eq(table_text(table, 0, "thread"), "b");
    cr_expect_str_eq(table_text(table, 0, "before"), "MPI_Send to d at x.c:7");
    cr_expect_eq(table_integer(table, 0, "total_ns"), 2000);
    scopes_table_destroy(table);
    told_end(&t);
}
