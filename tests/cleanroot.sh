#!/bin/sh
# Runs `make demo` and `make test` of the committed tree in a fresh Debian root file system that holds nothing but
# debootstrap's minimal base, make and git: what the README promises, on a machine that has nothing of ours.
#
#   tests/cleanroot.sh [SUITE [MIRROR]]      as root; SUITE defaults to bookworm; needs debootstrap
#
# Works under $TMPDIR (about 1.5 GB) and removes what it made.
set -eu

suite=${1:-bookworm}
mirror=${2:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || { echo "cleanroot: needs root for debootstrap and chroot" >&2; exit 5; }
command -v debootstrap >/dev/null || { echo "cleanroot: install debootstrap first" >&2; exit 5; }

root=$(mktemp -d "${TMPDIR:-/tmp}/ako-cleanroot-XXXXXX")
cleanup() {
    umount "$root/proc" "$root/dev" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap cleanup EXIT INT TERM

debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
# Names and package sources resolve as they do outside.
for file in /etc/resolv.conf /etc/hosts /etc/apt/sources.list /etc/apt/apt.conf.d /etc/apt/sources.list.d; do
    [ -e "$file" ] && cp -RL "$file" "$root$(dirname "$file")/"
done
git clone -q . "$root/ako-lua"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec "$1"; }
inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git make ca-certificates >/dev/null'
inside 'cd /ako-lua && make demo'
inside 'cd /ako-lua && make test'
inside 'cd /ako-lua && git status --porcelain | { ! grep . ; }'
echo "cleanroot: demo and tests passed on $suite"
