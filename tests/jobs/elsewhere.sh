#!/bin/sh
# elsewhere.sh - in the place of ssh: what launchers start on other machines is
# started on this one, with a folder for temporary files of its own.
#
#     elsewhere.sh [-x] MACHINE COMMAND...
[ "$1" = -x ] && shift
TMPDIR=$TMPDIR/$1
export TMPDIR
shift
exec sh -c "$*"
