#!/bin/sh
# usage: sysroot.sh ARCH FOLDER PACKAGE...: unpacks Debian packages of another architecture, with what they need, into
# FOLDER. The machine's own packages and apt's settings stay as they are.
set -eu
arch=$1 to=$2
shift 2
[ ! -f "$to/.complete" ] || [ "$(cat "$to/.complete")" != "$*" ] || exit 0
mkdir -p "$to/apt/lists/partial" "$to/apt/cache/archives/partial"
: > "$to/apt/status"
apt="-o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::State=$to/apt -o Dir::State::lists=$to/apt/lists -o Dir::State::status=$to/apt/status
     -o Dir::Cache=$to/apt/cache -o Debug::NoLocking=1 -o APT::Install-Recommends=0 -o APT::Sandbox::User=root -o Dir::Etc::sourceparts=-
     -o Dir::Etc::sourcelist=$to/apt/sources.list"
mirror=$(apt-cache policy libc6 2>/dev/null | sed -n 's| *[0-9]* \(http[^ ]*\) [a-z]*/main .*|\1|p' | head -1) # of this machine
echo "deb $mirror $(. /etc/os-release; echo "$VERSION_CODENAME") main" > "$to/apt/sources.list"
apt-get $apt -qq update
apt-get $apt -qq -y --download-only install "$@"
for deb in "$to"/apt/cache/archives/*.deb; do dpkg-deb -x "$deb" "$to"; done
# links to files of the root belong below FOLDER
find "$to" -type l -lname '/*' | while read -r l; do ln -sfn "$to$(readlink "$l")" "$l"; done
rm -rf "$to/apt/cache"
echo "$*" > "$to/.complete"
