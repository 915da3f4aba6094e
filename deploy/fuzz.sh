#!/bin/bash
# Runs every fuzz target of the workspace for a while each, one after another.
#
#   deploy/fuzz.sh [DURATION]
#
# DURATION is as `go test -fuzztime` takes it (default 60s). What a target finds
# is kept in its package's testdata, to be committed with the repair.
set -eu
cd "$(dirname "$0")/.."
duration=${1:-60s}
found=0
while IFS=: read -r file line; do
	name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/' <<<"$line")
	echo "== $(dirname "$file") $name"
	go test -tags nodynamic -run '^$' -fuzz "^$name\$" -fuzztime "$duration" "./$(dirname "$file")"
	found=$((found + 1))
done < <(git ls-files '*_test.go' | xargs grep -nE '^func Fuzz[A-Za-z0-9_]+\(' | sed -E 's/^([^:]+):[0-9]+:/\1:/')
[ "$found" -gt 0 ] || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }
echo "$found targets, nothing found"
