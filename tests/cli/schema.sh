#!/bin/bash
# gpulocw schema: what it lists and prints, and what it refuses. json_fields.sh tests the fields themselves.
B=$GPULOCW_BUILD/gpulocw n=0
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
ok() { n=$((n + 1)); echo "ok $n - $1"; }
no() { n=$((n + 1)); echo "not ok $n - $1"; echo "#   $2"; }
claim() { if eval "$2"; then ok "$1"; else no "$1" "$2"; fi; }

FILES="batch|data|device-memory|image|journal|rules" # formats and names of files, which are no documents of --json
"$B" schema > "$T/list"
claim "every document that the engine prints is listed" \
    '[ -z "$(grep -rhoE "\"gpulocw-[a-z-]+\"" engine --include=*.c | tr -d \" | sort -u | grep -vE "gpulocw-($FILES)$" | while read -r d; do grep -q "^  $d  *[a-z]" "$T/list" || echo "$d"; done)" ]'
claim "a command finds its document" '[ "$("$B" schema run)" = "$("$B" schema gpulocw-result)" ]'
claim "a file finds its format" '[ "$("$B" schema session)" = "$("$B" schema gpulocw-session)" ]'
claim "a record is found by its name" '"$B" schema time | grep -q "^  median  integer, ns$"'
claim "Markdown has a heading and a row" '"$B" schema time --format md | head -7 | tr "\n" "~" | grep -qF "## time~~How long a launch takes.~~| key | type | unit | null when | meaning |~|---|---|---|---|---|~| \`median\` | integer | ns | never |"'
claim "Markdown of all has every listed name" '[ "$("$B" schema --format md | grep -c "^## ")" = "$(grep -c "^  [a-z]" "$T/list")" ]'
"$B" schema nosuch > "$T/out" 2> "$T/err"; rc=$?
claim "an unknown name is refused" '[ $rc = 2 ] && [ ! -s "$T/out" ] && grep -q "no document .nosuch." "$T/err" && grep -q "gpulocw schema lists them" "$T/err"'
"$B" schema run --format svg > "$T/out" 2> "$T/err"; rc=$?
claim "an unknown format is refused" '[ $rc = 2 ] && [ ! -s "$T/out" ] && grep -q -- "--format must be md here" "$T/err"'
"$B" launch kernels/gemm.ptx --json > "$T/guess.json"
claim "a file is a valid document" '"$B" schema "$T/guess.json" | grep -q ": 1 valid"'
sed 's/"kernel": [^,]*/"kernel": 7/' "$T/guess.json" > "$T/wrong.json"
"$B" schema "$T/wrong.json" > "$T/out" 2> "$T/err"; rc=$?
claim "a value of another type is refused, by its name" '[ $rc = 1 ] && [ ! -s "$T/out" ] && grep -q "gpulocw-guess: .launches\[\].kernel. has another type" "$T/err"'
printf '%s\n' "$(tr -d '\n' < "$T/guess.json")" '{"format": "gpulocw-outputs", "version": 1}' > "$T/two.jsonl"
"$B" schema "$T/two.jsonl" > "$T/out" 2> "$T/err"; rc=$?
claim "of a .jsonl the line is told" '[ $rc = 1 ] && grep -q "two.jsonl:2:.*.files. is missing" "$T/err"'
if command -v python3 > /dev/null; then
    "$B" schema run --json > "$T/schema"
    claim "every record that the schema refers to is in it" 'python3 -c "
import json, re, sys
s = open(sys.argv[1]).read()
refs = set(re.findall(r\"#/.defs/([^\\\"]+)\", s))
assert len(refs) > 15 and not refs - set(json.loads(s)[\"\$defs\"]), refs
" "$T/schema"'
    claim "the schema knows a missing key, a wrong type and a wrong format" 'python3 - "$T/schema" <<P
import json, sys
sys.path.insert(0, "tests/tool")
import json_schema
s = json.load(open(sys.argv[1]))
time = {"\$ref": "#/\$defs/interval"}
bad = lambda v, t=time: json_schema.errors(v, t, s)
assert not bad({"percent": 80, "low": 0.5, "high": 2, "later": 1})
assert bad({"percent": 80, "low": 0.5})
assert bad({"percent": "80", "low": 0.5, "high": 2})
assert bad({"percent": 80, "low": None, "high": 2})
assert any("is not" in b for b in bad({"format": "gpulocw-sweep"}, s))
P'
fi
echo "1..$n"
