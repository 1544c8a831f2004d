#!/bin/sh
# encrypted_test.sh BIN - what is heard on the link between two machines, which are
# network namespaces: nothing of a run, unless its map says so. Without the right to
# make these it is skipped (exit code 77).
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
north=es-$$-north south=es-$$-south
listener=
ends() {
    [ -z "$listener" ] || kill "$listener" || :
    ip netns del "$north" 2> /dev/null || :
    ip netns del "$south" 2> /dev/null || :
    rm -rf "$folder"
}
trap ends EXIT
cd "$folder"

fail() {
    echo "encrypted_test.sh: $1" >&2
    exit 1
}
if ! { ip netns add $north && ip netns add $south; } 2> /dev/null; then
    echo 'network namespaces cannot be made here'
    exit 77
fi
ip link add n$$ netns $north type veth peer name s$$ netns $south
ip -n $north address add 10.99.0.1/24 dev n$$
ip -n $south address add 10.99.0.2/24 dev s$$
ip -n $north link set n$$ up
ip -n $south link set s$$ up

cat > app.dot <<'EOF'
digraph app {
    alice [kind=thread, number=0];
    bob [kind=thread, number=1];
    greetings [kind=element, type="u32 u8[60]", capacity=2];
    alice -> greetings [use=write];
    bob -> greetings [use=read];
}
EOF
cat > cluster.dot <<EOF
digraph cluster {
    northernmost [address="10.99.0.1", netns="$north"];
    southernmost [address="10.99.0.2", netns="$south"];
}
EOF
eventspace map generate --application=app.dot --cluster=cluster.dot |
    eventspace map instrument - --output=auto.dot
sed '0,/{/s//{ encrypt=never;/' auto.dot > never.dot
eventspace key key

# All that comes to the south, or leaves it, from `heard` being there until `over` is
# and nothing comes any more.
cat > listen.py <<'EOF'
import os, socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
link.bind((sys.argv[1], 0))
link.settimeout(0.2)
with open("heard", "wb") as heard:
    while True:
        try:
            heard.write(link.recv(1 << 16))
        except socket.timeout:
            if os.path.exists("over"):
                break
EOF
overhear() { # MAP
    rm -f heard over
    ip netns exec $south python3 listen.py s$$ &
    listener=$!
    until [ -e heard ]; do kill -0 $listener || fail 'nobody listens'; done
    eventspace run "$1" --replace --output=RUN --key=key -- hello > said ||
        fail "$(cat said)"
    grep -q 'hello from alice on northernmost' said || fail "$(cat said)"
    : > over
    wait $listener || fail 'the listener has failed'
    listener=
    [ "$(wc -c < heard)" -gt 2000 ] || fail 'there is hardly anything to hear'
}
has() {
    grep -aq "$1" heard
}
has_key() {
    python3 -c 'import sys
heard, key = open("heard", "rb").read(), open("key").read().strip()
sys.exit(not (key.encode() in heard or bytes.fromhex(key) in heard))'
}

overhear never.dot
has 'hello from alice' || fail 'in clear nothing is heard'
has_key && fail 'the key is in clear'
overhear auto.dot
for word in 'hello from' northernmost southernmost alice greetings; do
    has "$word" && fail "$word is in clear"
done
if has_key; then
    fail 'the key is in clear'
fi
