#!/bin/sh
# make.sh - the pictures of the demo in README.md, made anew.
#
#     ./bootstrap demo && docs/pictures/make.sh
#
# The flow and the rivers are the programs' own pictures, with fewer colours, for
# which it takes pngquant; the others are the first screens of the reports, as
# Chromium shows them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
demo=$(cd "$here/../../build/demo" && pwd)
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT

# screen PAGE PICTURE WIDTH HEIGHT: the first screen of a report. Virtual time
# goes on only while the page has nothing to do, so all of it has been drawn.
screen() {
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$profile" --force-device-scale-factor=1 \
        --virtual-time-budget=20000 --window-size="$3,$4" \
        --screenshot="$here/$2" "file://$demo/$1" >"$profile/said" 2>&1 || {
        cat "$profile/said" >&2
        exit 1
    }
}

# small FROM TO
small() {
    pngquant --speed 1 --strip --force --output "$here/$2" 256 -- "$1"
}

small "$demo/tunnel.png" flow.png
small "$demo/river.png" river.png
small "$demo/balanced.png" balanced.png
screen river.html report.png 1000 1080
small "$here/report.png" report.png
