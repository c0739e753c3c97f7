#!/bin/bash
# gpulocw check: findings with their places, rules, baselines, SARIF.
. tests/tool/tap.sh
ABSOLUTE=$(readlink -f "$B")
# A kernel of three accesses: lane i reads word 32 i, writes word i, and shared memory with stride 32; compiled from k.cu as .loc says.
cat >"$T/k.ptx" <<'PTX'
.version 7.0
.target sm_80
.address_size 64
.file 1 "src/my kernel.cu"
.visible .entry k(.param .u64 a, .param .u64 b)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b8 s[4096];
	.loc 1 10 3
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 128;
	add.s64 %rd4, %rd1, %rd3;
	.loc 1 12 7
	ld.global.u32 %r2, [%rd4];
	shl.b32 %r3, %r1, 7;
	mov.u32 %r4, s;
	add.u32 %r4, %r4, %r3;
	.loc 1 13 9
	st.shared.u32 [%r4], %r2;
	ld.shared.u32 %r5, [%r4];
	mul.wide.u32 %rd5, %r1, 4;
	add.s64 %rd6, %rd2, %rd5;
	.loc 1 14 5
	st.global.u32 [%rd6], %r5;
	ret;
}
PTX
cat >"$T/k.launch.json" <<'JSON'
{"format": "gpulocw-launch", "version": 1, "launches": [
 {"name": "one", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "args": [
  {"name": "a", "buffer": "u32", "count": 1024, "init": {"iota": [0, 1]}}, {"name": "b", "buffer": "u32", "count": 32, "init": {"fill": 0}, "output": true}]},
 {"name": "short", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "args": [
  {"name": "a", "buffer": "u32", "count": 900, "init": {"iota": [0, 1]}}, {"name": "b", "buffer": "u32", "count": 32, "init": {"fill": 0}, "output": true}]}]}
JSON
code "findings stand where the source says" 0 "^src/my kernel.cu:12:7: warning: 32 sectors per request, 8 times the least number of 4.* \[uncoalesced-load\]$" "$B" check "$T/k.ptx" -k one
code "conflicts of banks too" 0 "^src/my kernel.cu:13:9: warning: 31 extra passes per request.* \[bank-conflict\]$" "$B" check "$T/k.ptx" -k one
code "a run that leaves its buffer is exit 3" 3 "^src/my kernel.cu:12:7: error: .*\[out-of-bounds\]$" "$B" check "$T/k.ptx"
doc "JSON counts it" 'd["format"] == "gpulocw-check" and d["new_errors"] == 1 and sorted(f["rule"] for f in d["findings"]) == ["bank-conflict", "out-of-bounds", "uncoalesced-load"]' "$B" check "$T/k.ptx" --json
doc "with value, limit and both places" '[(f["value"], f["limit"], f["line"], f["ptx_line"]) for f in d["findings"] if f["rule"] == "uncoalesced-load"] == [(8, 2, 12, 19)]' "$B" check "$T/k.ptx" --json
doc "a store and a load of one place are one finding, counted" '[f["count"] for f in d["findings"] if f["rule"] == "bank-conflict"] == [2]' "$B" check "$T/k.ptx" --json
# Code inlined from a header that inlines from another: the kernel's own file names the place, of both partners of a race.
R=tests/repro/race_line.ptx
code "a race is told at the user's own line" 3 "^race_line.cu:6:5: error: race: write of shared .* with the read of warp 1 of CTA 0 at race_line.cu:9," "$B" check $R
doc "so is its partner" '[(f["file"], f["line"], f["ptx_line"], f["other"]) for f in d["findings"]] == [("race_line.cu", 6, 24, {"file": "race_line.cu", "line": 9})]' "$B" check $R --json
doc "SARIF has the partner as a related place" '[l["physicalLocation"]["artifactLocation"]["uri"] for l in d["runs"][0]["results"][0]["relatedLocations"]] == ["race_line.cu", "tests/repro/race_line.ptx"]' "$B" check $R --format sarif
doc "one finding for all launches of a kernel" 'len({f["fingerprint"] for f in d["findings"]}) == len(d["findings"])' "$B" check "$T/k.ptx" --json
doc "SARIF 2.1.0" 'd["version"] == "2.1.0" and [r["ruleId"] for r in d["runs"][0]["results"]] == ["out-of-bounds" if r["ruleId"] == "out-of-bounds" else r["ruleId"] for r in d["runs"][0]["results"]] and all(d["runs"][0]["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in d["runs"][0]["results"])' "$B" check "$T/k.ptx" --format sarif
doc "its places are URIs with lines from 1" 'all(l["physicalLocation"]["artifactLocation"]["uri"] == "src/my%20kernel.cu" and l["physicalLocation"]["region"]["startLine"] >= 1 for r in d["runs"][0]["results"] for l in r["locations"])' "$B" check "$T/k.ptx" --format sarif
"$B" check "$T/k.ptx" --json -o "$T/base.json" 2>/dev/null
code "what the baseline has is not new" 0 "0 errors, 0 warnings, 3 in the baseline" "$B" check "$T/k.ptx" --baseline "$T/base.json"
sed -i 's/^\t\.loc 1 10 3/\t\/\/ a line more\n\t.loc 1 11 3/; s/\.loc 1 12 7/.loc 1 22 7/' "$T/k.ptx"
code "nor when lines move" 0 "0 errors, 0 warnings, 3 in the baseline" "$B" check "$T/k.ptx" --baseline "$T/base.json"
sed -i 's/mul.wide.u32 %rd5, %r1, 4;/mul.wide.u32 %rd5, %r1, 4; ld.global.u32 %r6, [%rd4+4];/' "$T/k.ptx"
code "but what is added is" 0 "uncoalesced-load" "$B" check "$T/k.ptx" -k one --baseline "$T/base.json"
rules() { printf '{"format": "gpulocw-rules", "version": 1, "rules": {%s}}' "$1" >"$T/rules.json"; }
rules '"uncoalesced-load": {"limit": 8}, "bank-conflict": {"level": "off"}'
code "limits and levels are the file's" 0 "0 errors, 0 warnings" "$B" check "$T/k.ptx" -k one --rules "$T/rules.json"
rules '"uncoalesced-load": {"level": "error"}'
code "a warning made an error is exit 3" 3 "error: 32 sectors" "$B" check "$T/k.ptx" -k one --rules "$T/rules.json"
rules '"nosuch": {"level": "error"}'
code "a rule that there is not" 1 "rules.json:1:.*no rule 'nosuch'" "$B" check "$T/k.ptx" --rules "$T/rules.json"
rules '"race": {"limit": 1}'
code "a limit that a rule has not" 1 "unknown key 'limit'" "$B" check "$T/k.ptx" --rules "$T/rules.json"
rules '"race": {"level": "loud"}'
code "a level that there is not" 1 "'level'" "$B" check "$T/k.ptx" --rules "$T/rules.json"
code "a baseline that is something else" 1 "not a document written by gpulocw check" "$B" check "$T/k.ptx" --baseline "$T/rules.json"
code "no baseline" 1 "nosuch.json" "$B" check "$T/k.ptx" --baseline "$T/nosuch.json"
code "a format that there is not" 2 "text, json, sarif or junit" "$B" check "$T/k.ptx" --format html
rm "$T/k.launch.json"
code "without a launch description one is guessed and said" 0 "^k: 13 of 13 rules checked with a guessed launch, grid [0-9x]*, block [0-9x]*$" "$B" check "$T/k.ptx"
doc "and is in the document" 'd["kernels"][0]["launch"] == "guessed" and all(r["checked"] for r in d["kernels"][0]["rules"]) and {f["launch"] for f in d["findings"]} == {"guessed"}' "$B" check "$T/k.ptx" --json
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %%r<2>;\n\t.reg .b64 %%rd<2>;\n\tld.param.u64 %%rd1, [p];\n\tmov.u32 %%r1, %%ctaid.x;\n\tst.global.u32 [%%rd1], %%r1;\n\tret;\n}\n' > "$T/race.ptx"
printf '{"format": "gpulocw-launch", "version": 1, "kernel": "k", "grid": [2, 1, 1], "block": [32, 1, 1], "args": [{"name": "p", "buffer": "u32", "count": 4, "output": true}]}\n' > "$T/race.launch.json"
code "a race is an error" 3 "race.ptx:10:2: error: race: .*\[race\]$" "$B" check "$T/race.ptx"
cat tests/launch/work.ptx > "$T/all.ptx"; "$B" launch "$T/all.ptx" -k narrow -o "$T/all.launch.json" 2> /dev/null
doc "every kernel of a module has its line, given or guessed" 'len(d["kernels"]) == 7 and sorted(k["launch"] for k in d["kernels"]) == ["given"] + 6 * ["guessed"]' "$B" check "$T/all.ptx" --json
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry far(.param .u64 p)\n{\n .reg .b64 %%rd<4>; .reg .b32 %%r<4>;\n ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 256; add.s64 %%rd2, %%rd1, %%rd2; ld.global.u32 %%r2, [%%rd2]; trap;\n}\n' > "$T/far.ptx"
code "a kernel that traps does so with its guess" 0 "far.ptx:7:129: warning: the kernel executed trap" "$B" check "$T/far.ptx"
sed -i 's/trap;/mov.u64 %rd3, 4096; ld.global.u32 %r2, [%rd3]; ret;/' "$T/far.ptx"
code "what no guess runs has its static findings" 0 "32 sectors per request expected without a launch, 8 times the least" "$B" check "$T/far.ptx"
code "and says what was not checked, and why" 0 "^ *not checked: atomic-contention, local-memory, tensor-map-overlap, race, uninitialised-read, out-of-bounds, misaligned, launch-limits, failed-run \(no guess makes it run" "$B" check "$T/far.ptx"
out=$("$B" check "$T/race.ptx" --format junit 2> /dev/null)
has "JUnit has a failure for an error" '<testcase classname="k" name="race">.*<failure message="race: ' "$(tr '\n' ' ' <<< "$out")"
is "and is XML" "$(python3 -c 'import sys, xml.etree.ElementTree as e; s = e.fromstring(sys.stdin.buffer.read())[0]; print(s.get("tests"), s.get("failures"), len(s))' <<< "$out")" "13 1 13"
for f in "$T/k.ptx" "$T/race.ptx" "$R"; do is "SARIF as the specification has it: ${f##*/}" "$("$B" check "$f" --format sarif 2> /dev/null | python3 tests/tool/sarif.py 2>&1 | tail -1)" ok; done
# The commands of the example workflow, where there is neither a rules file nor a baseline, and with both.
sed -n '/- run: |/,/- if:/p' docs/examples/check.yml | sed '1d;$d; s/^ *//; s/gpulocw check/"$B" check/' > "$T/workflow.sh"; mkdir "$T/w"; cp "$T/race.ptx" "$T/w/app.ptx"; cp "$T/race.launch.json" "$T/w/app.launch.json"
workflow() { (cd "$T/w" && B=$ABSOLUTE bash -e "$T/workflow.sh") > /dev/null 2>&1; rc=$?; is "the example workflow, $1" "$rc $(python3 tests/tool/sarif.py < "$T/w/gpulocw.sarif" 2>&1 | tail -1)" "$2 ok"; }
workflow "with errors" 3
"$B" check "$T/w/app.ptx" --json -o "$T/w/baseline.json" 2> /dev/null; rules '"bank-conflict": {"level": "off"}'; cp "$T/rules.json" "$T/w"
workflow "with rules and a baseline" 0
has "each command completes its own formats" "^junit" "$("$B" completion -- check x --format j 2>&1)"
exit $bad
