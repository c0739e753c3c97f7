#!/bin/bash
# Completion of command lines: what the program offers at a place, and what each shell's script makes of it.
. tests/tool/tap.sh
words() { "$B" completion -- "$@" | cut -f1 | tr '\n' ' '; }
is "commands" "$(words an)" "analyze :files ptx json "
is "every command is offered" "$("$B" completion -- '' | grep -vc :files)" "$("$B" help | grep -c '^  gpulocw [a-z]')"
is "options of that command alone" "$(words run --out) / $(words report --out) / $(words analyze --out)" "--output --outputs  / --output  / "
is "knobs where the command takes them" "$(words rewrite --pre) / $(words replay --pre)" "--prefetch --prefetch-distance  / "
is "values of a knob" "$(words run --bypass l) / $(words run --pi '') / $(words run --bypass=l)" "l1 l2 l1+l2  / cha bpa vote vote-cta vote-sm  / --bypass=l1 --bypass=l2 --bypass=l1+l2 "
is "the word for a value that must be typed is not offered" "$(words run --index '')" "row column tile: graph custom: "
is "the help tells every method" "$(for m in $(words tune --method ''); do "$B" help tune | sed -n '/--method/,/--budget/p' | grep -q "\b$m\b" || echo "$m"; done; echo ok)" "ok"
is "values of an option, by command" "$(words check x --format '') / $(words report x --format j) / $(words run --prove '') / $(words source x --lang t) / $(words apply --mode '') / $(words run --contract n)" "text json sarif junit  / json  / quick full  / triton  / ab all  / never "
is "devices" "$(words run -d sim:fermi-1)" "sim:fermi-16k :files json "
is "behind a comma" "$(words sweep --axis pi,carv) / $(words sweep --axis pi,coarsen)" "pi,carveout  / pi,coarsen= pi,coarsen-mode "
is "kernels and launches of the file on the line" "$(words run kernels/gemm.ptx --kernel '' | cut -d' ' -f1-3)" "gemm default n256"
is "sessions and folders are the shell's" "$(words replay '') / $(words run --outputs '')" ":files json  / :folders "
is "demos" "$(words demo valle)" "valley "
code "another shell" 2 "no completion for the shell 'tcsh'" "$B" completion tcsh
code "no shell" 2 "no shell given" "$B" completion

# bash itself: words broken at ':' and '=', and files with the right ending.
in_bash() {
    PATH="$(cd "$GPULOCW_BUILD" && pwd):$PATH" bash --norc -c '
        source <(gpulocw completion bash); compopt() { :; }
        COMP_LINE="gpulocw $1"; COMP_POINT=${#COMP_LINE}
        _gpulocw gpulocw "$2" ""; printf "%s " "${COMPREPLY[@]}"' - "$1" "$2"
}
is "bash: behind a colon the rest alone" "$(in_bash 'run -d sim:fermi-1' fermi-1)" "fermi-16k "
is "bash: behind an equals sign the rest alone" "$(in_bash 'run --prefetch=l' l)" "l1 l2 "
mkdir -p "$T/in/folder"; touch "$T/in/a.ptx" "$T/in/a b.ptx" "$T/in/c.json"
is "bash: files with the ending, and folders" "$(in_bash "run $T/in/" "$T/in/")" "$T/in/folder $T/in/a b.ptx $T/in/a.ptx "
if command -v fish >/dev/null; then
    is "fish" "$(HOME=$T PATH="$(cd "$GPULOCW_BUILD" && pwd):$PATH" fish -c "gpulocw completion fish | source; complete -C 'gpulocw run -d sim:fermi-1'" | cut -f1 | tr '\n' ' ')" "sim:fermi-16k "
fi
if command -v zsh >/dev/null; then
    if "$B" completion zsh > "$T/_gpulocw" && zsh -n "$T/_gpulocw"; then ok "zsh: parses"; else no "zsh: parses"; fi
fi
# make install puts them where the shells look.
if make -s install DESTDIR="$T/to" PREFIX=/usr BUILD="$GPULOCW_BUILD" > "$T/log" 2>&1 && [ -s "$T/to/usr/share/bash-completion/completions/gpulocw" ] && [ -s "$T/to/usr/share/zsh/site-functions/_gpulocw" ] &&
    [ -s "$T/to/usr/share/fish/vendor_completions.d/gpulocw.fish" ]; then ok "make install"; else no "make install" "$(cat "$T/log")"; fi
echo "1..$n"
exit $bad
