/* two_rounds.h - two rounds of a sum over two processes, made by hand, for
 * tests of views that go through whole trees. */
#ifndef TESTS_SCOPES_TWO_ROUNDS_H
#define TESTS_SCOPES_TWO_ROUNDS_H

#include "eventspace/collect/trace.h"
#include "pastset/request.h"

/* Two threads of one process and one of another meet at a sum. */
static const char sum_map[] =
    "digraph total {"
    " subgraph cluster_g { a [kind=thread, number=0];"
    "  b [kind=thread, number=1]; ca [kind=collector, id=0];"
    "  cb [kind=collector, id=1]; part [kind=sum]; cp [kind=collector, id=3];"
    "  over [kind=proxy]; }"
    " subgraph cluster_h { c [kind=thread, number=2];"
    "  cc [kind=collector, id=2]; co [kind=collector, id=4]; root [kind=sum];"
    "  cx [kind=collector, id=5];"
    "  total [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
    " a -> ca [as=total, use=sum]; b -> cb [as=total, use=sum];"
    " c -> cc [as=total, use=sum]; ca -> part; cb -> part; part -> cp;"
    " cp -> over; over -> co; co -> root; cc -> root; root -> cx;"
    " cx -> total; }";

#define MEET(from, to, id, who, number)                                        \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_EXCHANGE        \
    }

/* a comes last in the first round, c in the second. */
static const eventspace_trace two_rounds[] = {
    MEET(1000, 9000, 1, 1, 1),   MEET(2000, 9500, 2, 2, 1),
    MEET(5000, 8800, 0, 0, 1),   MEET(5100, 8500, 3, 0, 1),
    MEET(6000, 8000, 4, 0, 1),   MEET(6100, 7000, 5, 0, 1),
    MEET(10000, 17000, 0, 0, 2), MEET(11000, 17100, 1, 1, 2),
    MEET(11200, 16500, 3, 1, 2), MEET(12000, 16000, 4, 1, 2),
    MEET(14000, 16200, 2, 2, 2), MEET(14100, 15000, 5, 2, 2),
};

#endif
