#!/usr/bin/env python3
"""What the injected library costs a launch on the host, without a GPU: launch_cost.py BUILD [LAUNCHES [ROUNDS]].

A program launches on the fake driver of tests/live; its thread's CPU time of a launch is taken without the library and with that of
`gpulocw capture --list`, by turns. Activity records are handed over by the same thread, so they are in it; CUPTI's own work is not."""
import os, re, statistics, subprocess, sys

build = os.path.abspath(sys.argv[1])
launches, rounds = (sys.argv[2:] + ['100000', '5'][len(sys.argv) - 2:])[:2]
program, env = build + '/tests/live/threads', dict(os.environ, CUPTI_PATH=build + '/tests/live/libfake.so')
for threads in ('1', '4'):
    took = {False: [], True: []}
    for _ in range(int(rounds)):
        for survey in (False, True):
            words = [program, launches, threads]
            said = subprocess.run([build + '/gpulocw', 'capture', '--list', '--'] + words if survey else words, env=env, capture_output=True, text=True).stdout
            took[survey] += [float(v) for v in re.findall(r'^ns_per_launch ([0-9.]+)', said, re.M)]
    was, now = (statistics.median(took[s]) for s in (False, True))
    print('%s launches in each of %s threads: %.0f ns on the fake driver, %.0f with the survey: %.0f ns a launch' % (launches, threads, was, now, now - was))
