"""Every source that makes or replaces a file is in tests/writers.def, which has its faults injected; every source that reads
bytes from outside is in tests/fuzz/readers.txt, which names its fuzz target. Prints TAP lines."""
import glob, os, re, sys

WRITES = re.compile(r'\b(file_write_atomic|file_write_parts|file_new_open)\s*\(|\b(base_)?open(at)?\s*\([^;]*O_(WRONLY|RDWR|CREAT)'
                    r'|\bfopen\s*\([^;]*"[wa]|\b(creat|mkstemps?)\s*\(', re.S)
READS = re.compile(r'\b(file_read|file_read_regular|file_read_part|base_p?read|fgets|getline|fread|recv|mmap)\s*\('
                   r'|(?<![\w.>])p?read\s*\(\s*[\w>.-]+(\[\d\])?\s*,|\bfopen\s*\([^;]*"r')
LINE = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)


def sources(pattern):
    found = set()
    for path in glob.glob('engine/**/*.c', recursive=True) + glob.glob('tui/**/*.c', recursive=True):
        text = LINE.sub(' ', open(path, encoding='utf-8').read())
        if pattern.search(text):
            found.add(path)
    return found


def writers():
    text = LINE.sub(' ', open('tests/writers.def', encoding='utf-8').read())
    listed, wrong = set(), []
    for names, _ in re.findall(r'\bWRITER\(\s*"([^"]*)",\s*"([^"]*)"', text):
        listed.update(names.split())
    for name, test in re.findall(r'\bELSEWHERE\(\s*"([^"]*)",\s*"([^"]*)"', text):
        listed.add(name)
        if not os.path.isfile(test):
            wrong.append(f'{test} is not there')
    return listed, wrong


def readers():
    listed, wrong = set(), []
    for line in open('tests/fuzz/readers.txt', encoding='utf-8'):
        if line.startswith('#') or not line.strip():
            continue
        path, target, *why = line.split()
        listed.add(path)
        if target != '-' and not os.path.isfile(f'tests/fuzz/fuzz_{target}.c'):
            wrong.append(f'{path}: no target {target}')
        if target == '-' and not why:
            wrong.append(f'{path}: no reason')
    return listed, wrong


def tell(number, what, found, listed, wrong):
    bad = [f'{p} is missing there' for p in sorted(found - listed)]
    bad += [f'{p} has a line and does no such thing' for p in sorted(listed - found)] + wrong
    print(f'{"not " if bad else ""}ok {number} - {what}: {len(found)}')
    for b in bad:
        print('#   ' + b)
    return bool(bad)


lib = {'engine/base/file.c', 'engine/base/private_folder.c', 'engine/base/io.c'}
w, w_wrong = writers()
r, r_wrong = readers()
failed = tell(1, 'sources that write files, with injected faults', sources(WRITES) - {'engine/base/io.c'}, w, w_wrong)
failed |= tell(2, 'sources that read from outside, with a fuzz target or a reason', sources(READS), r, r_wrong)
sys.exit(failed)
