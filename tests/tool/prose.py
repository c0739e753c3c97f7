#!/usr/bin/env python3
"""Words and mean sentence length of the documents: python3 tests/tool/prose.py [FILE...]

Words: what a reader reads, in sentences and in cells of tables; code blocks and table rules are left out. The mean
sentence length counts paragraphs and lists alone. docs/lab is counted apart. Exit 1: a document for readers has a mean of 20 words or more."""
import glob, re, sys

MOST = 20                                       # words: a document whose mean sentence is as long has to be mended

def read(path):
    """(words in all, [length of each sentence])"""
    text = open(path, encoding='utf-8').read()
    text = re.sub(r'```.*?```', '\n', text, flags=re.S)
    text = re.sub(r'!\[[^]]*\]\([^)]*\)', '', text)
    text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', text)
    prose, words = [], 0
    for line in text.splitlines():
        if line.startswith('    ') or re.match(r'^\|[-| ]+\|$', line):
            prose.append('')
            continue
        words += len(re.findall(r'\S*\w\S*', line.replace('|', ' ')))
        plain = '' if line.startswith(('|', '#')) or not line.strip() else line
        prose.append('\n' + plain if re.match(r'^(- |\d+\. )', plain) else plain)
    sentences = []
    for paragraph in re.split(r'\n\s*\n|\n(?=- |\d+\. )', '\n'.join(prose)):
        paragraph = re.sub(r'^(- |\d+\. )', '', ' '.join(paragraph.split()))
        paragraph = re.sub(r'`[^`]*`', 'x', paragraph)
        for s in re.split(r'(?<=[.!?:])\s+(?=[A-Z*"`x(])', paragraph):
            n = len(re.findall(r'\S*\w\S*', s))
            if n > 1:
                sentences.append(n)
    return words, sentences

def row(name, words, sentences):
    mean = sum(sentences) / len(sentences) if sentences else 0
    print('%-36s %7d words %5d sentences   mean %5.1f   longest %3d' % (name, words, len(sentences), mean, max(sentences or [0])))
    return mean

paths = sys.argv[1:] or ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'kernels/README.md'] + sorted(glob.glob('docs/**/*.md', recursive=True))
long, total, every, apart = [], 0, [], {'docs/lab': 0}
for p in paths:
    words, sentences = read(p)
    kind = 'docs/lab' if p.startswith('docs/lab/') else None
    if kind:
        apart[kind] += words
        continue
    if row(p, words, sentences) >= MOST:
        long.append(p)
    total, every = total + words, every + sentences
row('for readers', total, every)
print('for readers: all but docs/lab')
print('apart: ' + ', '.join('%s %d words' % (k, v) for k, v in apart.items()))
print('mean sentence of %d words or more: %s' % (MOST, ' '.join(long) or 'none'))
sys.exit(bool(long))
