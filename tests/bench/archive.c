#include "tests/bench/bench.h"

void bench_archive(void)
{
}
