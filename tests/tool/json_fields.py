#!/usr/bin/env python3
"""The fields that gpulocw schema states against what the program prints.

    python3 tests/tool/json_fields.py PROGRAM

Every command of tests/cli/json_commands.txt runs. Each key of what it prints must stand in the
table of its document with the type given there, null only where the table says when; and each
row of a table must be met in one of the outputs, except rows that say "GPU". Every output must
be valid by the JSON Schema of its document, and by no other: by json_schema.py, by the package
jsonschema where there is one, and by `gpulocw schema FILE`, which refuses each of a document's
mutants: a key more, a key less, a value of another type. Prints TAP."""
import glob, json, os, re, shlex, shutil, subprocess, sys, tempfile
try:
    import jsonschema
except ImportError:
    jsonschema = None
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import json_schema

program, root = os.path.abspath(sys.argv[1]), os.getcwd()
number, failed = 0, False

def printed(*words):
    return subprocess.run([program, *words], text=True, capture_output=True, check=True).stdout

page, schema = printed('schema', '--format', 'md'), json.loads(printed('schema', '--json'))
commands = open('tests/cli/json_commands.txt', encoding='utf-8').read().splitlines()

def say(good, name, *detail):
    global number, failed
    number += 1
    failed |= not good
    print('%sok %d - %s' % ('' if good else 'not ', number, name))
    for d in () if good else detail[:12]:
        print('#   ' + d)
    sys.stdout.flush()

def read_tables():
    """record -> {key: (type, null when)}"""
    tables = {}
    for name, body in re.findall(r'^## (.+)\n\n.*\n\n((?:\|.*\n)+)', page, re.M):
        rows = tables[name] = {}
        for line in body.splitlines()[2:]:
            cell = [c.strip() for c in line.strip('|').split(' | ')]
            assert len(cell) == 5, line
            rows[cell[0].strip('` ')] = (cell[1], cell[3])
    return tables

tables = read_tables()
knobs = set(schema['$defs']['options']['properties'])
seen, trouble = set(), []

def plain(value, type_):
    return (type_ == 'string' and isinstance(value, str)
            or type_ == 'boolean' and isinstance(value, bool)
            or type_ == 'integer' and isinstance(value, int) and not isinstance(value, bool)
            or type_ == 'number' and isinstance(value, (int, float)) and not isinstance(value, bool)
            or type_ == 'object' and isinstance(value, dict)
            or type_ == 'list' and isinstance(value, list))

def of_type(value, type_, where):
    """Is the value of that type? Walks into records."""
    if type_.startswith(('list of ', 'lists of ')):
        return isinstance(value, list) and all([of_type(v, type_.split(' of ', 1)[1], where + '[]') for v in value])
    if ' or ' in type_:
        return any(plain(value, t) for t in type_.split(' or '))
    if type_ == 'options':
        if isinstance(value, dict) and set(value) != knobs:
            trouble.append('%s: other knobs than in the schema: %s' % (where, ' '.join(sorted(set(value) ^ knobs))))
        return isinstance(value, dict)
    if type_ in tables:
        if isinstance(value, dict):
            walk(value, type_, '', where)
        return isinstance(value, dict)
    return plain(value, type_)

def row_of(record, key):
    """The row of a key, in the record itself or in one whose fields stand in it."""
    rows = tables[record]
    if key in rows:
        return record, rows[key]
    inner = rows.get('(members)')
    if inner and any(k == key or k.startswith(key + '.') or k.startswith(key + '[]') for k in tables[inner[0]]):
        seen.add((record, '(members)'))
        return inner[0], tables[inner[0]].get(key)
    return record, None

def walk(value, record, path, where):
    for k, v in value.items():
        key = path + k
        owner, row = row_of(record, key)
        below = [r for r in tables[owner] if r.startswith((key + '.', key + '[].'))]
        if row is None and not below:
            trouble.append('%s: no row `%s` in the table of %s' % (where, key, record))
            continue
        if row is not None:
            seen.add((owner, key))
            if v is None:
                if row[1] == 'never' or row[1].startswith('absent:') and 'null:' not in row[1]:
                    trouble.append('%s: `%s` is null, which the table of %s does not know' % (where, key, owner))
                continue
            if not of_type(v, row[0], where + '.' + key):
                trouble.append('%s: `%s` is no %s: %s' % (where, key, row[0], json.dumps(v)[:60]))
        for item in v if isinstance(v, list) else [v]:
            if below and isinstance(item, dict):
                walk(item, owner, key + ('[].' if isinstance(v, list) else '.'), where)

def lessons():
    for path in sorted(glob.glob('sessions/lessons/*.json')):
        doc = json.load(open(path))
        trouble.clear()
        walk(doc, doc['format'], '', doc['format'])
        check_schema(doc)
        say(not trouble, path, *sorted(set(trouble)))

def check_schema(doc):
    """Valid by its own schema alone."""
    trouble.extend(json_schema.errors(doc, schema, schema))
    own = json.loads(printed('schema', doc['format'], '--json'))
    trouble.extend(json_schema.errors(doc, own, own))
    if jsonschema:
        trouble.extend(e.message[:80] for e in jsonschema.Draft202012Validator(own).iter_errors(doc))
    refused = own_check(doc)
    if refused:
        trouble.append('gpulocw schema FILE: ' + refused)
    for name in tables:
        if name.startswith('gpulocw-') and name != doc['format'] and not json_schema.errors(doc, {'$ref': '#/$defs/' + name}, schema):
            trouble.append('also valid as %s' % name)

def own_check(doc):
    """What gpulocw schema FILE says against it; empty: nothing."""
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        json.dump(doc, f)
        f.flush()
        r = subprocess.run([program, 'schema', f.name], text=True, capture_output=True)
    return '' if r.returncode == 0 else r.stderr.splitlines()[0] if r.returncode == 1 and r.stderr else 'exit %d' % r.returncode

def mutants(doc):
    """(what was done, the document)"""
    def walked(o, path=()):
        yield path, o
        for k, v in o.items() if isinstance(o, dict) else enumerate(o[:1]) if isinstance(o, list) else ():
            yield from walked(v, path + (k,))
    def changed(path, change):
        copy = json.loads(json.dumps(doc))
        at = copy
        for k in path:
            at = at[k]
        change(at)
        return copy
    for path, o in list(walked(doc)):
        if isinstance(o, dict) and o and 'options' not in path and 'recommended' not in path:
            yield 'a key more in %s' % (path,), changed(path, lambda at: at.update(nobody_knows=1))
            for k in list(o)[:2]:
                if path and 'proof' not in path:
                    yield 'no %s in %s' % (k, path), changed(path, lambda at: at.pop(k))
                yield 'another type of %s in %s' % (k, path), changed(path, lambda at: at.update({k: {'no': 'thing'} if not isinstance(at[k], (dict, list)) else 7}))

def two_launches(folder):
    """two.ptx: a kernel with another launch, on which a recommendation is tried."""
    shutil.copy('kernels/transpose.ptx', os.path.join(folder, 'two.ptx'))
    first = json.load(open('kernels/transpose.launch.json'))['launches'][0]
    first['ptx'] = 'two.ptx'
    second = json.loads(json.dumps(first).replace('524288', '131072'))
    second.update(name='small', grid=[first['grid'][0] // 2, first['grid'][1] // 2, 1])
    second['args'][2]['s32'], second['args'][3]['s32'] = 512, 256
    with open(os.path.join(folder, 'two.launch.json'), 'w') as f:
        json.dump({'format': 'gpulocw-launch', 'version': 1, 'launches': [first, second]}, f)

def documents(r, line, folder):
    """What a command printed, and the session or the lines of results that it wrote."""
    # what a program that ran wrote itself stands before the document
    printed = [json.loads(r.stdout[r.stdout.index('{'):])] if '{' in r.stdout else []
    for place in re.findall(r' (?:-o|--outputs) (\w+) ', line):
        printed += [json.load(open(path)) for path in glob.glob(os.path.join(folder, place, 'gpulocw-*.json'))]
    file = re.search(r' -o (\S+[.]\S+)', line)
    if not file or r.returncode:
        return printed
    text = open(os.path.join(folder, file[1]), encoding='utf-8').read()
    return printed + [json.loads(t) for t in (text.splitlines() if file[1].endswith('.jsonl') else [text])]

def launches(folder):
    for path in sorted(glob.glob(os.path.join(folder, '*.launch.json')) + glob.glob('kernels/*.launch.json')):
        doc = json.load(open(path))
        trouble.clear()
        walk(doc, 'gpulocw-launch', '', 'launch')
        check_schema(doc)
        say(not trouble, os.path.basename(path), *sorted(set(trouble)))

def answers(folder):
    """What the tools of gpulocw mcp answer."""
    calls = [('analyze', {'file': 'kernels/stride_4.ptx', 'quick': True}), ('diff', {'file': 'kernels/stride_4.ptx', 'bypass': 'l1', 'pi': 1}),
             ('tune', {'file': 'tests/source/scale.ptx', 'kernel': 'tiles', 'device': 'sim:maxwell-titanx+l1', 'budget': 16})]
    asked = [{'method': 'initialize', 'params': {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}}}]
    asked += [{'method': 'tools/call', 'params': {'name': n, 'arguments': a}} for n, a in calls]
    p = subprocess.Popen([program, 'mcp', '--root', folder], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    trouble.clear()
    for i, ask in enumerate(asked):
        p.stdin.write(json.dumps(dict(ask, jsonrpc='2.0', id=i)) + '\n')
        p.stdin.flush()
        answer = json.loads(p.stdout.readline())
        if ask['method'] == 'tools/call':
            walk(json.loads(answer['result']['content'][0]['text']), 'answer', '', 'answer')
    p.stdin.close()
    p.wait()
    say(not trouble, 'answers of tools', *sorted(set(trouble)))

def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree('kernels', os.path.join(folder, 'kernels'))
        shutil.copytree('sessions', os.path.join(folder, 'sessions'))
        os.makedirs(os.path.join(folder, 'tests/golden/ptx'))
        shutil.copy('tests/golden/ptx/debugging.ptx', os.path.join(folder, 'tests/golden/ptx'))
        shutil.copytree('tests/source', os.path.join(folder, 'tests/source'))
        shutil.copy('kernels/valley.ptx', os.path.join(folder, 'app.ptx'))
        shutil.copytree('tests/fuzz/corpus/container', folder, dirs_exist_ok=True)
        shutil.copytree(os.path.join(os.path.dirname(os.path.realpath(program)), 'tests/emulate'), os.path.join(folder, 'emulate'))
        two_launches(folder)
        shutil.copy('tests/source/requests.jsonl', folder)
        for end in ('ptx', 'launch.json'):
            shutil.copy('tests/repro/race_line.' + end, folder)
        with open(os.path.join(folder, 'race_rules.json'), 'w') as f:
            json.dump({'format': 'gpulocw-rules', 'version': 1, 'rules': {'race': {'level': 'warning'}}}, f)
        shutil.copy('engine/sim/presets/ampere-a100.json', os.path.join(folder, 'mine.json'))
        for path in ('tests/sim/cluster.launch.json', 'tests/roof/copies.launch.json', 'tests/heldout/suites/samples.launch.json'):
            shutil.copy(path, folder)
        env = dict(os.environ, XDG_DATA_HOME=folder, GPULOCW_DATA=folder, LC_ALL='C.UTF-8')
        for line in commands:
            r = subprocess.run([program] + shlex.split(line)[1:], cwd=folder, env=env, text=True,
                               capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
            trouble.clear()
            docs = documents(r, line, folder)
            fails = [d['format'] for d in docs] == ['gpulocw-diagnostics']
            for doc in docs:
                if doc.get('format') in tables:
                    walk(doc, doc['format'], '', doc['format'])
                    check_schema(doc)
                else:
                    trouble.append('no table for the format %s' % doc.get('format'))
            for what, wrong in mutants(docs[-1]) if 'stride_32.ptx --json' in line or 'race_line' in line else ():
                if not own_check(wrong):
                    trouble.append('gpulocw schema FILE takes a mutant: ' + what)
            say((r.returncode != 0) == fails and docs and not trouble, line.strip(), 'exit %d %s' % (r.returncode, r.stderr[:200]), *sorted(set(trouble)))
        answers(folder)
        launches(folder)
    lessons()
    unmet = ['%s: `%s`' % (t, k) for t in tables for k, row in tables[t].items()
             if (t, k) not in seen and 'GPU' not in row[1]
             and not any(s == t and (o.startswith(k + '.') or o.startswith(k + '[]')) for s, o in seen)]
    say(len(tables) > 15 and not unmet, 'every row of every table was printed', *unmet)
    print('1..%d' % number)

main()
sys.exit(failed)
