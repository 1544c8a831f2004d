#include "tests/bench/bench.h"

void bench_watch(void)
{
}
