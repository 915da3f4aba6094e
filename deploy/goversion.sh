#!/bin/sh
# Says in one line what is wrong with the installed Go, if anything.
set -eu
advice="Install it from https://go.dev/dl/ and put its bin folder on the PATH."
if ! command -v go >/dev/null 2>&1; then
	echo "Mangrove needs Go 1.26 or newer; no go command was found. $advice" >&2
	exit 1
fi
# GOTOOLCHAIN=local: the version that is installed, not one that a go.work asks for.
version=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
number=${version#go}
major=${number%%.*}
minor=${number#*.}
minor=${minor%%[!0-9]*}
case "$major$minor" in
*[!0-9]* | "")
	echo "Note: the version of Go, $version, is not understood; 1.26 or newer is needed." >&2
	exit 0
	;;
esac
if [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 26 ]; }; then
	echo "Mangrove needs Go 1.26 or newer; this is $version. $advice" >&2
	exit 1
fi
