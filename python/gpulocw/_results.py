"""Results: dictionaries of the program's JSON documents that print as text and show as SVG in a notebook."""
from html import escape


def time_text(ns):
    if ns is None:
        return "n/a"
    return f"{ns:.0f} ns" if ns < 1e3 else f"{ns / 1e3:.2f} us" if ns < 1e6 else f"{ns / 1e6:.3f} ms"


class Result(dict):
    """A document of gpulocw. Its text is print(r); its picture is r._repr_svg_()."""

    def __init__(self, document, code=0, diagnostics=()):
        super().__init__(document if isinstance(document, dict) else {"text": document})
        self.code, self.diagnostics = code, list(diagnostics)

    def title(self):
        return self.get("kernel") or self.get("format") or ""

    def lines(self):
        """Rows of (label, value as text, share of a bar 0..1 or None)."""
        return []

    def __str__(self):
        rows = self.lines()
        wide = max((len(r[0]) for r in rows), default=0)
        notes = [f"{d['level']}: {d['message']}" for d in self.diagnostics if d["level"] != "note"]
        return "\n".join([self.title()] + [f"  {a:<{wide}}  {b}" for a, b, _ in rows] + notes)

    def _repr_svg_(self):
        rows, step, left, width = self.lines(), 18, 210, 760
        height = 34 + step * len(rows)
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
               'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
               f'<text x="8" y="18" font-weight="bold" fill="#202020">{escape(self.title())}</text>']
        for i, (label, value, share) in enumerate(rows):
            y = 38 + step * i
            out.append(f'<text x="{left - 8}" y="{y}" text-anchor="end" fill="#404040">{escape(label[:34])}</text>')
            if share is not None:
                out.append(f'<rect x="{left}" y="{y - 10}" width="{max(1.0, 200 * min(1, max(0, share))):.1f}" height="12" fill="#3b78b0"/>')
            out.append(f'<text x="{left + (208 if share is not None else 0)}" y="{y}" fill="#202020">{escape(value[:88])}</text>')
        return "\n".join(out + ["</svg>"])


class Run(Result):
    @property
    def time_ns(self):
        return (self.get("time_ns") or {}).get("median")

    @property
    def counters(self):
        """{name: value}; None: not known."""
        return {c["name"]: c["value"] for c in self.get("counters", []) if c.get("valid", True) or c["value"] is None}

    @property
    def equal(self):
        return self.get("equal_to_original")

    def evidence(self):
        kind = "simulated" if (self.get("device") or {}).get("kind") == "simulated" else "measured"
        return f"{kind}, {'sampled' if self.get('sampled') else 'whole'}" if self.time_ns is not None else "not timed"

    def title(self):
        return f"{self['kernel']} on {self['device']['name']}: {time_text(self.time_ns)} ({self.evidence()})"

    def lines(self):
        rows = []
        for l in self.get("limits") or []:
            rows.append((l["what"], f"{100 * l['share']:.0f} %  {l['why']}", l["share"]))
        for name in ("l1.hit_rate", "l2.hit_rate", "l1.sectors_per_request", "dram.read_bytes", "inst.warp"):
            value = self.counters.get(name)
            if value is not None:
                rows.append((name, f"{value:.4g}", value / 100 if name.endswith("hit_rate") else None))
        if self.equal is not None:
            rows.append(("outputs", "equal to the original's" if self.equal else "differ from the original's", None))
        return rows


class Analysis(Result):
    def title(self):
        return "; ".join(f"{k['name']}: {k['class']}" for k in self.get("kernels", []))

    def lines(self):
        rows = []
        for k in self.get("kernels", []):
            for l in k.get("loads", []):
                exact = l.get("exact") or {}
                degree = (l.get("coalesce") or {}).get("degree")
                sectors = exact.get("sectors_per_request")
                rows.append((f"line {l['line']}", f"{l['class']}  {'' if sectors is None else f'{sectors:.2f} sectors a request  '}{l['text']}", degree))
        return rows


class Check(Result):
    @property
    def findings(self):
        return self.get("findings", [])

    def __bool__(self):
        """No finding is an error."""
        return self.code == 0

    def title(self):
        return f"{len(self.findings)} findings" if self.findings else "no finding"

    def lines(self):
        return [(f"{f.get('rule')} {f.get('level')}", f"{f.get('file') or ''}:{f.get('line')}  {f.get('message')}", None) for f in self.findings]


class Tuned(Result):
    @property
    def options(self):
        """The recommended options as one line; "": leave it alone."""
        return self.get("options_line", "")

    @property
    def gain(self):
        return self.get("gain")

    def title(self):
        if self.get("leave_alone"):
            return f"{self['kernel']}: leave it alone"
        return f"{self['kernel']}: {self.options}, {self.gain:.2f}x ({self['device']['kind']})"

    def lines(self):
        rows = []
        for name in ("original", "best"):
            ns = ((self.get(name) or {}).get("time_ns") or {}).get("median")
            first = ((self.get("original") or {}).get("time_ns") or {}).get("median")
            rows.append((name, time_text(ns), ns / first if ns and first else None))
        return rows + [("reason", self.get("reason") or "", None)]
