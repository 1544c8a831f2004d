#!/bin/sh
# choose_command_test.sh - eventspace choose from outside.
#
#     choose_command_test.sh EVENTSPACE CHOOSE_FILES
set -u
eventspace=$(realpath "$1")
files=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
"$files" . || exit 1

cat >now.dot <<'END'
digraph now {
    a [load=3]; b [load=1]; c; d;
    x [kind=switch];
    a -> x [latency="50us", bandwidth="100mbit"];
    b -> x [latency="50us", bandwidth="100mbit"];
    c -> x [latency="50us", bandwidth="100mbit"];
    d -> x [latency="50us", bandwidth="100mbit"];
}
END

# gives NAME CODE COMMAND...: its exit code; what it says is in out and err.
gives() {
    name=$1 wanted=$2
    shift 2
    "$@" >out 2>err
    code=$?
    if [ $code -eq "$wanted" ]; then
        echo "ok      $name"
    else
        echo "FAILED  $name: exit code $code, not $wanted"
        cat out err
        failures=$((failures + 1))
    fi
}

says() { # TEXT FILE
    grep -q -e "$1" "$2" && return
    echo "FAILED  no \"$1\" in:"
    cat "$2"
    failures=$((failures + 1))
}

choose() {
    "$eventspace" choose ring.profile --cluster now.dot "$@"
}
gives "a link that was not measured" 1 choose
says "link h0-h1" err
gives "the table" 0 choose --profiled-link '*:latency=100us,bandwidth=100mbit' \
    --nodes 2
says "all 12 placements were tried" out
says "By the replay" out
[ -s err ] && says "nothing" err
sed 's/^}/e; }/' now.dot >alone.dot
gives "a machine without a link" 0 "$eventspace" choose ring.profile \
    --cluster alone.dot --profiled-link '*:latency=100us,bandwidth=100mbit'
says "machine e has no link" err
[ "$(wc -l <err)" -eq 1 ] || says "one line" err
gives "CSV" 0 choose --profiled-link latency=100us,bandwidth=100mbit \
    --format csv --best 3
says "^rank,time_s,slowdown,lower_s,upper_s,h0,h1" out
says "^1,.*,c,d" out
[ "$(wc -l <out)" -eq 4 ] || says "four lines" out
gives "JSON" 0 choose --profiled-link h1-h0:latency=100us,bandwidth=100mbit \
    --format json
says '"tried":12' out
gives "another number of nodes" 1 choose --nodes 3
says "run on 2 nodes" err
gives "no such file" 1 "$eventspace" choose ring.profile --cluster none.dot
says "none.dot" err
gives "no profile" 1 "$eventspace" choose now.dot --cluster now.dot
says "now.dot" err
gives "no cluster" 2 "$eventspace" choose ring.profile
says "cluster=FILE is missing" err
echo 'digraph { a [load=x]; }' >wrong.dot
gives "a load that is none" 1 "$eventspace" choose ring.profile \
    --cluster wrong.dot --profiled-link '*:latency=100us,bandwidth=100mbit'
says "wrong.dot:1: a: load" err
echo 'digraph { a; }' >small.dot
gives "too few machines" 1 "$eventspace" choose ring.profile \
    --cluster small.dot --profiled-link '*:latency=100us,bandwidth=100mbit'
says "only 1 machines" err
sed 's/a \[/a [kind=host, /' now.dot >older.dot
gives "an older cluster file" 1 "$eventspace" choose ring.profile \
    --cluster older.dot --profiled-link '*:latency=100us,bandwidth=100mbit'
says "older.dot:2: a: kind=host is called kind=machine now" err
sed 's/kind=host/kind=machine/' older.dot >newer.dot
choose --profiled-link '*:latency=100us,bandwidth=100mbit' --format csv >plain.csv
gives "the same with kind=machine" 0 "$eventspace" choose ring.profile \
    --cluster newer.dot --profiled-link '*:latency=100us,bandwidth=100mbit' \
    --format csv
cmp out plain.csv || says "the same" out

# Words and units of before.
for was in wire:profiled-link seconds:time-limit most:max-placements out:output
do
    gives "--${was%:*} is another word" 2 choose "--${was%:*}=1"
    says "${was%:*} is called --${was#*:} now" err
done
gives "an older condition" 2 choose --profiled-link '*=100mbit,100us'
says 'write it as \*:bandwidth=100mbit,latency=100us' err
gives "a time without a unit" 2 choose --time-limit 8
says "'8' has no unit; write 8ms or 8s" err
gives "a misspelt word" 2 choose --profiled-lnk=latency=1us
says "did you mean '--profiled-link'" err

# Machines that are measured: a is fast or slow, b always in between.
# history SERIES VALUE...: of a minute each, up to 2026-01-01 00:00
history() {
    series=$1
    shift
    printf '# eventspace history 1\n# series: %s\n# unit: share\n' "$series"
    printf '# time in ms,value,lasts ms,count,deviation,least,most\n'
    printf '# interval: 5000 ms\n'
    echo "$@" | awk 'BEGIN { srand(1) } { for (i = 0; i < 2000; i++)
        printf "%.0f,%s\n", 1767225600000 - (2000 - i) * 5000,
            $(int(rand() * NF) + 1) }'
}
mkdir histories
history "availability of a" 1 0.45 1 1 >histories/a.history
history "availability of b" 0.72 >histories/b.history
history "availability of c" 0.3 >histories/c.history
history "availability of d" 0.9 >histories/d.history
surely() {
    choose --profiled-link '*:latency=100us,bandwidth=100mbit' \
        --with histories --at '2026-01-01 00:00' "$@"
}
gives "with histories" 0 surely
says "^rank  *time s  *+- s  *to count on s .*least sure is" out
says "^availability of a  *share" out
surely --format csv --best 100 >mean.csv
surely --format csv --best 100 --risk=upper >upper.csv
first() { awk -F, 'NR == 2 { print $9 "," $10 }' "$1" | tr -d '\r'; }
[ "$(first mean.csv)" != "$(first upper.csv)" ] || says "another order" upper.csv
case $(first upper.csv) in
b,d | d,b) ;;
*) says "b and d" upper.csv ;;
esac
says "^Safe: number" out
says "is less sure by the availability of a" out
# shellcheck disable=SC2016 # fields of awk
gives "what to count on" 0 awk -F, 'NR > 1 && ($4 + 0.001 < $2 + $3 ||
    $4 > $2 + $3 + 0.001 || $4 < before) { exit 1 } { before = $4 + 0 }' upper.csv
gives "JSON of it" 0 surely --format json --risk=0.9
says '"range_s":' out
history "availability of z" 1 >z.history
gives "none of these machines" 1 choose --with z.history \
    --profiled-link '*:latency=100us,bandwidth=100mbit'
says "no history is of machine a" err
gives "a risk of nothing" 2 choose --risk=upper
says "--risk needs --with" err

# Work that is divided.
cat >ring.dot <<'END'
digraph { subgraph cluster_h0 { t0 [kind=thread, number=0]; t2 [kind=thread, number=2]; }
    subgraph cluster_h1 { t1 [kind=thread, number=1]; e [kind=element, type=i32]; }
    t0 -> e [use=write]; t1 -> e [use=read]; t2 -> e [use=write]; }
END
gives "divided by loads" 0 choose --map ring.dot --split=mean --best 100 \
    --profiled-link '*:latency=100us,bandwidth=100mbit' --format csv
# h0 has two threads: 1/(1+2) and 1/(0+1) of a processor; 1/(0+2) and 1/(3+1)
says '^[0-9]*,.*,"0.3333,1,0.3333",b,c' out
says '^[0-9]*,.*,"1,0.5,1",c,a' out
gives "and said" 0 choose --map ring.dot --split=mean \
    --profiled-link '*:latency=100us,bandwidth=100mbit'
says "^Divide the work of number 1 so: --shares=" out
# a gives 0.8625 of a processor on average, and 0.45 at times
share_of() { # SPLIT: of t1, where h0 is d and h1 is a
    surely --map ring.dot --split="$1" --best 100 --format csv |
        sed -n 's/.*,"\(.*\)",d,a.$/\1/p' | cut -d, -f2
}
bold=$(share_of bold) mean=$(share_of mean) careful=$(share_of careful)
gives "who is careful trusts a with less" 0 awk -v b="$bold" -v m="$mean" \
    -v c="$careful" 'BEGIN { exit !(b >= m && m > c && c > 0) }'
sed 's/number=2/number=0/' ring.dot >twice.dot
gives "one number twice" 1 choose --map twice.dot --split=mean \
    --profiled-link '*:latency=100us,bandwidth=100mbit'
says "has the number of another one" err
gives "no map" 2 choose --split=mean
says "split needs --map" err
gives "no ranges" 2 choose --split=bold --map ring.dot
says "need --with" err
gives "no such way" 2 choose --split=half --map ring.dot
says "is not one of mean, careful, bold" err
sed 's/cluster_h1/cluster_h7/' ring.dot >other.dot
gives "the map of another run" 1 choose --map other.dot --split=mean \
    --profiled-link '*:latency=100us,bandwidth=100mbit'
says "process h7 is no node of the profile" err

# The best placement, for generating a map.
cat >application.dot <<'END'
digraph { t0 [kind=thread]; t1 [kind=thread]; e [kind=element, type=i32];
    t0 -> e [use=write]; t1 -> e [use=read]; }
END
gives "a map" 0 "$eventspace" map generate --application application.dot \
    --processes 2 -o map.dot
gives "its placement" 0 choose --map map.dot -o placement.dot \
    --profiled-link '*:latency=100us,bandwidth=100mbit'
says "t0 -> c" placement.dot
says "t1 -> d" placement.dot
gives "the map as it was chosen" 0 "$eventspace" map generate \
    --application application.dot --cluster now.dot \
    --placement placement.dot -o chosen.dot
gives "a correct map" 0 "$eventspace" map check chosen.dot

[ $failures -eq 0 ]
