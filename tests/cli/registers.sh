#!/bin/bash
# --regs: what ptxas says of registers, spills and stack decides what is resident, what goes to local memory and how long it takes;
# the model says the same on every machine. The ptxas here is a script that says what it is told to.
. tests/tool/tap.sh
unset GPULOCW_REGS
mkdir "$T/bin"
cat > "$T/bin/ptxas" <<'P'
#!/bin/sh
# usage: SAID="REGISTERS STACK STORES LOADS"; nothing: it refuses the text
case $1 in --version) echo "Cuda compilation tools, release 99.1, V99.1.7"; exit ;; esac
echo "$*" >> "$LOG"
[ -n "$SAID" ] || { echo "ptxas fatal   : no"; exit 255; }
set -- $SAID
echo "ptxas info    : Compiling entry function 'many' for 'sm_90'"
echo "ptxas info    : Function properties for many"
echo "    $2 bytes stack frame, $3 bytes spill stores, $4 bytes spill loads"
echo "ptxas info    : Used $1 registers, used 0 barriers"
P
chmod +x "$T/bin/ptxas"
export PATH="$T/bin:$PATH" LOG="$T/log"
python3 - "$T" <<'PY'
import json, sys
T, n = sys.argv[1], 40
def text(local=''):
    load = ''.join(' ld.global.f32 %%f%d, [%%d1+%d];\n' % (i, 512 * i) for i in range(n))
    turn = ''.join(' fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n' % (i, i, (i + 1) % n, (i + 7) % n) for i in range(n))
    add = ''.join(' add.f32 %%f%d, %%f%d, %%f%d;\n' % (n, n, i) for i in range(n))
    return ('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry many(.param .u64 o, .param .u64 i)\n{\n' + (' .local .align 4 .b8 v[8];\n' if local else '')
            + ' .reg .f32 %%f<%d>; .reg .b64 %%d<6>; .reg .b32 %%r<6>; .reg .pred %%p;\n' % (n + 2)
            + ' ld.param.u64 %d0, [o]; ld.param.u64 %d1, [i]; cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;\n'
            + ' mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %r0; mul.wide.u32 %d2, %r2, 4; mul.wide.u32 %d3, %r0, 4;\n'
            + ' add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d3;\n' + load + ' mov.u32 %r3, 0; mov.f32 %f' + str(n) + ', 0f00000000;\nL:\n' + turn + local
            + ' add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 8; @%p bra L;\n' + add + ' st.global.f32 [%d0], %f' + str(n) + ';\n ret;\n}\n')
open(T + '/many.ptx', 'w').write(text())
open(T + '/local.ptx', 'w').write(text(' st.local.f32 [v], %f0; ld.local.f32 %f1, [v];\n'))
for name in 'many', 'local':
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': name + '.ptx', 'kernel': 'many', 'grid': [1056, 1, 1], 'block': [128, 1, 1], 'shared': 0,
               'args': [{'name': 'o', 'buffer': 'f32', 'count': 1056 * 128, 'output': True},
                        {'name': 'i', 'buffer': 'f32', 'count': 128 * n, 'init': {'random': [0, 1], 'seed': 1}}]}, open(T + '/' + name + '.launch.json', 'w'))
PY
c="{x['name']: x for x in d['counters']}"
run() { SAID=$1 "$B" run "$T/$2.ptx" --json "${@:3}"; }
value() { python3 -c "
import json,sys
d=json.load(sys.stdin); c={x['name']:x['value'] for x in d['counters']}
print($1)"; }

doc "ptxas' registers decide what is resident, and who said so is written down" \
    "(d['regs'], d['regs_from'], d['ctas_per_sm']) == (168, 'ptxas 99.1.7', 3) and $c['regs.per_thread'] == {'name':'regs.per_thread','value':168,'unit':'register','origin':'compiled','valid':True} and $c['regs.spill_bytes']['value'] == 0" run "168 0 0 0" many
doc "the model is asked for by name" "d['regs_from'] == 'model' and $c['regs.per_thread']['origin'] == 'modelled' and $c['regs.spill_bytes']['value'] == 0 and $c['local.load_bytes']['value'] == 0" run "168 0 0 0" many --regs model
doc "a ptxas that refuses the text leaves it to the model" "d['regs_from'] == 'model'" run "" many
doc "and one that does not know the device" "d['regs_from'] == 'model'" env SAID= "$B" run "$T/many.ptx" -d sim:kepler-k40 --json
has "it is asked for the device's architecture and this kernel" "-arch=sm_90 .*-e many .*kernel.ptx" "$(cat "$T/log")"
none=$(run "40 0 0 0" many | value "d['time_ns']['median']")
few=$(run "40 64 80 80" many | value "(d['time_ns']['median'], c['regs.spill_bytes'], c['local.store_bytes'] > 0)")
many=$(run "40 128 160 160" many | value "(d['time_ns']['median'], c['regs.spill_bytes'], c['local.store_bytes'] > 0)")
if python3 -c "
none, few, many = $none, $few, $many
assert few[1:] == (80, True) and many[1:] == (160, True), (few, many)
assert none < few[0] < many[0], (none, few, many)" 2> "$T/err"; then ok "bytes that are spilled move and take time"; else no "spills take time" "$none $few $many" "$(cat "$T/err")"; fi
moved() { run "$1" many --exact | value "round((c['local.store_bytes'] + c['local.load_bytes']) / (1056 * 128))"; }
a=$(moved "40 128 160 160") b=$(moved "40 256 320 320")
if [ "$a" -gt 320 ] && [ "$b" -gt $((a * 3 / 2)) ]; then ok "twice the bytes in the code move more of them ($a, $b bytes a thread)"; else no "bytes a thread" "$a $b"; fi
is "no registers, no spill: variables that ptxas has in registers move nothing" "$(run "40 0 0 0" local | value "c['local.store_bytes'] + c['local.load_bytes']")" 0
is "those of a stack frame do" "$(run "40 8 0 0" local --exact | value "c['local.store_bytes'] == 8 * 4 * 1056 * 128")" True
export SAID="40 128 160 160"
has "run tells it" "^registers 40 a thread, 160 bytes spilled \(ptxas 99.1.7\)" "$("$B" run "$T/many.ptx")"
tight=$("$B" run "$T/many.ptx" --regs model --maxnreg 24)
has "the model tells it, too" "^registers 24 a thread, [1-9][0-9]* bytes spilled \(model\)" "$tight"
has "and what to write" "[1-9][0-9]* bytes of a thread spill, with 24 registers \(model\): allow it more of them" "$tight"
rm -f "$LOG"; "$B" run "$T/many.ptx" --repeat 3 > /dev/null
is "one text is compiled once" "$(wc -l < "$LOG")" 1
rm -f "$LOG"; GPULOCW_REGS=model "$B" run "$T/many.ptx" > /dev/null
[ ! -e "$LOG" ] && ok "GPULOCW_REGS=model is the default's default" || no "GPULOCW_REGS" "$(cat "$LOG")"
doc "a worker's device takes the registers that are known here" "d['regs'] == 168 and d['regs_from'] == 'ptxas 99.1.7'" env SAID="168 0 0 0" "$B" run "$T/many.ptx" --worker "env PATH=/nowhere:/bin:/usr/bin $B worker" -d sim:hopper-h200 --json
# a search that goes on with other registers begins anew
"$B" sweep "$T/many.ptx" --axis maxnreg=32/64 -o "$T/s.json" > /dev/null 2>&1
code "a sweep does not go on with times of other registers" 0 "no sweep of this kernel" "$B" sweep "$T/many.ptx" --axis maxnreg=32/64 --resume "$T/s.json" --regs model
code "--regs takes two words" 2 "must be ptxas or model" "$B" run "$T/many.ptx" --regs best
if [ -e /usr/local/cuda/bin/ptxas ]; then ok "ptxas that is asked for must be there # SKIP there is one"
else code "ptxas that is asked for must be there" 1 "ptxas was not found" env PATH=/usr/bin:/bin CUDA_HOME= CUDA_PATH= "$B" run "$T/many.ptx" --regs ptxas; fi
exit $bad
