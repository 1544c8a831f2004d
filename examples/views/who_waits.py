#!/usr/bin/python3
"""Which thread of a run waits for which, and how long.

    who_waits.py libeventspace_sql.so RUN

Python's own sqlite3 loads the extension, and then reads the tables of the run:
a query gives rows, and the rest is Python. The Python must be built with
extensions for SQLite, as Debian's /usr/bin/python3 is.
"""
import collections
import sqlite3
import sys


def arrivals(database):
    """The operations of each round of each collective, in their order."""
    rounds = collections.defaultdict(list)
    counts = collections.Counter()
    for path, thread, name, start_ns in database.execute(
            """select c.path, e.thread, t.name, e.start_ns
               from event e join collector c on c.id = e.collector
                            join thread t on t.number = e.thread
               where c.thread is not null and e.verb = 'exchange'
               order by e.thread, e.sequence"""):
        counts[path, thread] += 1
        rounds[path, counts[path, thread]].append((start_ns, name))
    return rounds.values()


def main(extension, run):
    database = sqlite3.connect(":memory:")
    database.enable_load_extension(True)
    database.load_extension(extension)
    database.execute("select eventspace_open(?)", (run,))
    waits = collections.Counter()
    for operations in arrivals(database):
        last_ns, last = max(operations)
        for start_ns, name in operations:
            if name != last:
                waits[name, last] += last_ns - start_ns
    for (thread, other), ns in waits.most_common():
        print(f"{thread} waits for {other}: {ns / 1e6:.3f} ms")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
