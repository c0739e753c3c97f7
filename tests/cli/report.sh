#!/bin/bash
# report: what a page must hold, from a sweep of two slices and from a search.
. tests/tool/tap.sh
file_has() { has "$1" "$2" "$(cat "$3")"; }

# Every tag closed in order, nothing fetched from elsewhere, coordinates inside the pictures; prints the pictures' count.
page() {
    python3 - "$1" <<'PY'
import html.parser, re, sys
text = open(sys.argv[1]).read()
void, stack, svgs, faults = {'meta', 'br', 'img', 'link'}, [], 0, []
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        global svgs
        svgs += tag == 'svg'
        if tag not in void: stack.append(tag)
        for k, v in attrs:
            if k in ('src', 'href'): faults.append('%s=%s' % (k, v))
            if k in ('x', 'y', 'cx', 'cy', 'x1', 'x2', 'y1', 'y2') and v and not -1 <= float(v) <= 700: faults.append('%s %s=%s' % (tag, k, v))
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in void: stack.pop()
    def handle_endtag(self, tag):
        if not stack or stack.pop() != tag: faults.append('</%s>' % tag)
P().feed(text)
if 'nan' in re.sub(r'<pre>.*?</pre>', '', text, flags=re.S).lower().split(): faults.append('nan')
print(svgs if not faults and not stack else 'faults: %s %s' % (faults[:5], stack))
PY
}

"$B" sweep kernels/valley.ptx --kernel fermi --device sim:fermi-16k --axis pi,carveout=0/100 -o "$T/s.json" > /dev/null 2>&1 < /dev/null || no "a sweep of two slices"
"$B" tune kernels/transpose.ptx --kernel default --device sim:fermi-16k --budget 6 -o "$T/t.json" > /dev/null 2>&1 < /dev/null || no "a search"
for s in s t; do for f in html md svg csv; do "$B" report "$T/$s.json" --format $f -o "$T/$s.$f" || no "report $s as $f"; done; done
got=$(page "$T/s.html")
if [ "$got" = 7 ]; then ok "two sweeps: time, hit rates and roofline of each, and both beside each other"; else no "two sweeps" "$got"; fi
got=$(page "$T/t.html")
if [ "$got" = 1 ]; then ok "a search has its picture"; else no "a search has its picture" "$got"; fi
for f in html md; do
    file_has "$f: the verdict" "cache-congested: π=[0-9]+ of 16" "$T/s.$f"
    file_has "$f: gains over caching all" "gain over caching all" "$T/s.$f"
    file_has "$f: counters of both" "l2.read_sectors.*-[0-9.]+ %" "$T/s.$f"
    file_has "$f: the loads by line, of both" "81.*ld.global.f32 .f49, \[.rd16\+-512\];.*[0-9]+\.[0-9].*[0-9]+\.[0-9].*[0-9]+\.[0-9]" "$T/s.$f"
    file_has "$f: the device and what the numbers are" "\(sim:fermi-16k\), grid 64x1x1, block 512x1x1. Times and counters are simulated" "$T/s.$f"
    file_has "$f: the change in the PTX" "\+.*gpulocw_knobs" "$T/s.$f"
    file_has "$f: gains over the original" "gain over the original" "$T/t.$f"
done
file_has "the best row is marked" '<tr class="best"><td><code>--swap-xy' "$T/t.html"
file_has "the newest search where there is no sweep" "best so far" "$T/t.svg"
rows=$(grep -c '^| `' "$T/t.md")
if [ "$(($(wc -l < "$T/t.csv") - 1))" = "$(grep -c '^| `-\|^| `original' "$T/t.md")" ] && [ "$rows" -gt 6 ]; then ok "a row for everything tried"; else no "a row for everything tried" "$(cat "$T/t.csv")"; fi
line=$(grep -oE '^gpulocw run .*' "$T/t.md" | sed 's/^gpulocw //')
# shellcheck disable=SC2086
if "$B" $line > "$T/again" 2>&1 && grep -q "equal to the original" "$T/again"; then ok "its command runs: $line"; else no "its command runs: $line" "$(cat "$T/again")"; fi
echo "1..$n"
exit $bad
