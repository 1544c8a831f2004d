#!/bin/sh
# clock_table.sh BIN - the table of docs/clocks.md: table 1 of paper 004, with
# both methods. BIN is the folder with the programs: build/release/bin. All
# processes have counters of their own, with offsets up to 10 s, and first with
# equal rates, then with rates up to 200 ppm; they are the same each time.
set -e
bin=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# NAME PROCESSES THREADS SIZE...: makes the map NAME.dot.
make_map() {
    name=$1 processes=$2 threads=$3
    shift 3
    "$bin/$name" mapping --threads "$threads" "$@" |
        "$bin/eventspace" map generate -a - --processes "$processes" |
        "$bin/eventspace" map instrument - |
        awk -v rate="$rate" 'BEGIN { srand(4) }
             { print }
             /^ *subgraph / {
                 printf "counter_offset=\"%+.6fs\";", 20 * rand() - 10
                 printf "counter_rate=\"%+.3fppm\";\n", (2 * rand() - 1) * rate
             }' > "$scratch/$name.dot"
    "$bin/eventspace" map check "$scratch/$name.dot"
}

# NAME ARGUMENTS...: runs it.
measure() {
    name=$1
    shift
    rm -rf "${scratch:?}/$name"
    "$bin/eventspace" run "$scratch/$name.dot" --output "$scratch/$name" -- \
        "$bin/$name" "$@" > /dev/null
    echo "$name, rates up to $rate ppm"
    "$bin/eventspace" clock "$scratch/$name" --accuracy
    echo
}

for rate in 0 200; do
    make_map barrier 4 32 --size W
    measure barrier run
    make_map windtunnel 8 8
    measure windtunnel run --steps 6000
done
