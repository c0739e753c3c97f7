#!/bin/bash
# README's two commands in a root that has nothing but Debian's base and make: as root, and as a user. What a test starts and the
# root does not have is named, whether or not the test noticed. GPULOCW_BARE_ROOT: such a root that is there already (debootstrap
# makes one otherwise); GPULOCW_BARE_TESTS: files to run instead of all of `make check`. An hour: only for `make check-bare`.
. tests/tool/tap.sh
PATH=$PATH:/usr/sbin:/sbin
skip() { echo "ok 1 - a bare root # SKIP $1"; exit 0; }
[ -n "${GPULOCW_BARE:-}" ] || skip "an hour: make check-bare"
[ "$(id -u)" = 0 ] || skip "needs root"
command -v debootstrap >/dev/null || skip "no debootstrap"
git rev-parse -q --verify HEAD >/dev/null 2>&1 || skip "no git history here"
root=${GPULOCW_BARE_ROOT:-$T/root}
if [ ! -x "$root/usr/bin/make" ]; then
    mirror=$(sed -nE 's/^(URIs:|deb) .*(https?:\/\/[^ ]*)( .*)?$/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | grep -v security | head -1)
    debootstrap --variant=minbase --include=make bookworm "$root" ${mirror:+"$mirror"} >"$T/debootstrap.log" 2>&1 || skip "debootstrap: $(tail -1 "$T/debootstrap.log")"
fi
leave() { for m in dev/pts proc; do mountpoint -q "$root/$m" && umount -l "$root/$m"; done; rm -rf "$T"; }
trap leave EXIT
mkdir -p "$root/proc" "$root/dev/pts"
mount -t proc proc "$root/proc" && mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts" || skip "nothing can be mounted here"
ln -sf pts/ptmx "$root/dev/ptmx"
chroot "$root" id bare >/dev/null 2>&1 || chroot "$root" useradd -m bare
cat >"$root/bare.env" <<'ENV'
command_not_found_handle() { echo "${BASH_SOURCE[1]} $1" >>/tmp/not-found; echo "$1: command not found" >&2; return 127; }
ENV
in_root() { # USER COMMAND, in the tree of that user
    local home=/root
    [ "$1" = root ] || home=/home/$1
    chroot "$root" setpriv --reuid="$1" --regid="$1" --init-groups env -i HOME="$home" USER="$1" LOGNAME="$1" LC_ALL=C.UTF-8 TERM=xterm PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin BASH_ENV=/bare.env \
        bash -c "cd ~/gpulocw && $2" </dev/null >"$T/said" 2>&1
}
check="make check"
[ -z "${GPULOCW_BARE_TESTS:-}" ] || check="sh tests/tool/setup.sh test && make -s -j$(nproc) tests && bash tests/run.sh build $GPULOCW_BARE_TESTS"
for who in root bare; do
    home=$root/root
    [ $who = root ] || home=$root/home/$who
    if [ ! -d "$home/gpulocw" ]; then
        mkdir "$home/gpulocw" && git archive HEAD | tar -x -C "$home/gpulocw" && chroot "$root" chown -R $who: "${home#"$root"}/gpulocw"
    fi
    : >"$root/tmp/not-found"
    chmod 666 "$root/tmp/not-found"
    if in_root $who "make demo | cat" && grep -q 'verdict: cache-congested' "$T/said"; then ok "$who: make demo"; else no "$who: make demo" "$(tail -20 "$T/said")"; continue; fi
    if in_root $who "$check"; then ok "$who: $check: $(tail -1 "$T/said")"; else no "$who: $check" "$(tail -40 "$T/said")"; fi
    if [ -s "$root/tmp/not-found" ]; then no "$who: a test starts what is not there" "$(sort -u "$root/tmp/not-found")"; else ok "$who: no test starts a program that is not there"; fi
done
exit $bad
