"""Launches as files: which there are under given paths, and a draw of them."""
import glob, json, os, random


def launches(path):
    """(PTX, launch file, name) of each launch in a file, but for those that are small for tests."""
    d = json.load(open(path))
    for l in d.get("launches", [d]) if isinstance(d, dict) and d.get("format") == "gpulocw-launch" else []:
        text, name = l.get("ptx", d.get("ptx")), l.get("name") or l.get("kernel")
        if text and name and not name.endswith("-small"):
            yield os.path.join(os.path.dirname(path), text), path, name


def found(paths):
    """{(file below its path, without its ending, name): launch} of files and folders, sorted."""
    all_of = {}
    for top in paths:
        files = [top] if os.path.isfile(top) else glob.glob(os.path.join(top, "**", "*.json"), recursive=True)
        for f in files:
            below = os.path.relpath(f, os.path.dirname(top.rstrip("/"))).removesuffix(".json").removesuffix(".launch")
            all_of.update({(below, name): (ptx, path, name) for ptx, path, name in launches(f) if os.path.exists(ptx)})
    return dict(sorted(all_of.items()))


def draw(keys, count, seed, most=2):
    """`count` of the keys by a seed, at most `most` of one folder (a program; 0: as many as come)."""
    keys, of_folder, drawn = sorted(keys), {}, []
    random.Random(seed).shuffle(keys)
    for k in keys:
        folder = os.path.dirname(k[0])
        of_folder[folder] = of_folder.get(folder, 0) + 1
        if not most or of_folder[folder] <= most:
            drawn.append(k)
    return drawn[:count]
