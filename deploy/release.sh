#!/bin/bash
# Puts a new version of the three programs in place so that it is seen to work: keeps how
# everything stands, stops, backs up, swaps, starts, and waits until every service serves
# and what was being downloaded goes on. The judging, the record of the attempt and the
# way back are those of `mangrove upgrade`; this script only carries files.
#
#   make build && sudo deploy/release.sh
#
# Options, with what holds without them:
#   --new FOLDER        the new programs (bin)
#   --installed FOLDER  where the old ones lie; they are kept beside, as NAME.before (/usr/local/bin)
#   --stop COMMAND      ends Mangrove and returns when it has ended (systemctl stop mangrove)
#   --start COMMAND     starts it, and returns (systemctl start mangrove)
#   --backups FOLDER    where the backup of the data folder goes (/var/backups/mangrove)
#   --backup FILE       a backup that was made already; needed with a database of your own
#   --note TEXT         why it will be different, after two attempts that failed alike
#   --within DURATION   how long it may take until it is seen to work (15m)
#
# Settings are those of the environment, and of /etc/mangrove/mangrove.env if there is one.
# Exit codes: 0 it works, 1 it does not and the way back was said, 2 a wrong option.
set -euo pipefail

new=bin installed=/usr/local/bin stop='systemctl stop mangrove' start='systemctl start mangrove'
backups=/var/backups/mangrove backup='' note='' within=15m
while [ $# -gt 0 ]; do
	case "$1" in
	--new | --installed | --stop | --start | --backups | --backup | --note | --within)
		[ $# -ge 2 ] || { echo "release.sh: $1 needs a value" >&2; exit 2; }
		printf -v "${1#--}" '%s' "$2"
		shift 2
		;;
	*)
		echo "release.sh: $1 is unknown; the head of this file lists the options" >&2
		exit 2
		;;
	esac
done
programs=(mangrove mangrove-scraper mangrove-reader)
for p in "${programs[@]}"; do
	[ -x "$new/$p" ] || { echo "release.sh: $new/$p is missing; run: make build" >&2; exit 2; }
	[ -x "$installed/$p" ] || { echo "release.sh: $installed/$p is missing; for a first install see docs/operating.md" >&2; exit 2; }
done

# The settings of the unit. What the environment says already goes before.
if [ -r /etc/mangrove/mangrove.env ]; then
	while IFS= read -r line || [ -n "$line" ]; do
		name=${line%%=*}
		if [[ "$line" == MANGROVE_*=* && -z "${!name+set}" ]]; then
			export "$line"
		fi
	done </etc/mangrove/mangrove.env
fi
if [ "$(id -u)" -eq 0 ]; then
	export MANGROVE_DATA=${MANGROVE_DATA:-/var/lib/mangrove}
else
	export MANGROVE_DATA=${MANGROVE_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/mangrove}
fi
[ -d "$MANGROVE_DATA" ] || { echo "release.sh: there is no data folder $MANGROVE_DATA; set MANGROVE_DATA" >&2; exit 2; }
external=${MANGROVE_DATABASE_URL:-}${MANGROVE_DATABASE_URL_OWNER:-}
if [ -n "$external" ] && [ -z "$backup" ]; then
	echo "release.sh: the database is one of your own; dump it first (pg_dump) and name the file with --backup" >&2
	exit 2
fi

# What is done to the data folder is done as its owner: root would leave files there
# that the services could not touch.
as=()
owner=$(stat -c %U "$MANGROVE_DATA")
if [ "$(id -u)" -eq 0 ] && [ "$owner" != root ]; then
	as=(runuser -u "$owner" --)
fi

# The new programs are brought beside the old ones first: from there each takes its
# name by one rename, and its user can run it.
staged="$installed/.mangrove-new"
rm -rf "$staged"
mkdir -m 755 "$staged"
for p in "${programs[@]}"; do
	install -m 755 "$new/$p" "$staged/$p"
	sync "$staged/$p"
done
upgrade() { ${as[@]+"${as[@]}"} "$staged/mangrove" upgrade "$@"; }
failed() {
	upgrade fail "$1" "$2" || true
	exit 1
}

begin=(begin --installed "$installed")
[ -z "$note" ] || begin+=(--note "$note")
upgrade "${begin[@]}" || exit 1

echo "stopping: $stop"
bash -c "$stop" || failed not-stopped "the command to stop it failed: $stop"
# Not running is the exit code 3.
answered=0
${as[@]+"${as[@]}"} "$staged/mangrove" status >/dev/null 2>&1 || answered=$?
[ "$answered" -eq 3 ] || failed not-stopped "a supervisor still answers after: $stop"

if [ -z "$backup" ]; then
	backup="$backups/mangrove-$(date +%Y-%m-%dT%H%M%S)-$$.tar.gz"
	echo "backing up to $backup"
	# The library is left out: a new version changes no published chapter. What can be
	# made again is left out too.
	(umask 077 && mkdir -p "$backups" &&
		tar --numeric-owner --exclude=./run --exclude=./logs --exclude=./library --exclude=./reader/covers --exclude=./scraper/covers \
			-C "$MANGROVE_DATA" -czf "$backup.tmp" . && gzip -t "$backup.tmp" && sync "$backup.tmp" && mv "$backup.tmp" "$backup" && sync "$backups") ||
		failed no-backup "the backup could not be written to $backup"
	# Its record is written by the data folder's owner, who reads it for that and may not
	# change it.
	if [ ${#as[@]} -gt 0 ]; then
		chgrp "$(stat -c %G "$MANGROVE_DATA")" "$backups" "$backup"
		chmod g+rx "$backups"
		chmod g+r "$backup"
	fi
fi
upgrade backup "$backup" || failed no-backup "the backup $backup cannot be read"

# While this mark is there, what is installed was not seen to work: it does not take the
# place of the programs that one would go back to.
unproven="$installed/.mangrove-unproven"
swap() {
	local p
	for p in "${programs[@]}"; do
		if [ -e "$unproven" ] && [ -e "$installed/$p.before" ]; then
			continue
		fi
		ln -f "$installed/$p" "$installed/.$p.before" && mv -f "$installed/.$p.before" "$installed/$p.before" || return 1
	done
	: >"$unproven" && sync "$installed" || return 1
	for p in "${programs[@]}"; do
		ln -f "$staged/$p" "$installed/.$p.new" && mv -f "$installed/.$p.new" "$installed/$p" || return 1
	done
	sync "$installed"
}
swap || failed not-swapped "the programs in $installed could not be replaced"

echo "starting: $start"
bash -c "$start" || failed not-started "the command to start it failed: $start"
code=0
upgrade verify --within "$within" || code=1
[ $code -ne 0 ] || rm -f "$unproven"
rm -rf "$staged"
exit $code
