#include "tests/bench/bench.h"

void bench_scope_remote(void)
{
}
