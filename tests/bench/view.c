#include "tests/bench/bench.h"

void bench_view(void)
{
}
