#include "tests/bench/bench.h"

void bench_scope_local(void)
{
}
