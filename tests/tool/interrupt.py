#!/usr/bin/env python3
"""Interrupts a command: python3 tests/tool/interrupt.py [--twice] [--when FILE EXPRESSION] SIGNAL COMMAND...

Not after some time, which a busy machine makes too short and a fast one too long, but as soon as the command has its
handler of SIGNAL and, where asked for, EXPRESSION holds of the JSON document d in FILE. --twice: and again a moment
later, as timeout(1) and terminals do. Ends with the command's exit code, 99 when it had ended before."""
import json, os, signal, subprocess, sys, time

words, twice, path, holds = sys.argv[1:], False, None, None
while words[0].startswith('--'):
    if words[0] == '--twice':
        twice, words = True, words[1:]
    else:
        path, holds, words = words[1], words[2], words[3:]
number = signal.Signals['SIG' + words[0]]
p = subprocess.Popen(words[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

def handled():
    for line in open('/proc/%d/status' % p.pid):
        if line.startswith('SigCgt:'):
            return int(line.split()[1], 16) >> (number - 1) & 1
    return False

def reached():
    try:
        return handled() and (not path or eval(holds, {'d': json.load(open(path))}))
    except (OSError, ValueError, LookupError):       # not written yet
        return False

while p.poll() is None and not reached():
    time.sleep(0.02)
if p.poll() is not None:
    print('%s: ended by itself (%d) before it could be interrupted' % (words[1], p.returncode), file=sys.stderr)
    sys.exit(99)
p.send_signal(number)
if twice:
    time.sleep(0.02)
    p.send_signal(number)
try:
    code = p.wait(60)
except subprocess.TimeoutExpired:
    p.kill()
    print('%s: still there 60 s after its interrupt' % words[1], file=sys.stderr)
    sys.exit(98)
sys.exit(code if code >= 0 else 128 - code)
