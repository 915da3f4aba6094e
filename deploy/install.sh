#!/bin/bash
# Makes sure of the PostgreSQL server programs (14 or newer) on Debian and
# Ubuntu, without a default cluster being made or started. With --test also of
# Chromium, xmllint, systemd-analyze, fish and zsh, which only `make test` needs,
# with --webkit of WebKit, which `make webkit` needs, and with --bench of those that `make
# bench` measures itself beside: nginx, runit and supervisord. Does nothing when all is there.
set -eu

packages=()

have_postgres() {
	local dir
	dir=$(command -v postgres 2>/dev/null) && dir=$(dirname "$(readlink -f "$dir")") && [ -x "$dir/initdb" ] && return 0
	for dir in /usr/lib/postgresql/*/bin; do
		[ -x "$dir/postgres" ] && [ -x "$dir/initdb" ] && [ "$(basename "$(dirname "$dir")")" -ge 14 ] && return 0
	done
	return 1
}

case "${1:-}" in
"")
	# With a database of the operator's own, or programs of their own, there
	# is nothing to install; mangrove itself says what is wrong with those.
	[ -z "${MANGROVE_DATABASE_URL:-}${MANGROVE_DATABASE_URL_OWNER:-}${MANGROVE_POSTGRES_BIN:-}" ] || exit 0
	;;
--test)
	command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || packages+=(chromium)
	command -v xmllint >/dev/null 2>&1 || packages+=(libxml2-utils)
	command -v systemd-analyze >/dev/null 2>&1 || packages+=(systemd)
	# Their completion is tried in them.
	command -v fish >/dev/null 2>&1 || packages+=(fish)
	command -v zsh >/dev/null 2>&1 || packages+=(zsh)
	;;
--webkit)
	command -v WebKitWebDriver >/dev/null 2>&1 || packages+=(webkit2gtk-driver)
	command -v xvfb-run >/dev/null 2>&1 || packages+=(xvfb xauth)
	;;
--bench)
	command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || packages+=(chromium)
	command -v cc >/dev/null 2>&1 || packages+=(gcc libc6-dev)
	[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null 2>&1 || packages+=(nginx-light)
	command -v runsv >/dev/null 2>&1 || packages+=(runit)
	command -v supervisord >/dev/null 2>&1 || packages+=(supervisor)
	;;
*)
	echo "install.sh: $1 is unknown; give --test, --webkit, --bench or nothing" >&2
	exit 1
	;;
esac
have_postgres || packages+=(postgresql)
[ ${#packages[@]} -gt 0 ] || exit 0

# What a person would type; the same lines run below.
by_hand="sudo apt-get update && sudo apt-get install --no-install-recommends ${packages[*]}"
if ! command -v apt-get >/dev/null 2>&1; then
	echo "install.sh: this is not Debian or Ubuntu; install PostgreSQL 14 or newer (the server programs) yourself, then set MANGROVE_POSTGRES_BIN if they are not on the PATH" >&2
	exit 1
fi

root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "install.sh: ${packages[*]} must be installed by root; run: ${by_hand//sudo /}" >&2
		exit 1
	fi
	root=(sudo)
	# Ask for a password only where somebody can type it.
	if ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && sudo -v; }; then
		echo "install.sh: ${packages[*]} must be installed; run: $by_hand" >&2
		exit 1
	fi
fi

echo "Installing ${packages[*]} ..."
if [[ " ${packages[*]} " == *" postgresql "* ]] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
	# Debian would make and start a cluster of its own, which nobody here uses.
	"${root[@]}" mkdir -p /etc/postgresql-common
	echo 'create_main_cluster = false' | "${root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
install_packages() {
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		-o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 "${packages[@]}" </dev/null
}
lists=$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null || true)
if [ -z "$lists" ]; then
	"${root[@]}" apt-get update -q
	install_packages
elif ! install_packages; then
	# Old lists name versions that are gone.
	"${root[@]}" apt-get update -q
	install_packages
fi
have_postgres || {
	echo "install.sh: the PostgreSQL programs are still missing (14 or newer is needed)" >&2
	exit 1
}
