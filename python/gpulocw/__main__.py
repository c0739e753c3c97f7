"""python -m gpulocw ARG...: the program."""
import os
import shutil
import sys


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gpulocw")
    program = os.environ.get("GPULOCW_PROGRAM") or (beside if os.access(beside, os.X_OK) else shutil.which("gpulocw"))
    if not program:
        sys.exit("gpulocw: the program is not in this package and not on the PATH")
    os.execv(program, ["gpulocw", *sys.argv[1:]])


main()
