# shellcheck shell=sh
# lttng_daemon.sh - a session daemon for the scripts that source this.
#
# It needs no kernel module and runs in containers. A daemon that answers
# already is used (there is one for all of root); else one is started, and
# ended by daemon_end. What it writes for itself is in LTTNG_HOME.
daemon=

daemon_answers() { lttng --no-sessiond list >/dev/null 2>&1; }

daemon_begin() {
    daemon_answers && return
    lttng-sessiond --no-kernel >/dev/null 2>&1 &
    daemon=$!
    until daemon_answers; do
        kill -0 "$daemon" 2>/dev/null || return
        sleep 0.1
    done
}

# It is gone when this returns. Where a program that it traced was interrupted
# it may not end by itself; its other processes end with it.
daemon_end() {
    [ -n "$daemon" ] || return 0
    kill "$daemon" 2>/dev/null
    for _ in $(seq 50); do
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
    daemon=
}
