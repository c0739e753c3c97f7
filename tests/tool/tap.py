"""TAP lines for checks in Python: claim() prints one, done() ends the program."""
import sys

count = failed = 0


def claim(name, good, why=""):
    """One line; `why` is shown, cut short, where it does not hold."""
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}" + ("" if good else f"\n#   {str(why)[:700]}"), flush=True)


def say(good, name, *why):
    """claim(), with the ends of several texts as the reason."""
    claim(name, good, "\n".join(str(w)[-600:] for w in why).replace("\n", "\n#   "))


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}", flush=True)


def done():
    sys.exit(failed > 0)
