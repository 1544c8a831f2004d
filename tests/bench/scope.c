/* scope.c - how fast a scope gathers, on its machine and over the network. */
#include "tests/bench/bench.h"

void bench_scope(void)
{
    bench_scope_local();
    bench_scope_remote();
}
