#!/usr/bin/env python3
"""A worker between: starts `gpulocw worker` (GPULOCW names the program) and does harm to what it says.

usage: relay.py MODE [AFTER [MARK]]     harm begins with frame AFTER of the worker (the greeting is none) or later;
MARK: a file that is taken away first; without it no harm is done, so that it is done once.
"""
import os, signal, struct, subprocess, sys, threading, time

mode, after = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4
armed = True
if len(sys.argv) > 3:
    try:
        os.unlink(sys.argv[3])
    except FileNotFoundError:
        armed = False
spoiled = os.environ.get('RELAY_SPOILED')     # a file that says that harm was begun: from then on every worker is harmed at once
if spoiled and os.path.exists(spoiled):
    after = 2
if mode == 'never':
    time.sleep(1000)
worker = subprocess.Popen([os.environ.get('GPULOCW', 'gpulocw'), 'worker'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
HEAD, GREETING = 36, 17


def inward():
    n = 0
    while True:
        data = os.read(0, 65536)
        n += 1
        if armed and mode == 'deaf' and n > after:      # reads no more, and what comes stays in the pipe
            time.sleep(1000)
        if not data:
            worker.stdin.close()
            return
        worker.stdin.write(data)
        worker.stdin.flush()


threading.Thread(target=inward, daemon=True).start()


def put(data):
    while data:
        data = data[os.write(1, data):]


def get(n):
    data = worker.stdout.read(n)
    if len(data) < n:
        os._exit(0)
    return data


greeting = get(GREETING)
if mode == 'old':
    put(b'GLW\x08' + greeting[4:])
    time.sleep(1000)
if mode == 'new':
    put(b'GLW\x63' + greeting[4:] + b'whatever a later version says here, which nobody knows' * 4)
    time.sleep(1000)
put(greeting)
count = 0
held = b''
while True:
    head = get(HEAD)
    frame = head + get(struct.unpack_from('<Q', head, 8)[0] + 1)
    count += 1
    if spoiled and armed and count >= after:
        open(spoiled, 'w').close()
    if not armed or count < after:
        put(frame)
    elif mode == 'flip':
        at = HEAD + (len(frame) - HEAD) // 2
        put(frame[:at] + bytes([frame[at] ^ 4]) + frame[at + 1:])
    elif mode == 'dup':
        put(frame + frame)
    elif mode == 'late':                                # every reply again, behind the next
        put(frame + held)
        held = frame
    elif mode == 'drop':
        pass
    elif mode == 'delay':
        time.sleep(0.05)
        put(frame)
    elif mode == 'hang':
        time.sleep(1000)
    elif mode == 'stop':
        os.kill(worker.pid, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
    elif mode == 'drip':
        for b in frame:
            put(bytes([b]))
            time.sleep(1)
    elif mode == 'truncate':
        put(frame[:len(frame) // 2])
        worker.kill()
        os._exit(0)
    elif mode == 'die':
        worker.kill()
        os._exit(9)
    elif mode == 'garbage':
        put(os.urandom(5000))
    else:
        put(frame)
