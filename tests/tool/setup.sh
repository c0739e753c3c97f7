#!/bin/sh
# Sees to what building needs on Debian and its kin; with the word "test" what testing needs, with "packages" what
# make check-packages and the Slurm test need. Installs what is missing when it may, otherwise prints the one command
# that does, and stops.
set -u
missing=
need() { # header-or-program package
    case $1 in
        *.h) printf '#include <%s>\n' "$1" | ${CC:-gcc} -fsyntax-only -x c - 2>/dev/null || missing="$missing $2" ;;
        *) command -v "$1" >/dev/null 2>&1 || missing="$missing $2" ;;
    esac
}
need gcc gcc
need cjson/cJSON.h libcjson-dev
need lz4.h liblz4-dev
need zstd.h libzstd-dev
[ "${TUI:-1}" = 1 ] && need ncursesw/curses.h libncurses-dev
asked=" $* "
if [ "$asked" != "${asked% test *}" ]; then
    need setjmp.h libc6-dev
    printf '#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>\n' | ${CC:-gcc} -fsyntax-only -x c - 2>/dev/null || missing="$missing libcmocka-dev"
    need tmux tmux
    need patch patch
    need pgrep procps
    need python3 python3
    need clang-format clang-format
fi
if [ "$asked" != "${asked% packages *}" ]; then
    need git git
    need dpkg-buildpackage dpkg-dev
    need dh debhelper
    need lintian lintian
    need appstreamcli appstream
    need pkg-config pkg-config
    need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
    need qemu-aarch64 qemu-user
    need npm npm
    need curl curl
    PATH=$PATH:/usr/sbin:/sbin
    need debootstrap debootstrap
    need munged munge
    need slurmctld slurm-wlm
fi
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then as=
elif command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then as=sudo
else
    echo "missing:$missing" >&2
    echo "install with:  sudo apt-get install -y$missing" >&2
    exit 1
fi
echo "installing$missing" >&2
{ $as apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing; } >/tmp/gpulocw-setup.$$ 2>&1 || {
    cat /tmp/gpulocw-setup.$$ >&2
    rm -f /tmp/gpulocw-setup.$$
    echo "could not install:$missing" >&2
    exit 1
}
rm -f /tmp/gpulocw-setup.$$
