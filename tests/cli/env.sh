#!/bin/bash
# Every environment variable that the sources look at is in the program's table, and in the manual page.
B=$GPULOCW_BUILD/gpulocw
read=$(grep -rhoE '(getenv|folder_of|env_path)\("[A-Z_0-9]+"' engine tui | grep -oE '"[A-Z_0-9]+"' | tr -d '"'; grep -rhoE '"XDG_[A-Z_]+"' engine tui | tr -d '"')
told=$("$B" help environment | sed -n 's/^  \([A-Z].*\)$/\1/p' | tr -d ' ' | tr ',' '\n')
a=$(comm -23 <(printf '%s\n' $read | sort -u) <(printf '%s\n' $told | sort -u))
if [ -z "$a" ]; then echo "ok 1 - environment variables"; else echo "not ok 1 - environment variables"; printf '%s\n' "$a" | sed 's/^/#   /'; fi
missing=$(for v in $told; do grep -qF "$v" docs/gpulocw.1 || echo "$v"; done)
if [ -z "$missing" ]; then echo "ok 2 - docs/gpulocw.1 names them"; else echo "not ok 2 - docs/gpulocw.1 names them"; echo "#   $missing"; fi
[ -z "$a$missing" ]
