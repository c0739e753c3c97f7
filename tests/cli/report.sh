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
"$B" sweep kernels/valley.ptx --kernel fermi --device sim:fermi-16k -o "$T/u.json" > /dev/null 2>&1 < /dev/null || no "a sweep"
for s in s t u; do for f in html md svg csv; do "$B" report "$T/$s.json" --format $f -o "$T/$s.$f" || no "report $s as $f"; done; done
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
# the summary comes first: what limits it (shares that add up), where, what to try, what was gained
for f in html md; do
    if [ "$(grep -nE "Summary of valley" "$T/u.$f" | head -1 | cut -d: -f1)" -lt "$(grep -nE "Run 1: sweep" "$T/u.$f" | head -1 | cut -d: -f1)" ]; then ok "$f: the summary comes first"; else no "$f: the summary comes first"; fi
    file_has "$f: what limits it" "What limits it: l2-bandwidth" "$T/u.$f"
    file_has "$f: what to try" "What to try next: in the source: " "$T/u.$f"
    file_has "$f: what it has gained, over one base" "What it has gained: 1.41x over caching all \(run 1, whole, outputs equal\): --bypass l1" "$T/u.$f"
    file_has "$f: what a search has gained" "What it has gained: 1.99x over the original \(run 1, whole, outputs equal\): --swap-xy" "$T/t.$f"
done
file_has "the costliest line stands first, with its sectors and its PTX" "^\| valley.cu:18 \| 14 % \| 4 \| ld.global.f32 " "$T/u.md"
sum=$(sed -n '/^| what limits it/,/^$/p' "$T/u.md" | grep -oE "[0-9]+ %" | awk '{ s += $1 } END { print s }')
if [ "$sum" = 100 ]; then ok "the shares of what limits it add up"; else no "the shares of what limits it add up" "$sum"; fi
# the picture has the same summary above the curve, whole in its frame
for s in u t; do
    if python3 - "$T/$s.svg" <<'PY'
import re, sys, xml.etree.ElementTree as tree
text = open(sys.argv[1]).read()
root = tree.fromstring(text)
w, h = (float(v) for v in root.get('viewBox').split()[2:])
put = lambda e: ''.join(e.itertext())
lines = [(float(e.get('y')), float(e.get('x')), put(e)) for e in root if e.tag.endswith('text')]
words = [t for _, _, t in sorted(lines)]
chart = next(e for e in root if e.tag.endswith('}g'))
top = float(re.search(r'translate\(0 ([0-9.]+)\)', chart.get('transform')).group(1))
starts = [next((k for k, t in enumerate(words) if t.startswith(s)), None) for s in ('Summary of ', 'What limits it: ', 'What to try next: ', 'What it has gained: ')]
shares = [int(t[:-2]) for y, x, t in sorted(lines) if re.fullmatch(r'[0-9]+ %', t) and y < next(v for v, _, u in lines if u == 'where')]
bars = [e for e in root if e.tag.endswith('rect') and e.get('fill') != 'white']
wide = [t for _, x, t in lines if x + 6.5 * len(t) > w]
good = None not in starts and starts == sorted(starts) and sum(shares) == 100 and len(bars) >= 4 and not wide and max(y for y, _, _ in lines) < top and abs(top + 360 - h) < 1
sys.exit(0 if good else f'{starts} {shares} {len(bars)} {wide} {top} {h}')
PY
    then ok "$s.svg: the summary stands above the curve, its shares add up"; else no "$s.svg: the summary stands above the curve"; fi
done
file_has "what stores take shows a store" "^\| transpose.cu:10 \| [0-9]+ % \|  \| st.global.f32 " "$T/t.md"
file_has "a phone has its width" 'content="width=device-width,initial-scale=1"' "$T/s.html"
pictures=$(grep -c '<svg ' "$T/s.html") scaled=$(grep -cE '<svg [^>]*width="([0-9]+)" height="([0-9]+)" viewBox="0 0 \1 \2"' "$T/s.html")
if [ "$pictures" = "$scaled" ]; then ok "pictures shrink to it: each says what it shows"; else no "pictures shrink to it" "$scaled of $pictures"; fi
for rule in 'svg\{[^}]*max-width:100%;height:auto' 'max-width:50em\)\{.*table,figure\{display:block;overflow-x:auto' 'pre\{[^}]*overflow-x:auto' 'h1,h2,p\{overflow-wrap:anywhere'; do
    file_has "and what is wider scrolls in itself or breaks: $rule" "$rule" "$T/s.html"
done
file_has "words begin at the left, figures end at the right" '<td>[^<]*</td><td>[0-9]+ %</td><td class="t">█+</td>' "$T/u.html"
file_has "a chart fits half a sheet" '@media print.*svg\{max-height:85mm\}' "$T/s.html"
file_has "paper is A4" '@media print\{@page\{size:A4' "$T/s.html"
file_has "the best row is marked" '<tr class="best"><td><code>--swap-xy' "$T/t.html"
file_has "the newest search where there is no sweep" "best so far" "$T/t.svg"
# samples first, then the leaders whole: a sample that is faster than what is recommended is no best so far
"$B" tune kernels/valley.ptx --budget 14 -o "$T/v.json" > /dev/null 2>&1 < /dev/null; "$B" report "$T/v.json" --format svg -o "$T/v.svg"
got=$(python3 - "$T/v.json" "$T/v.svg" <<'PY'
import json, re, sys
r, svg = json.load(open(sys.argv[1]))['runs'][0], open(sys.argv[2]).read()
end = re.search(r'<polyline[^>]*points="[^"]* [0-9.]+,([0-9.]+) "', svg).group(1)
best = r['best']['time_ns']['median'] / 1e3
sampled = any(x['time_ns'] and x['sampled'] for x in r['tried'])
at = [float(t) for y, t in re.findall(r'<circle cx="[^"]*" cy="([^"]*)"[^>]*><title>[0-9]+: ([0-9.]+)', svg) if y == end]
print(sampled and not r['best']['sampled'] and any(abs(t - best) < 0.001 for t in at))
PY
)
if [ "$got" = True ]; then ok "a search's line ends at what is recommended"; else no "a search's line ends at what is recommended" "$got"; fi
rows=$(grep -c '^| `' "$T/t.md")
if [ "$(($(wc -l < "$T/t.csv") - 1))" = "$(grep -c '^| `-\|^| `original' "$T/t.md")" ] && [ "$rows" -gt 6 ]; then ok "a row for everything tried"; else no "a row for everything tried" "$(cat "$T/t.csv")"; fi
line=$(grep -oE '^gpulocw run .*' "$T/t.md" | sed 's/^gpulocw //')
# shellcheck disable=SC2086
if "$B" $line > "$T/again" 2>&1 && grep -q "equal to the original" "$T/again"; then ok "its command runs: $line"; else no "its command runs: $line" "$(cat "$T/again")"; fi
echo "1..$n"
exit $bad
