#!/bin/bash
# --maxnreg and --minctas: what is accepted compiles (ptxas, where it is found); what is refused names the number needed, which
# compiles, and eight fewer do not.
. tests/tool/tap.sh
PTXAS=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2> /dev/null)
python3 - "$B" "${PTXAS:-}" "$T" > "$T/said" 2>&1 <<'PY'
import re, subprocess, sys
exe, ptxas, tmp = sys.argv[1:]
n, bad = 0, False
def say(good, name, *why):
    global n, bad
    n += 1; bad |= not good
    print('%sok %d - %s' % ('' if good else 'not ', n, name))
    for w in () if good else why: print('#   ' + str(w)[:300])
def head(version, target): return '.version %s\n.target %s\n.address_size 64\n' % (version, target)
def wgmma(words):
    acc = ','.join('%%f%d' % i for i in range(words))
    return head('8.0', 'sm_90a') + '.visible .entry k(.param .u64 o)\n{ .reg .f32 %%f<%d>; .reg .b64 %%d<4>; .reg .pred %%p; mov.b64 %%d0, 0; mov.b64 %%d1, 0; ld.param.u64 %%d2, [o];\n setp.ne.b32 %%p, 0, 0; wgmma.fence.sync.aligned;\n wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, %%d0, %%d1, %%p, 1, 1, 0, 0;\n wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n%s ret; }\n' % (words + 1, 2 * words, acc, ''.join(' st.global.f32 [%%d2+%d], %%f%d;\n' % (4 * i, i) for i in range(words)))
def tcgen(words):
    to = ','.join('%%a%d' % (i + 1) for i in range(words))
    return head('8.6', 'sm_100a') + '.visible .entry k(.param .u64 o)\n{ .reg .b32 %%a<%d>; .reg .b64 %%d<4>; ld.param.u64 %%d2, [o]; ld.global.u32 %%a0, [%%d2];\n tcgen05.ld.sync.aligned.32x32b.x%d.b32 {%s}, [%%a0]; tcgen05.wait::ld.sync.aligned;\n%s ret; }\n' % (words + 2, words, to, ''.join(' st.global.b32 [%%d2+%d], %%a%d;\n' % (4 * i, i + 1) for i in range(words)))
def call(live, kind, directive=''):
    many = ''.join(' ld.volatile.global.u32 %%r%d, [%%d1+%d];\n' % (i, 4 * i) for i in range(1, live)) + ''.join(' mad.lo.u32 %%r0, %%r0, %%r%d, %%r0;\n' % i for i in range(1, live))
    t = head('9.0' if directive else '8.0', 'sm_90') + '.visible .func (.param .b32 r) f(.param .b64 a) %s\n{ .reg .b32 %%r<%d>; .reg .b64 %%d<2>; ld.param.u64 %%d1, [a]; mov.u32 %%r0, 0;\n%s st.param.b32 [r], %%r0; ret; }\n' % (directive, live + 1, many)
    if kind == 'extern': t = head('8.0', 'sm_90') + '.extern .func (.param .b32 r) f(.param .b64 a);\n'
    if kind == 'pointer': t += '.global .u64 tab[1] = { f };\n'
    t += '.visible .entry k(.param .u64 o)\n{ .reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [o];\n'
    if kind == 'pointer': t += ' P: .callprototype (.param .b32 _) _ (.param .b64 _);\n'
    t += ' { .param .b64 p; .param .b32 q; st.param.b64 [p], %d1;\n'
    t += ' ld.global.u64 %d2, [tab]; call.uni (q), %d2, (p), P;\n' if kind == 'pointer' else ' call.uni (q), f, (p);\n'
    return t + ' ld.param.b32 %r1, [q]; st.global.u32 [%d1], %r1; }\n ret; }\n'
cases = [('wgmma of %d words' % w, wgmma(w), True) for w in (4, 8, 12, 16, 32, 48, 64, 96, 128)]
cases += [('tcgen05 of %d words' % w, tcgen(w), True) for w in (8, 16, 32, 64, 128)]
cases += [('%s, %d live' % (k, l), call(l, k), False) for k in ('call', 'pointer') for l in (10, 60)]
cases += [('.abi_preserve %d' % p, call(10, 'pointer', '.abi_preserve %d' % p), False) for p in (20, 40, 60, 100)]
def assemble(text, target):
    open(tmp + '/a.ptx', 'w').write(text)
    r = subprocess.run([ptxas, '-arch=' + target, tmp + '/a.ptx', '-o', '/dev/null'], capture_output=True, text=True)
    return r.returncode == 0, r.stdout + r.stderr
def rewrite(text, *options):
    open(tmp + '/r.ptx', 'w').write(text)
    r = subprocess.run([exe, 'rewrite', tmp + '/r.ptx', '--kernel', 'k', *options], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr
for name, text, tight in cases:
    target = re.search(r'target (\S+)', text).group(1)
    wrong, need = [], None
    for limit in (16, 24, 32, 40, 64, 96, 128, 160):
        rc, out, err = rewrite(text, '--maxnreg', str(limit))
        m = re.search(r'needs at least (\d+)', err)
        if rc not in (0, 3) or rc == 3 and not m: wrong.append((limit, rc, err))
        if rc == 3: need = int(m.group(1)); wrong += [(limit, 'refused, needs %d' % need)] if limit >= need else []
        if rc == 0 and ptxas:
            ok, why = assemble(out, target)
            if not ok or 'adjusting' in why: wrong.append((limit, 'ptxas: ' + why))
    say(not wrong, name + ': refused with a number, or it compiles', *wrong)
    if need and ptxas:
        ok, why = assemble(rewrite(text, '--maxnreg', str(need))[1], target)
        say(ok, name + ': %d registers compile' % need, why)
        if tight and need > 32:
            ok, why = assemble(text.replace('(.param .u64 o)\n', '(.param .u64 o) .maxnreg %d\n' % (need - 8), 1), target)
            say(not ok, name + ': %d do not' % (need - 8))
rc, out, err = rewrite(call(10, 'extern'), '--maxnreg', '32')
say(rc == 3 and 'another module' in err, 'a callee of another module: refused, by name', rc, err)
rc, out, err = rewrite(call(60, 'call').replace('(.param .u64 o)\n', '(.param .u64 o) .maxntid 1024, 1, 1\n', 1), '--minctas', '4')
say(rc == 3 and '1024 threads' in err, '--minctas with a larger .maxntid than an SM holds: refused', rc, err)
rc, out, err = rewrite(wgmma(64).replace('(.param .u64 o)\n', '(.param .u64 o) .maxntid 128, 1, 1\n', 1), '--minctas', '8')
say(rc == 3 and '--minctas leaves a thread 64 registers' in err and 'needs at least 96' in err, '--minctas below what an instruction needs: refused with both numbers', rc, err)
rc, out, err = rewrite(wgmma(64).replace('(.param .u64 o)\n', '(.param .u64 o) .maxntid 128, 1, 1\n', 1), '--minctas', '4')
say(rc == 0 and (not ptxas or assemble(out, 'sm_90a')[0]), '--minctas above it compiles', rc, err)
print('1..%d' % n)
sys.exit(bad)
PY
rc=$?
cat "$T/said"
exit $rc
