# For tests that drive the program in a real terminal: tmux runs it, types and reads. Sourced.
# A wait that runs out fails the next claim, whether or not that claim looks at it.
b=$(realpath "${GPULOCW_BUILD:-build}/gpulocw")
dir=$(mktemp -d)
tm() { tmux -L "gpulocw-$$" -f /dev/null "$@"; }
# the last program may still be writing its history when its terminal goes
trap 'tm kill-server 2>/dev/null; rm -rf "$dir" 2>/dev/null || { sleep 1; rm -rf "$dir"; }' EXIT
if ! command -v tmux > /dev/null; then echo "1..0 # SKIP there is no tmux"; exit 0; fi
tm new-session -d -s keep cat # the server lives from one program to the next
n=0 missed=
check() {
    n=$((n + 1))
    if [ "$2" -eq 0 ] && [ -z "$missed" ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; echo "# waited in vain for:$missed"; screen | sed 's/^/# /'; fi
    missed=
}
# Scripts that follow a user's own runs open with the source, and nothing runs unasked: "open = source".
# The first screen as everybody gets it: opens_with summary.
opens_with() { mkdir -p "$dir/c/gpulocw"; echo "open = $1" > "$dir/c/gpulocw/config"; }
opens_with source
# begin COLUMNSxROWS ARGUMENTS: the program in a fresh terminal; its exit code goes to $dir/rc
begin() {
    local size=$1; shift
    tm kill-session -t s 2>/dev/null; rm -f "$dir/rc"
    tm new-session -d -s s -x "${size%x*}" -y "${size#*x}" \
        "XDG_CONFIG_HOME=$dir/c XDG_DATA_HOME=$dir/d LC_ALL=C.UTF-8 $b $*; echo \$? > $dir/rc; exec cat"
}
keys() { tm send-keys -t s "$@"; }
text() { tm send-keys -t s -l "$1"; }
screen() { tm capture-pane -p -t s; }
# until COMMAND...: waits for it, five minutes at most: a busy machine is slow, not wrong.
limit=${HOUR_TENTHS:-3000}
until_true() { for _ in $(seq "$limit"); do "$@" && return 0; sleep 0.1; done; missed="$missed '$*'"; return 1; }
has() { screen | grep -qE -- "$1"; }
has_not() { ! has "$1"; }
shows() { until_true has "$1"; }
gone() { until_true has_not "$1"; }
# a key whose answer another message may replace at once: pressed again until it stands
insists() { until_true pressed_shows "$1" "$2"; }
pressed_shows() { keys "$1"; sleep 0.3; has "$2"; }
ends() { until_true [ -s "$dir/rc" ]; }
written() { until_true [ -s "$1" ]; }
# Esc, and until it is taken: with a key right behind it, it would be Alt with that key
escape() { keys Escape; gone "Esc cancel"; }
line_of() { screen | grep -nE -- "$1" | head -1 | cut -d: -f1; }
