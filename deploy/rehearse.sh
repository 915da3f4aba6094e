#!/bin/bash
# Proves that the two commands of the README work on a fresh machine: a bare
# Debian of the host's suite with Go, git, make and sudo and nothing else, once
# as an ordinary user and once as root.
#
#   sudo deploy/rehearse.sh [FOLDER]
#
# FOLDER (default: a temporary one under build/) holds the bare systems and is
# removed afterwards; what was printed stays in build/rehearse-*.log. REPOSITORY
# names another repository to clone, PATIENCE the seconds to wait for the
# address (default 1200). Needs root, debootstrap and curl on the host.
set -eu
cd "$(dirname "$0")/.."
repository=${REPOSITORY:-$PWD}
patience=${PATIENCE:-1200}
[ "$(id -u)" -eq 0 ] || { echo "rehearse.sh: run it as root" >&2; exit 1; }
for program in debootstrap curl unshare git go; do
	command -v "$program" >/dev/null || { echo "rehearse.sh: $program is missing" >&2; exit 1; }
done

mkdir -p build
made=
if [ $# -gt 0 ]; then
	folder=$1
	[ ! -e "$folder" ] || { echo "rehearse.sh: $folder exists already" >&2; exit 1; }
	mkdir -p "$folder"
else
	folder=$(mktemp -d "$PWD/build/rehearse.XXXXXX")
fi
folder=$(realpath "$folder")
made=$folder
inside=

clean() {
	# Mounts live in the namespace of the process that made them and end with it.
	if [ -n "$inside" ]; then
		kill -KILL "$inside" 2>/dev/null || true
		wait "$inside" 2>/dev/null || true
	fi
	if [ -n "$made" ] && ! grep -qF " $made/" /proc/mounts; then
		rm -rf --one-file-system "$made"
	fi
}
trap clean EXIT
trap 'exit 130' INT TERM
# Both users must be able to walk to their system.
chmod 755 "$folder"

seconds() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(seconds)" 'BEGIN { printf "%.1f s", b - a }'; }

# --- the bare system ---------------------------------------------------------
start=$(seconds)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror= # unless the machine names one, the installer uses its own
for list in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
	[ -e "$list" ] || continue
	found=$(grep -hoE 'https?://[^ ]*/debian/?( |$)' "$list" | head -n 1 | tr -d ' ' || true)
	[ -z "$found" ] || { mirror=$found; break; }
done
base=$folder/base
debootstrap --variant=minbase --include=make,git,ca-certificates,sudo "$suite" "$base" ${mirror:+"$mirror"} >build/rehearse-debootstrap.log 2>&1 ||
	{ tail -n 5 build/rehearse-debootstrap.log >&2; exit 1; }
for list in sources.list sources.list.d/debian.sources; do
	if [ -s "/etc/apt/$list" ] && grep -q debian "/etc/apt/$list"; then
		rm -f "$base/etc/apt/sources.list"
		mkdir -p "$base/etc/apt/sources.list.d"
		cp "/etc/apt/$list" "$base/etc/apt/$list"
	fi
done
grep -lrs 'Acquire::.*[Pp]roxy' /etc/apt/apt.conf /etc/apt/apt.conf.d 2>/dev/null | while read -r file; do
	cp "$file" "$base/etc/apt/apt.conf.d/"
done || true
if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
	cp /usr/local/share/ca-certificates/*.crt "$base/usr/local/share/ca-certificates/"
	chroot "$base" update-ca-certificates >/dev/null 2>&1
fi
cp -L /etc/resolv.conf /etc/hosts "$base/etc/"
# As on a machine where nobody has asked for packages yet.
rm -rf "$base"/var/lib/apt/lists/*
cp -a "$(go env GOROOT)" "$base/usr/local/go"
git clone -q --bare "$repository" "$base/srv/mangrove.git"
chroot "$base" git config --system --add safe.directory /srv/mangrove.git
chroot "$base" useradd -m -s /bin/bash mo
echo 'mo ALL=(ALL) NOPASSWD: ALL' >"$base/etc/sudoers.d/mo"
chmod 440 "$base/etc/sudoers.d/mo"
for program in postgres chromium; do
	! chroot "$base" bash -c "command -v $program" >/dev/null || { echo "rehearse.sh: the bare system has $program" >&2; exit 1; }
done
echo "bare $suite system: $(since "$start")"

# --- the two commands, as one user --------------------------------------------
# Process 1 of the namespaces: runs the commands in a group of their own, sends
# that group a Ctrl-C when asked to, and tells what is left afterwards.
cat >"$folder/first" <<'EOF'
set -u
system=$1 user=$2 home=$3 control=$4
shift 4
mount --make-rprivate /
mount -t proc proc "$system/proc"
mount --rbind /dev "$system/dev"
set -m
chroot --userspec="$user" "$system" env -i HOME="$home" USER="$user" LANG=C.UTF-8 "$@" \
	bash -c 'cd && git clone -q file:///srv/mangrove.git mangrove && cd mangrove && make run' </dev/null >"$control/log" 2>&1 &
job=$!
until [ -e "$control/stop" ] || ! kill -0 "$job" 2>/dev/null; do sleep 0.2; done
kill -INT -- "-$job" 2>/dev/null
wait "$job"
echo $? >"$control/code"
for pid in "$system"/proc/[0-9]*; do
	n=${pid##*/}
	[ "$n" = 1 ] || [ ! -e "$pid/cmdline" ] || tr '\0' ' ' <"$pid/cmdline" 2>/dev/null
done >"$control/left"
touch "$control/done"
EOF

# free_port prints a port that nothing listens on.
free_port() {
	local port
	while port=$(shuf -n 1 -i 20000-32000); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

rehearse() {
	local who=$1 home=$2 system=$folder/$1 control=$folder/$1.control http health start page left code
	http=$(free_port)
	health=$(free_port)
	mkdir -p "$control"
	cp -a "$base" "$system"
	start=$(seconds)
	local env=(PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		"MANGROVE_HTTP=127.0.0.1:$http" "MANGROVE_HEALTH=127.0.0.1:$health" MANGROVE_METRICS=
		"GOPROXY=$(go env GOPROXY)" "GOSUMDB=$(go env GOSUMDB)")
	for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
		[ -z "${!name:-}" ] || env+=("$name=${!name}")
	done
	unshare --mount --pid --fork --kill-child bash "$folder/first" "$system" "$who" "$home" "$control" "${env[@]}" &
	inside=$!
	until grep -q '^Mangrove is at ' "$control/log" 2>/dev/null; do
		if [ -e "$control/done" ] || awk -v a="$start" -v b="$(seconds)" -v p="$patience" 'BEGIN { exit !(b - a > p) }'; then
			cp "$control/log" "build/rehearse-$who.log"
			echo "as $who: no address; the last lines of build/rehearse-$who.log:" >&2
			tail -n 20 "$control/log" >&2
			return 1
		fi
		sleep 0.2
	done
	echo "as $who: address printed after $(since "$start")"
	page=$(curl -sSL --max-time 30 --noproxy '*' "http://127.0.0.1:$http/")
	grep -qi claim <<<"$page" || { echo "as $who: the address does not answer with the claim page" >&2; return 1; }
	echo "as $who: the claim page answers after $(since "$start")"
	start=$(seconds)
	touch "$control/stop"
	wait "$inside" || true
	inside=
	code=$(cat "$control/code")
	left=$(cat "$control/left")
	cp "$control/log" "build/rehearse-$who.log"
	[ -z "$left" ] || { echo "as $who: still running after the stop: $left" >&2; return 1; }
	echo "as $who: stopped in $(since "$start"), make ended with $code, nothing left running"
	rm -rf --one-file-system "$system"
}

rehearse mo /home/mo
rehearse root /root
