#!/usr/bin/env python3
"""The commands that README.md and docs/**/*.md name, tried: python3 tests/tool/doc_commands.py PROGRAM

README's commands are run, in order, in a copy of kernels/. A command elsewhere is run when it only reads text
(analyze, rewrite, devices, demo, help, predict); what stands in the block under it must be in its output, line for
line and in order ("..." stands for anything). A command that takes long (run, sweep, tune, calibrate) or needs a GPU
has its options checked: with a device that does not exist, it must get as far as saying so.
In docs/guide and docs/concepts.md such commands run too, and what stands below them is compared.
Prints TAP; exit 1 when something does not hold."""
import os, re, shutil, subprocess, sys, tempfile, glob, shlex

program = os.path.abspath(sys.argv[1])
root = os.getcwd()
READS = {'analyze', 'rewrite', 'devices', 'help', 'predict'}
SHOWN = ('docs/guide/', 'docs/concepts.md')     # where what run, sweep, predict and tune print is compared too
COMPARED = {'analyze', 'rewrite'}              # not --schedules: figures of the model, which docs/lab/cost-model.md is about
FINDS = {'reduction.ptx --block 16x16x1': 3}  # exit code of a command that is shown for what it finds
SHORT = {'--budget 60': '--budget 2'}          # what stands in the README takes minutes on a busy machine
# Names that stand for the reader's own.
PLACEHOLDER = re.compile(r'\bFILE\b|\bNAME\b|\bapp\.|…|\bOPTIONS\b|\[|\bCMD\b|\bS\.json\b|\bL\.json\b|\bSESSION\b|\.\.\.')
NOT_YET = {'nounroll'}                           # the worked changes of extending.md add it
ADDED = re.compile(r'stride_8|nounroll|view/device|my-gpu')   # files that the reader makes
number, failed = 0, False

def say(good, name, *detail):
    global number, failed
    number += 1
    failed |= not good
    print('%sok %d - %s' % ('' if good else 'not ', number, name))
    for d in [] if good else detail:
        for line in str(d).splitlines()[:12]:
            print('#   ' + line)
    sys.stdout.flush()

def run(words, folder):
    return subprocess.run([program] + words, cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, XDG_DATA_HOME=folder, GPULOCW_DATA=folder, LC_ALL='C.UTF-8'))

def block_after(lines, i):
    """The fenced or indented block below a paragraph that names a command, if it comes next."""
    while i < len(lines) and lines[i].strip():
        i += 1
    while i < len(lines) and not lines[i].strip():
        i += 1
    if i < len(lines) and lines[i].startswith('```'):
        end = next(k for k in range(i + 1, len(lines)) if lines[k].startswith('```'))
        return lines[i + 1:end]
    block = []
    while i < len(lines) and (lines[i].startswith('    ') or (block and not lines[i].strip())):
        block.append(lines[i][4:])
        i += 1
    return block

def missing_line(block, output):
    """The first line of the block that is not in the output after the line before it."""
    said, at = [l.rstrip().expandtabs() for l in output.splitlines()], 0
    for line in block:
        line = line.rstrip().expandtabs()
        if not line or line.strip() in ('...', '…') or '…' in line:
            continue
        try:
            at = said.index(line, at) + 1
        except ValueError:
            return line
    return None

def readme(folder):
    for line in open(os.path.join(root, 'README.md'), encoding='utf-8'):
        m = re.match(r'    gpulocw +([^#]*)', line)
        if not m:
            continue
        text = m.group(1).strip()
        for long, short in SHORT.items():
            text = text.replace(long, short)
        r = run(shlex.split(text), folder)
        want = next((code for option, code in FINDS.items() if option in text), 0)
        say(r.returncode == want, 'README: gpulocw ' + text, 'exit %d' % r.returncode, r.stderr)
    say(os.path.getsize(os.path.join(folder, 'report.html')) > 1000, 'README: the report is there')

def shown(name, lines, folder):
    """A guide's commands in blocks of their own, and what stands below them."""
    for i, line in enumerate(lines):
        m = re.match(r'    gpulocw ([^#]*)$', line)
        if not m or PLACEHOLDER.search(m.group(1)) or 'cuda' in m.group(1) or '.ptx' not in m.group(1):
            continue
        k = i + 1
        while k < len(lines) and not lines[k].strip():
            k += 1
        block = block_after(lines, i + 1) if lines[k].startswith('    ') else block_after(lines, k)
        r = run(shlex.split(m.group(1)), folder)
        lost = missing_line(block, r.stdout + r.stderr)
        say(r.returncode == 0 and lost is None, '%s:%d: gpulocw %s' % (name, i + 1, m.group(1)), 'exit %d' % r.returncode,
            'no such line in the output now: ' + lost if lost else r.stderr)

def document(path, folder):
    name = os.path.relpath(path, root)
    lines = open(path, encoding='utf-8').read().splitlines()
    if name.startswith(SHOWN):
        shown(name, lines, folder)
    reads = READS | {'run', 'sweep'} if name.startswith(SHOWN) else READS
    compared = COMPARED | {'run', 'sweep', 'predict'} if name.startswith(SHOWN) else COMPARED
    for i, line in enumerate(lines):
        for text in re.findall(r'`gpulocw ([^`]+)`', line):
            words = shlex.split(text)
            if PLACEHOLDER.search(text) or not any(w.endswith('.ptx') for w in words):
                continue
            if words[0] in reads and 'cuda' not in text:
                r = run(words, folder)
                lost = missing_line(block_after(lines, i), r.stdout + r.stderr) if words[0] in compared and '--schedules' not in words else None
                want = next((code for option, code in FINDS.items() if option in text), 0)
                say(r.returncode == want and lost is None, '%s:%d: gpulocw %s' % (name, i + 1, text), 'exit %d' % r.returncode,
                    'no such line in the output now: ' + lost if lost else r.stderr)
            elif words[0].endswith('.ptx'):
                say(os.path.exists(os.path.join(folder, words[0])), '%s:%d: %s is there' % (name, i + 1, words[0]))
            else:
                words = [w for k, w in enumerate(words) if not w.startswith('cuda:') and w not in ('--device', '-d') and words[k - 1] not in ('--device', '-d')]
                r = run(words + ['--device', 'sim:none-such'], folder)
                say(r.returncode == 4 and 'none-such' in r.stderr, '%s:%d: options of gpulocw %s' % (name, i + 1, text), 'exit %d' % r.returncode, r.stderr)

def links(path):
    """Files that a document names must be there."""
    text = open(path, encoding='utf-8').read()
    gone = [m for m in re.findall(r'(?:docs|engine|sim|tests|kernels|tui|themes|sessions)/[A-Za-z0-9_./-]*[A-Za-z0-9_]\.(?:md|c|h|def|py|sh|svg|json|ptx|cu|1)\b', text)
            if not os.path.exists(os.path.join(root, m)) and not ADDED.search(m) and 'NAME' not in m and '.tuned.' not in m]
    say(not gone, os.path.relpath(path, root) + ': the files it names are there', '\n'.join(gone))

def documents(lab):
    """Every document, those of docs/lab (recordings of their day) only where asked for."""
    return [p for p in sorted(glob.glob(os.path.join(root, 'docs', '**', '*.md'), recursive=True)) if lab or '/lab/' not in p]

def contract():
    """Every option that the help has stands in the manual page; no document names one that the program lacks."""
    ask = lambda *w: subprocess.run([program, 'help', *w], capture_output=True, text=True).stdout
    text = open(os.path.join(root, 'docs', 'gpulocw.1'), encoding='utf-8').read().replace('\\-', '-')
    known = set()
    for command in [None] + re.findall(r'^  gpulocw ([a-z]+) ', ask(), re.M):
        known |= set(re.findall(r'^ +(?:-\w, )?--([a-z0-9-]+)', ask(*[command] if command else []), re.M))
    lacks = sorted(o for o in known if not re.search(r'--%s\b(?!-)' % o, text))
    say(known and not lacks, 'docs/gpulocw.1: every option of the help', ' '.join('--' + o for o in lacks))
    for p in [os.path.join(root, 'README.md')] + documents(False):
        named = re.findall(r'gpulocw ([^`#\n]*)', open(p, encoding='utf-8').read())
        unknown = sorted({o for c in named for o in re.findall(r'(?<![\w-])--([a-z][a-z0-9-]*)', c)} - known - {'help', 'version'} - NOT_YET)
        say(not unknown, os.path.relpath(p, root) + ': no option that the program lacks', ' '.join('--' + o for o in unknown))

def pages(path):
    """Relative links of a document lead to files; those into the web are not followed."""
    text = open(path, encoding='utf-8').read()
    gone = [m for m in re.findall(r'\]\(([^)#: ]+)(?!:)[)# ]', text) if not os.path.exists(os.path.join(os.path.dirname(path), m))]
    say(not gone, os.path.relpath(path, root) + ': its links lead somewhere', '\n'.join(gone))

with tempfile.TemporaryDirectory() as folder:
    contract()
    shutil.copytree(os.path.join(root, 'kernels'), os.path.join(folder, 'kernels'))
    shutil.copytree(os.path.join(root, 'tests', 'questions'), os.path.join(folder, 'tests', 'questions'))
    readme(folder)
    for p in documents(False):
        document(p, folder)
    for p in [os.path.join(root, n) for n in ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', os.path.join('kernels', 'README.md'))] + documents(True):
        links(p)
        pages(p)
print('1..%d' % number)
sys.exit(failed)
