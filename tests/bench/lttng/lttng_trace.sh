#!/bin/sh
# lttng_trace.sh - a trace of LTTng's user space tracer.
#
#     lttng_trace.sh PROGRAM EVENTS FOLDER
#
# FOLDER/trace becomes the trace of `PROGRAM EVENTS`. The program waits where a
# buffer is full, so that no event is lost. Says on standard error what failed.
set -u
program=$1
events=$2
folder=$3
session=eventspace-trace-$$
export LTTNG_HOME="$folder/lttng"
mkdir -p "$LTTNG_HOME" || exit 1
. "$(dirname "$0")/lttng_daemon.sh"

end() {
    lttng --no-sessiond destroy "$session" >/dev/null 2>&1
    daemon_end
    rm -rf "$LTTNG_HOME"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "lttng: $*" >&2
    cat "$LTTNG_HOME/said" >&2
    exit 1
}
lttng_do() { lttng --no-sessiond "$@" >"$LTTNG_HOME/said" 2>&1 || fail "$@"; }

: >"$LTTNG_HOME/said"
daemon_begin || fail "there is no session daemon, and none could be started"
lttng_do create "$session" --output="$folder/trace"
lttng_do enable-channel --userspace --session="$session" --discard \
    --blocking-timeout=inf --num-subbuf=8 --subbuf-size=4M bench
lttng_do enable-event --userspace --session="$session" --channel=bench \
    eventspace_bench:tuple
lttng_do start "$session"
LTTNG_UST_ALLOW_BLOCKING=1 LTTNG_UST_REGISTER_TIMEOUT=60000 \
    "$program" "$events" || fail "$program"
lttng_do destroy "$session"
