#!/bin/sh
# window_test.sh - what is told of a window is what is told of it in the whole
# run: rounds keep their numbers.
#
#     window_test.sh EVENTSPACE GSUM
set -u
eventspace=$1
gsum=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

"$gsum" mapping --threads 8 >application.dot
"$eventspace" map generate -a application.dot --processes 4 -o plain.dot
"$eventspace" map instrument plain.dot --collectors all -o map.dot
"$eventspace" run map.dot --output RUN --archive -- "$gsum" run --rounds 3000 >/dev/null ||
    exit 1
# A tenth of the events, whenever they were: a tenth of the time may have none.
"$eventspace" view RUN tuples --format csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "start_ns") column = i }
    NR > 1 { print $column }' | sort -n >starts
events=$(wc -l <starts)
from=$(sed -n "$((events / 2))p" starts)ns
to=$(sed -n "$((events * 6 / 10))p" starts)ns

# rounds VIEW COLUMNS WINDOW...: the rows of --detail, without what is only known
# when all of a round is there.
rounds() {
    view=$1
    columns=$2
    shift 2
    "$eventspace" view RUN "$view" --detail --format csv "$@" |
        tail -n +2 | cut -d, -f"$columns" | sort -u
}

# The windows of an archive, then those of the spaces alone.
for files in "an archive" spaces; do
    [ "$files" = spaces ] && rm RUN/*.archive
    for pair in last-arriver:1-6 performance:1,2 signal-arrival:1-5 \
        signal-departure:1-5 thread-wait:1-5; do
        view=${pair%:*}
        rounds "$view" "${pair#*:}" >whole
        rounds "$view" "${pair#*:}" --from "$from" --to "$to" >part
        all=$(wc -l <whole)
        some=$(wc -l <part)
        strange=$(comm -13 whole part | wc -l)
        if [ "$some" -gt 0 ] && [ "$some" -lt "$all" ] && [ "$strange" -eq 0 ]
        then
            echo "ok      $view in a window of $files: $some of $all rows"
        else
            echo "FAILED  $view in a window of $files: $some rows, of which" \
                "$strange are not among the $all"
            comm -13 whole part | head -5
            failures=$((failures + 1))
        fi
    done
done

[ $failures -eq 0 ]
