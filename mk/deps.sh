#!/bin/sh
# Installs the Debian packages that building (and, with "test", testing or, with "lint", linting) needs and that are
# missing. As root or with sudo it installs; otherwise it prints the one command that would, and stops with 5.
set -eu

packages=""
need() { # need PACKAGE COMMAND...: the package is missing when the command fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || packages="$packages $package"
}
have() { command -v "$1"; }
any_lua() {
    for name in lua5.4 lua-5.4 lua54 lua; do
        pkg-config --exists "$name >= 5.4.4" && return 0
    done
    return 1
}

need gcc have "${CC:-cc}"
need libc6-dev test -e /usr/include/stdlib.h
need pkg-config have pkg-config
need liblua5.4-dev any_lua
need libgit2-dev pkg-config --exists libgit2
need libpcre2-dev pkg-config --exists libpcre2-8
need libjansson-dev pkg-config --exists 'jansson >= 2.14'
need libffi-dev pkg-config --exists libffi
need libminizip-dev pkg-config --exists minizip
for kind in "$@"; do
    case $kind in
    test)
        need libcmocka-dev pkg-config --exists cmocka
        need git have git
        ;;
    lint)
        need clang-format have clang-format
        need cppcheck have cppcheck
        need lua-check have luacheck
        need libcmocka-dev pkg-config --exists cmocka
        ;;
    esac
done

[ -n "$packages" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "make deps: missing:$packages (names of Debian's packages; install your system's equivalents)" >&2
    exit 5
fi
install="apt-get install -y --no-install-recommends$packages"
if [ "$(id -u)" = 0 ]; then
    sudo=""
elif command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    sudo="sudo"
else
    echo "make deps: missing packages; install them with: sudo apt-get update && sudo $install" >&2
    exit 5
fi
echo "make deps: installing$packages"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo $install
