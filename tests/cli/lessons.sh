#!/bin/bash
# A lesson as a web page, as a recording, and graded; lessons and answers of strangers do no harm.
. tests/tool/tap.sh
export XDG_DATA_HOME=$T XDG_CONFIG_HOME=$T

is "lessons are listed by their numbers" "$("$B" demo < /dev/null | grep -oE "^  [0-9]+-" | tr -d ' -' | sort -nc && echo sorted)" sorted

# ---- the page ----
"$B" demo 2 --format html -o "$T/page.html"; is "a lesson as a web page" "$?" 0
# three points of one sweep: what does not depend on the lesson is tried on it
cat > "$T/short.json" <<'L'
{ "format": "gpulocw-session", "major": 1, "minor": 0, "reads_from": 1, "writer": "x", "time": "2026-01-01T00:00:00Z",
  "lesson": { "number": 1, "title": "Short", "summary": "short", "file": "kernels/stride_4.ptx", "kernel": "default", "device": "sim:fermi-16k", "axis": "pi",
    "steps": [ { "text": "One sweep.", "task": "Sweep.", "check": "sweeps >= 1", "do": ["sweep pi=0/2/4"] }, { "text": "The end." } ] } }
L
"$B" demo "$T/short.json" --format html -o "$T/short.html"
"$B" demo "$T/short.json" --format html > "$T/again.html"
texts() { sed '/<div class="term">/,/<!-- screen/d; /^<!-- written/d' "$1" | sha256sum; }
is "a page's texts and curves are the same every time" "$(grep -c application/json "$T/short.html") $(texts "$T/short.html")" "1 $(texts "$T/again.html")"
"$B" demo "$T/short.json" --format html -o "$T/short.html"; is "a page of ours is written anew" "$?" 0
echo mine > "$T/mine.html"; "$B" demo 2 --format html -o "$T/mine.html" 2> /dev/null; is "another file is not" "$?" 2
out=$(python3 - "$T/page.html" sessions/lessons/2-valley.json 2>&1 <<'P'
import base64, hashlib, html.parser, json, re, sys
page = open(sys.argv[1], encoding='utf-8').read()
lesson = json.load(open(sys.argv[2]))['lesson']
class Page(html.parser.HTMLParser):
    void = {'meta', 'br', 'hr', 'link', 'img', 'input'}
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.scripts, self.bad = [], [], [], []
    def handle_starttag(self, tag, attrs):
        for k, v in attrs:
            if k.startswith('on') or (k in ('src', 'href', 'action') and not (v or '').startswith('#')):
                self.bad.append((tag, k, v))
        if tag == 'script':
            self.scripts.append([dict(attrs).get('type'), ''])
        if tag not in self.void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, 'unbalanced </%s>' % tag
    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.scripts[-1][1] += data
        else:
            self.text.append(data)
p = Page(); p.feed(page)
assert not p.open and not p.bad, (p.open, p.bad)
text = ''.join(p.text)
for s in lesson['steps']:
    for word in (s['text'].split('{')[0], s.get('task', '').split('{')[0]):
        assert word in text, word
code = [s for t, s in p.scripts if t is None]
assert len(code) == 1
hash = 'sha256-' + base64.b64encode(hashlib.sha256(code[0].encode()).digest()).decode()
assert "script-src '%s'" % hash in page, 'SCRIPT_HASH of lesson_page.c is to be ' + hash
assert "default-src 'none'" in page and not re.search(r'(?:src|href)="?https?:', page)
run = [json.loads(s) for t, s in p.scripts if t == 'application/json']
assert len(run) == 1 and run[0]['origin'] == 'simulated, whole' and run[0]['axis'] == 'pi', run
assert len(run[0]['points']) == 17 and run[0]['points'][run[0]['best']]['name'] == '8'
assert min(range(17), key=lambda i: run[0]['points'][i]['time_ns']) == run[0]['best']
P
); is "it is well formed, asks for nothing elsewhere, and holds every step and the curve's data" "$?:$out" "0:"

# ---- in a browser; without one, with the pieces that node can try ----
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
view() { (cd "$T" && timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$T/profile" --virtual-time-budget=3000 --dump-dom "file://$1" 2>/dev/null); }
if [ -n "$browser" ] && view "$T/page.html" > "$T/dom" && [ -s "$T/dom" ]; then
    is "a browser draws the curve from the file alone" "$(grep -c '<svg class="live"' "$T/dom")" 1
    has "and reads the best point" 'class="read"[^>]*>π = 8 \(best\) +speed over all cache 1\.41x' "$(cat "$T/dom")"
else
    n=$((n + 1)); echo "ok $n - the page in a browser # SKIP no chromium that starts here"
fi

if command -v node > /dev/null; then # every point by key and by pointer, every button
    out=$(node tests/terminal/page.js "$T/page.html" 2>&1); is "its script draws and reads every point, run by node" "$?" 0
    has "from the best point on" 'run 2 pi 17 points: π = 8 .best. +speed over all cache 1\.41x' "$out"
else
    n=$((n + 1)); echo "ok $n - the page's script # SKIP no node"
fi

# ---- all of them: each step's commands do its task, and a recording shows it ----
missing=
for l in sessions/lessons/*.json; do
    name=$(basename "$l" .json)
    steps=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["lesson"]["steps"]))' "$l")
    "$B" demo "$name" --format cast -o "$T/each.cast" --force 2> "$T/each.err" && grep -q "step $steps of $steps" "$T/each.cast" || missing="$missing $name: $(head -1 "$T/each.err")"
done
[ -z "$missing" ] || echo "#$missing"; [ -z "$missing" ]; is "every lesson as a recording, to its last step" "$?" 0

# ---- the recording ----
"$B" demo 2-valley --format cast -o "$T/l.cast"; is "a lesson as a recording" "$?" 0
out=$(python3 - "$T/l.cast" 2>&1 <<'P'
import json, re, sys
lines = open(sys.argv[1], encoding='utf-8').read().split('\n')
assert lines.pop() == ''
head = json.loads(lines[0])
assert head['version'] == 2 and (head['width'], head['height']) == (80, 24) and head['title'] == 'The cache valley'
last, screen, seen, steps = 0, [[' '] * 80 for _ in range(24)], [], []
for line in lines[1:]:
    at, kind, text = json.loads(line)
    assert kind == 'o' and at >= last and at - last <= 40, (at, last)
    last, y, x = at, 0, 0
    for esc, cp in re.findall('(\x1b\\[[?0-9;]*[A-Za-z])|(.)', text, re.S):
        if esc[-1:] == 'H':
            y, x = (int(v) - 1 for v in esc[2:-1].split(';'))
        elif esc[-1:] == 'J':
            screen = [[' '] * 80 for _ in range(24)]
        elif cp and cp >= ' ':
            screen[y][x] = cp; x += 1
        elif not esc:
            assert cp in '\r\n', ascii(cp)
    seen.append('\n'.join(''.join(r) for r in screen))
for step in range(1, 9):
    assert any('step %d of 8' % step in s for s in seen), step
assert any(':sweep pi' in s for s in seen) and any('cache peak' in s for s in seen)
assert 60 < last < 600, last
P
); is "asciicast version 2: its times go forward, a player's screen shows every step and the curve" "$?:$out" "0:"

# ---- grading ----
printf 'lesson 2\nnext\nrun\nnext\nsweep pi\nnext\nmetric hits\nnext\nmetric speed\nbest\nnext\nrun\n' > "$T/right"
printf 'lesson 2\nnext\nrun\n' > "$T/part"
doc "right answers as JSON" "d['format'] == 'gpulocw-grade' and d['done'] == d['of'] == 5 and all(t['done'] and t['lacks'] is None for t in d['tasks'])" "$B" demo --grade "$T/right" --json
"$B" demo --grade "$T/part" --json > "$T/part.json" 2> /dev/null; is "a part of them is exit code 5" "$?" 5
is "and what lacks stands in the document" "$(python3 -c "import json; d=json.load(open('$T/part.json')); print(d['done'], d['of'], [t['step'] for t in d['tasks'] if not t['done'] and t['lacks']])")" "1 5 [3, 4, 5, 6]"
bad() { printf '%b' "$2" > "$T/answers"; code "answers: $1" 1 "$3" timeout 60 "$B" demo --grade "$T/answers" --json; "$B" demo --grade "$T/answers" --json 2> /dev/null | head -2 | grep -q '^ *"format": "gpulocw-diagnostics"' || no "and no grade" "$("$B" demo --grade "$T/answers" --json 2> /dev/null | head -3)"; }
bad "a file written" "lesson 2\nwrite $T/x.ptx\n" "is not allowed here: answers"
bad "a file of elsewhere opened" 'lesson 2\nopen /etc/passwd\n' "is not allowed here: answers"
bad "a way up" 'lesson 2\nopen ../../x.ptx\n' "is not allowed here: answers"
(cd "$T" && printf 'lesson 2\nmetric hits\rwrite %s/owned.ptx\n' "$T" > answers && "$B" demo --grade answers > /dev/null 2>&1)
[ ! -e "$T/owned.ptx" ] && [ ! -e "$T/owned.ptx.json" ]; is "a command behind a carriage return is none" "$?" 0
bad "no lesson" 'next\nnext\n' "the first line must be"
bad "a lesson that is none" 'lesson ../../../etc/passwd\n' "lesson|JSON|there is no"
bad "nothing at all" '' "the first line must be"
head -c 3000000 /dev/zero | tr '\0' 'x' > "$T/answers"; code "answers of megabytes" 1 "." timeout 60 "$B" demo --grade "$T/answers"

# ---- lessons of strangers ----
python3 - "$T" <<'P'
import json, sys
evil = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\'&<!-- \x1b]0;owned\x07\x1b[2J\u202e\u0000'.replace('\u0000', '')
head = {'format': 'gpulocw-session', 'major': 1, 'minor': 0, 'reads_from': 1, 'writer': evil, 'time': '2026-01-01T00:00:00Z'}
def lesson(name, **keys):
    base = {'number': 1, 'title': evil, 'summary': evil, 'file': 'kernels/stride_4.ptx', 'kernel': 'default', 'device': 'sim:fermi-16k', 'axis': 'pi',
            'steps': [{'text': evil, 'task': evil, 'check': 'sweeps >= 1', 'do': ['sweep pi=0/2/4']}, {'text': 'x' * 5000 + evil}]}
    base.update(keys)
    json.dump(dict(head, lesson=base), open('%s/%s.json' % (sys.argv[1], name), 'w'))
step = lambda *do: [{'text': 'a', 'task': 'b', 'check': 'sweeps >= 1', 'do': list(do)}]
lesson('evil')
lesson('huge', number=2147483647)
lesson('writes', steps=step('write /tmp/gpulocw-owned.ptx'))
lesson('hidden', steps=step('metric hits\rwrite owned', 'sweep pi=0/2\x1b:quit\r'))
lesson('reads', steps=step('open /etc/passwd'))
lesson('false', steps=step('run'))
lesson('away', file='../../etc/passwd')
lesson('nothing', file='kernels/nosuch.ptx')
lesson('device', device='/etc/passwd')
P
"$B" demo "$T/evil.json" --format html -o "$T/evil.html"; is "a hostile lesson becomes a page" "$?" 0
out=$(python3 - "$T/evil.html" 2>&1 <<'P'
import html.parser, re, sys
page = open(sys.argv[1], 'rb').read().decode('utf-8')
assert not [c for c in page if c < ' ' and c not in '\n\t'] and '\u202e' not in page, 'control characters'
class Page(html.parser.HTMLParser):
    scripts = 0
    def handle_starttag(self, tag, attrs):
        self.scripts += tag == 'script' and not attrs
        assert tag != 'img' and not [k for k, v in attrs if k.startswith('on')], (tag, attrs)
p = Page(); p.feed(page)
assert p.scripts == 1, p.scripts
P
); is "its texts are text there: no element, no handler, no control character" "$?:$out" "0:"
"$B" demo "$T/evil.json" --format cast -o "$T/evil.cast"; rc=$?
is "and a recording, whose only escapes are ours" "$rc:$(python3 -c "
import json, re, sys
for l in open('$T/evil.cast').read().splitlines()[1:]:
    t = re.sub('\x1b\\\\[[?0-9;]*[HJmhl]', '', json.loads(l)[2])
    assert not [c for c in t if c < ' ' and c not in '\r\n'], ascii(t)
" 2>&1)" "0:"
for l in writes hidden reads; do code "a lesson that would do more than set, show and run: $l" 1 "step 1: .*(is not allowed in an exported lesson|do not complete)" "$B" demo "$T/$l.json" --format html; done
[ ! -e /tmp/gpulocw-owned.ptx ] && [ ! -e owned ]; is "nothing was written" "$?" 0
code "commands that do not do the task" 1 "step 1: its commands do not complete its task" "$B" demo "$T/false.json" --format html
code "a kernel of elsewhere" 1 "outside its folder" "$B" demo "$T/away.json" --format cast
code "a kernel that is not there" 1 "nosuch.ptx" "$B" demo "$T/nothing.json" --format html
code "a device of elsewhere" 1 "outside its folder" "$B" demo "$T/device.json" --format html
code "a format that is none" 2 "html or cast" "$B" demo 2 --format pdf
code "no lesson named" 2 "no lesson given" "$B" demo --format html
code "a lesson that is none" 1 "no lesson 'nosuch'" "$B" demo nosuch --format html
"$B" demo "$T/huge.json" --format html > "$T/huge.html"; is "a huge number" "$?" 0
echo "1..$n"
exit $bad
