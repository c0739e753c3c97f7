#!/bin/bash
# Of a file with many kernels and large tables a search works with what the kernel needs: the numbers, lines and texts are
# those of the whole file, the time and memory those of the kernel alone.
. tests/tool/tap.sh
python3 - "$T" kernels/stride_4.ptx <<'PY'
import json, re, sys
T, source = sys.argv[1:]
text = open(source).read()
head, body = re.search(r"(.*?\.address_size 64\n)(.*)", text, re.S).groups()
table = "".join(".global .align 4 .u32 table_%d[40000] = {%s};\n" % (i, ", ".join(str(k * 7919 % 65536) for k in range(40000))) for i in range(3))
entry = re.search(r"\.entry (\w+)\(", body).group(1)
others = "".join(re.sub(r"\b%s(?=\(|_param)" % entry, "%s_%d" % (entry, i), body) for i in range(12))
open(T + "/alone.ptx", "w").write(head + "\n" * (table + others).count("\n") + body)
open(T + "/many.ptx", "w").write(head + table + others + body)
launch = json.load(open(source.replace(".ptx", ".launch.json")))
for name in "alone", "many":
    for l in [launch] + launch.get("launches", []):
        l["ptx"] = name + ".ptx"
    json.dump(launch, open("%s/%s.launch.json" % (T, name), "w"))
PY
# measure FILE COMMAND...: what it printed, to FILE; exit code and largest resident size in MB, on standard output
measure() { python3 -c "
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], 'wb'), stderr=subprocess.STDOUT).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)" "$@"; }
alike() { sed 's/\b\(alone\|many\)\./F./g' "$T/$1"; }
D="--device sim:hopper-h200"
for f in alone many; do
    measure "$T/$f.sweep" "$B" sweep "$T/$f.ptx" $D > "$T/$f.sweep.used"
    measure "$T/$f.tune" "$B" tune "$T/$f.ptx" $D --budget 40 > "$T/$f.tune.used"
    "$B" run "$T/$f.ptx" $D --bypass l1 --pi 2 > "$T/$f.run" 2>&1
    "$B" run "$T/$f.ptx" $D --cluster agent --prefetch l1 > "$T/$f.refused" 2>&1
done
for what in sweep:"a sweep has the numbers of the kernel alone" tune:"a search too" run:"and a run, with its loads by the whole file's lines" refused:"and what is said of a rewrite"; do
    is "${what#*:}" "$(alike "alone.${what%%:*}")" "$(alike "many.${what%%:*}")"
done
has "the line of a load" "^ +[0-9]{3,4} +[0-9]+ +[0-9.]+ " "$(cat "$T/many.run")"
if grep -qa __asan_init "$B" || grep -qa __tsan_init "$B"; then ok "memory # SKIP a sanitizer's shadow is memory too"
else for what in sweep tune; do
    read -r c1 a < "$T/alone.$what.used"; read -r c2 b < "$T/many.$what.used"
    if [ "$c1 $c2" = "0 0" ] && [ $((b - a)) -lt 30 ]; then ok "$what takes hardly more memory"; else no "$what takes hardly more memory" "exit $c1 and $c2, $a MB alone, $b MB among many"; fi
done; fi
"$B" rewrite "$T/many.ptx" --bypass l1 --pi 2 -o "$T/out.ptx" > /dev/null 2>&1
is "what is written for the user is the whole file" "$(grep -c '\.entry' "$T/out.ptx")" "$(grep -c '\.entry' "$T/many.ptx")"
"$B" tune "$T/many.ptx" $D --budget 10 -o "$T/s.json" > /dev/null 2>&1
is "and a session holds it" "$(grep -o '\.entry' "$T/s.json" | wc -l)" "$(grep -c '\.entry' "$T/many.ptx")"
exit $bad
