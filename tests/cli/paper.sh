#!/bin/bash
# The papers' experiments: the list, a smoke run of each kind, documents, pictures, means, wrong IDs.
. tests/tool/tap.sh
code "an unknown experiment" 2 "did you mean gpulocw paper s1-fig5" "$B" paper s1-fg5
code "a picture of nothing" 2 "give its ID" "$B" paper --format svg
code "an unknown format" 2 "md or svg" "$B" paper s5-tab1 --format png
"$B" paper --json > "$T/list.json"
"$B" paper > "$T/list.txt"
is "every figure and table that the contract names has its ID" "$(python3 -c "
import json, sys
have = {e['id'] for e in json.load(open(sys.argv[1]))['experiments']}
want = ['s1-fig%d' % n for n in [2, 3] + list(range(5, 11)) + list(range(12, 23))]
want += ['s3-fig2', 's3-fig3', 's3-fig12', 's3-fig13', 's3-classes', 's4-tab3', 's4-fig7', 's4-fig8', 's4-fig10', 's5-tab1', 's5-fig5', 's5-fig6']
print([w for w in want if w not in have], any(i.startswith('s2-') for i in have))" "$T/list.json")" "[] True"
is "the list in text has as many" "$(grep -c '^  s[1-5]-' "$T/list.txt")" "$(grep -c '"id"' "$T/list.json")"
if "$B" paper --format md | cmp -s - docs/lab/papers-figures.md; then ok "docs/lab/papers-figures.md is up to date"; else no "docs/lab/papers-figures.md: make papers mends it"; fi
is "every application names a kernel that is there, with that launch" "$(python3 - <<'PY'
import json, os, re
bad = []
for abbr, file, launch in re.findall(r'^APP\("([^"]+)", "[^"]*", "[^"]*", "([^"]+)", (NULL|"[^"]*")', open('engine/paper/apps.def').read(), re.M):
    if not os.path.exists('kernels/%s.ptx' % file): bad.append(abbr); continue
    d = json.load(open('kernels/%s.launch.json' % file))
    names = {k for l in d.get('launches', [d]) for k in (l.get('name'), l['kernel'])}
    if launch != 'NULL' and launch.strip('"') not in names: bad.append(abbr + ' ' + launch)
print(bad)
PY
)" "[]"
for id in s1-vote s3-vote s5-tab1 s2-cln s1-fig2 s1-fig3 s1-fig5 s1-fig12 s1-energy s3-fig12 s3-fig2 s3-fig3 s3-classes s4-tab3 s4-fig7 s4-fig8 s4-fig9 s4-fig10 s1-tab1 s5-fig5 s5-fig6 s2-cost; do
    "$B" paper $id --quick --json --progress-fd 3 > "$T/$id.json" 2> "$T/$id.err" 3> "$T/$id.progress"; echo $? > "$T/$id.code"
done
is "each experiment says how far it is, from nothing to all" "$(python3 - "$T" <<'PY'
import glob, json, sys
bad = []
for f in sorted(glob.glob(sys.argv[1] + '/s*.progress')):
    at = [d['progress'] for d in map(json.loads, open(f)) if 'progress' in d]
    if len(at) < 2 or at[0] != 0 or at[-1] != 1 or at != sorted(at): bad.append((f, at))
print(len(glob.glob(sys.argv[1] + '/s*.progress')) > 20, bad)
PY
)" "True []"
python3 -c "
import json, sys
d = json.load(open('engine/sim/presets/pascal-gtx1080.json'))
d['name'] = 'other'
d['fields']['dram_latency'] = {'value': 600, 'source': 'a test'}
json.dump(d, open(sys.argv[1], 'w'))" "$T/other.json"
first() { "$B" paper s3-fig2 -d "$1" --json 2>&1 | python3 -c "import json, sys; print([r['series']['cycles']['ours'] for r in json.load(sys.stdin)['rows'] if r['point'] == 'staggered: first CTA'][0])"; }
is "-d takes the file of a preset; the first CTA waits for DRAM" "$(python3 -c "print(150 < $(first "sim:$T/other.json") - $(first sim:pascal-gtx1080) < 250)")" True
code "-d, where nothing runs on a device" 2 "has no -d" "$B" paper s5-tab1 -d sim:fermi-16k
gpu() { GPULOCW_LIBCUDA=$GPULOCW_BUILD/tests/fake/libcuda.so.1 GPULOCW_LIBNVML=$GPULOCW_BUILD/tests/fake/libnvml.so CUPTI_PATH=$GPULOCW_BUILD/tests/fake FAKE_CUDA= FAKE_NVML_ENERGY="7 1 100" "$B" paper "$1" --quick -d cuda:0 --json 2>&1 | python3 -c "import json, sys; d = json.load(sys.stdin); r = d['rows'][0]; v = {k: x['ours'] for k, x in r['series'].items()}; $2"; }
if [ -e "$GPULOCW_BUILD/tests/fake/libcuda.so.1" ]; then
    is "-d cuda:0: a curve is of a GPU's launch, of many waves; what the hardware lacks has no value" "$(gpu s1-fig5 "print(r['platform'], r['waves'] > 8, v['predicated'], d['rows'][-1]['series']['hardware']['ours'])")" "cuda:0 True 1 None"
    is "energy there is the counter's, each of its launches 7 mJ: as much with any threshold, within its steps" "$(gpu s1-energy "print(abs(v['cha'] - 1) < 0.1, v['hardware'])")" "True None"
else ok "-d cuda:0 # SKIP the fake driver is not built"; fi
cat > "$T/check.py" <<'PY'
import glob, json, math, os, sys
T = sys.argv[1]
bad, values, geo = [], 0, 0
for f in sorted(glob.glob(T + '/s*.json')):
    name = os.path.basename(f)[:-5]
    if open(T + '/' + name + '.code').read().strip() != '0':
        bad.append(name + ': exit code'); continue
    d = json.load(open(f))
    ours = [v['ours'] for r in d['rows'] for v in r['series'].values() if v['ours'] is not None]
    values += len(ours)
    if not ours: bad.append(name + ': no value at all')
    if d['id'] != name: bad.append(name + ': another ID')
    for r in d['rows']:
        if all(v['ours'] is None for v in r['series'].values()) and not r['note']: bad.append('%s: %s has neither value nor note' % (name, r['application']))
    for m in d['means']:
        for s, v in m['series'].items():
            x = [r['series'][s]['ours'] for r in d['rows'] if r['platform'] == m['platform'] and m['class'] in (None, r['class']) and r['series'][s]['ours'] is not None]
            if not x or name.endswith('-vote') and '/' not in s: want = None # numbers of warps, agents and launches have no mean
            elif d['mean'] == 'arithmetic': want = sum(x) / len(x)
            elif min(x) <= 0: want = None
            else: want = math.exp(sum(map(math.log, x)) / len(x)); geo += 1
            if (want is None) != (v['ours'] is None) or want is not None and abs(want - v['ours']) > 1e-9 * abs(want):
                bad.append('%s: mean of %s is %s, should be %s' % (name, s, v['ours'], want))
print(bad, values > 100, geo > 10)
PY
is "each experiment has values or says why not; its means are the means of its rows" "$(python3 "$T/check.py" "$T")" "[] True True"
is "each document is as the contract says" "faults:$(ls "$T"/s?-*.json | xargs python3 tests/tool/papers_contract.py 2>&1)" "faults:"
broken() { python3 -c "import json, sys; d = json.load(open('$T/s4-tab3.json')); $1; json.dump(d, open('$T/broken.json', 'w'))"; python3 tests/tool/papers_contract.py "$T/broken.json" > /dev/null 2>&1 && echo "missed: $1"; }
is "the contract's checker finds each of nine breaks" "missed:$(
broken "d['format'] = 'other'"
broken "d['rows'] = []"
broken "del d['title']"
broken "del d['geomean']"
broken "del d['rows'][1]['platform']"
broken "d['rows'][1]['series']['degree'].pop('paper')"
broken "d['rows'][1]['series'].pop('degree')"
broken "d['rows'][1]['series']['degree']['ours'] = True"
broken "d['rows'][0].update(note=None); [v.update(ours=None) for v in d['rows'][0]['series'].values()]"
)" "missed:"
is "a curve has the paper's form, the clone and the hardware's; the hardware's ends are bpa and cha, whose code is no other" "$(python3 -c "
import json, sys
rows = {r['point']: {k: v['ours'] for k, v in r['series'].items()} for r in json.load(open(sys.argv[1]))['rows']}
ends = [(rows['bpa'], rows['π=0']), (rows['cha'], rows['π=16'])]
print([a['hardware'] == b['hardware'] for a, b in ends], [b['predicated'] != b['hardware'] for a, b in ends], all(v['cloned'] > 0 for v in rows.values()))" "$T/s1-fig5.json")" "[True, True] [True, True] True"
is "bars: each says its π; opt is the fastest of bpa, cha and the predicated threshold; overhead is opt over it; waves stand beside" "$(python3 -c "
import json, sys
bad = []
for r in json.load(open(sys.argv[1]))['rows']:
    v = {k: x['ours'] for k, x in r['series'].items()}
    at = {k: x.get('at') for k, x in r['series'].items()}
    if not all(at[k] and at[k].startswith('π=') for k in ('bypass', 'cloned', 'hardware')): bad.append(at)
    if v['opt'] != max(v['bpa'], v['cha'], v['bypass']): bad.append(v)
    if v[at['opt'] if at['opt'] in ('bpa', 'cha') else 'bypass'] != v['opt'] or abs(v['opt/bypass'] - v['opt'] / v['bypass']) > 1e-12: bad.append((at, v))
    if not r['waves'] > 0: bad.append(r['waves'])
print(bad)" "$T/s1-fig12.json")" "[]"
is "clustering: the best is the fastest of all but the original, slower ones too; each series says its agents and its occupancy" "$(python3 -c "
import json, sys
bad, slower = [], 0
for r in json.load(open(sys.argv[1]))['rows']:
    v = {k: x['ours'] for k, x in r['series'].items()}
    tried = [v[k] for k in ('RD', 'CLU', 'CLU+TOT', 'CLU+TOT+BPS', 'PFH+TOT') if v[k] is not None]
    if v['best'] != max(tried): bad.append(v)
    if not all((r['series'][k].get('at') or '').endswith(' agents') for k in ('CLU', 'CLU+TOT')): bad.append(r['series'])
    if not all(0 < v['OCP ' + k] <= 100 for k in ('BSL', 'RD', 'CLU')): bad.append(v)
    slower += v['best'] < 1
print(bad, slower > 0)" "$T/s3-fig12.json")" "[] True"
is "another device, by -d" "$("$B" paper s3-fig3 --quick -d sim:maxwell-980 --json 2>&1 | python3 -c "import json, sys; print({r['platform'] for r in json.load(sys.stdin)['rows']})")" "{'maxwell-980'}"
code "no such device" 1 "no preset 'voodoo'" "$B" paper s3-fig3 --quick -d sim:voodoo
is "the valley model: CI climbs and stays within a thousandth, MCS falls to its plateau, HCS alone falls below it, and not by the paper's exponent" "$(python3 -c "
import json, sys
d = json.load(open(sys.argv[1])); f = {x['name']: x['ours'] for x in d['facts']}
ci = [r['series']['CI']['ours'] for r in d['rows']]
print(all(a <= b + 1e-3 for a, b in zip(ci, ci[1:])), f['MCS: memory plateau over the cache peak'] < .9, [f[k + ': cache valley over the memory plateau'] < .99 for k in ('CI', 'MCS', 'HCS')], f['HCS: the same by the paper\'s law'])" "$T/s1-fig2.json")" "True True [False, False, True] 1"
is "the coalesce paper's conclusion is counted over its nine kernels" "$(python3 -c "
import json, sys
d = json.load(open(sys.argv[1])); f = [x['ours'] for x in d['facts']]
v = [(r['series']['degree']['ours'], r['series']['L1 hit rate']['ours']) for r in d['rows'] if r['application'] not in ('coalescing', 'same_location')]
print(f == [sum(a > 70 for a, b in v), sum(a > 70 and b > 60 for a, b in v)], [x['paper'] for x in d['facts']])" "$T/s4-fig7.json")" "True [6, 6]"
is "a coalescing graph has its 32 words" "$(python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
print(list(d['rows'][0]['series']) == [str(i) for i in range(32)], all(v['ours'] is not None for v in d['rows'][0]['series'].values()))" "$T/s4-fig10.json")" "True True"
is "classes by probes follow from what the probes say" "$(python3 -c "
import json, sys
rows = [{k: v['ours'] for k, v in r['series'].items()} for r in json.load(open(sys.argv[1]))['rows']]
bad = [r for r in rows if r['by probes'] != 'write' and (r['by probes'] == 'cache-line') != (r['L1 off'] < .95)]
print(len(rows), bad)" "$T/s3-classes.json")" "2 []"
is "the example's distances are the table's" "$(python3 -c "
import json, sys
print(all(v['ours'] == v['paper'] for r in json.load(open(sys.argv[1]))['rows'] for v in r['series'].values()))" "$T/s5-tab1.json")" True
for id in s5-tab1 s4-tab3; do
    "$B" paper $id --quick --format svg > "$T/$id.svg" 2> "$T/err"
    is "$id: the picture is well-formed XML with bars" "$(python3 -c "
import sys, xml.etree.ElementTree as E
r = E.parse(sys.argv[1]).getroot()
print(r.tag.split('}')[1], len([e for e in r if e.tag.endswith('rect')]) > 4)" "$T/$id.svg")" "svg True"
done
has "Markdown: ours, and the paper's in brackets" "^\| address 8, access 5 \|  \| 0 \(0\) \| 2 \(2\) \| miss \(miss\) \|" "$("$B" paper s5-tab1 --format md)"
is "text keeps to the width" "$(COLUMNS=80 LC_ALL=C.UTF-8 "$B" paper s2-cln | awk '{ gsub(/[\200-\277]/, "") } length($0) > 100' | wc -l)" 0
timeout --preserve-status -s INT 1 "$B" paper s1-fig22 > "$T/out" 2> "$T/err"; is "interrupted: 130, and nothing half said" "$?/$(wc -c < "$T/out")" "130/0"
exit $bad
