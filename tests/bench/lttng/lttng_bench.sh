#!/bin/sh
# lttng_bench.sh - the LTTng benchmark in sessions of several settings.
#
#     lttng_bench.sh PROGRAM [RUNS]
#
# Prints a line for each run: nanoseconds for one event, for two, and the
# setting. Sessions have names of their own and are destroyed.
set -u
program=$1
runs=${2:-5}
session=eventspace-bench-$$
output=/dev/shm/$session
LTTNG_HOME=$(mktemp -d) || exit 1
export LTTNG_HOME
. "$(dirname "$0")/lttng_daemon.sh"

end() {
    lttng --no-sessiond destroy "$session" >/dev/null 2>&1
    daemon_end
    rm -rf "$output" "$LTTNG_HOME"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

daemon_begin || exit 1

# session SETTING CREATE_OPTION CHANNEL_OPTIONS...: all runs with one setting.
session() {
    setting=$1
    create=$2
    shift 2
    lttng create "$session" "$create" >/dev/null &&
        lttng enable-channel --userspace --session "$session" "$@" \
            bench >/dev/null &&
        lttng enable-event --userspace --session "$session" --channel bench \
            'eventspace_bench:*' >/dev/null &&
        lttng start "$session" >/dev/null || return
    for _ in $(seq "$runs"); do
        echo "$("$program") $setting"
    done
    lttng destroy "$session" >/dev/null
    rm -rf "$output"
}

# A flight recorder, which nobody reads; and one that saves to memory.
session "flight recorder, 4 x 4 MiB" --snapshot \
    --num-subbuf=4 --subbuf-size=4M
session "flight recorder, 8 x 256 KiB" --snapshot \
    --num-subbuf=8 --subbuf-size=256K
session "saved, overwriting" "--output=$output" \
    --overwrite --num-subbuf=4 --subbuf-size=4M
session "saved, discarding" "--output=$output" \
    --discard --num-subbuf=4 --subbuf-size=4M
