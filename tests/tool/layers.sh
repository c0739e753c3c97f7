#!/bin/sh
# The rooms and the direction of their dependencies (docs/internals/design.md), over #include lines;
# and what only one room may use. Prints every violation; exit 1 when there is one.
set -u
fail=0
bad() { echo "$*"; fail=1; }

# A room may include itself and the rooms after it.
order="tui/term tui/panel tui/model engine/cmd engine/session engine/tune engine/dev engine/sim engine/pass engine/analysis engine/ptx engine/rec engine/model engine/base"
rank() { n=0; for r in $order; do [ "$r" = "$1" ] && { echo $n; return; }; n=$((n + 1)); done; echo 99; }
for room in $order; do
    [ -d "$room" ] || continue
    mine=$(rank "$room")
    grep -rnoE '#include "(engine|tui)/[a-z]+/' "$room" --include='*.c' --include='*.h' --include='*.def' 2>/dev/null |
    sed -E 's/:#include "/ /; s/\/$//' | sort -u | while read -r where other; do
        [ "$(rank "$other")" -lt "$mine" ] && echo "$where: $room may not include $other"
        case "$room $other" in
            "engine/sim engine/analysis" | "engine/analysis engine/sim" | "engine/sim engine/pass")
                echo "$where: $room and $other never see each other" ;;
        esac
    done
done > /tmp/layers.$$
[ -s /tmp/layers.$$ ] && { cat /tmp/layers.$$; fail=1; }
rm -f /tmp/layers.$$

only() { # pattern, room, what
    found=$(grep -rnE "$1" engine tui --include='*.c' --include='*.h' | grep -v "^$2" | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)')
    [ -n "$found" ] && bad "$3 belongs in $2 alone:
$found"
}
only '#include <(ncursesw/)?(curses|ncurses|term)\.h>' tui/term "curses"
only '#include <cjson/' engine/session "cJSON"
only '\b(dlopen|dlsym)\(' engine/dev "dlopen"
# Banned functions; and the engine below cmd prints nothing and never ends the program.
found=$(grep -rnE '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca)\(' engine tui --include='*.c' --include='*.h' | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)')
[ -n "$found" ] && bad "banned functions:
$found"
found=$(grep -rnE '(^|[^a-z_])(printf|puts|putchar|fprintf|perror|exit|abort)\(' engine --include='*.c' | grep -v '^engine/cmd/' | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)')
[ -n "$found" ] && bad "printing or ending the program below engine/cmd:
$found"
# Sizes: files below 800 (.c) and 250 (.h) lines; functions at most 60 lines, but for those in long_functions.txt.
for f in $(find engine tui -name '*.c' -o -name '*.h'); do
    n=$(wc -l < "$f")
    case $f in *.c) most=800 ;; *) most=250 ;; esac
    [ "$n" -gt "$most" ] && bad "$f has $n lines; the budget is $most"
done
long=$(find engine tui -name '*.c' -exec awk '
    FNR == 1 { open = 0 }
    /^[a-zA-Z_].*\(/ && !/;[ ]*$/ { head = $0 }
    /^\{/ { open = FNR }
    /^\}/ && open { if (FNR - open > 61) { name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); print FILENAME " " name " " FNR - open - 1 } open = 0 }' {} +)
echo "$long" | while read -r file name n; do
    [ -n "$file" ] && ! grep -qs "^$file $name " tests/tool/long_functions.txt && echo "$file: $name has $n lines; the budget is 60"
done > /tmp/layers.$$
[ -s /tmp/layers.$$ ] && { cat /tmp/layers.$$; fail=1; }
rm -f /tmp/layers.$$
exit $fail
