"use strict";
/* The curves of a lesson. Each figure holds its run as JSON; texts go in as text, never as markup. */
(function () {
    const W = 640, H = 320, L = 64, R = 16, T = 16, B = 44, NS = "http://www.w3.org/2000/svg";
    const runs = [];
    const metrics = [
        { id: "speed", name: "speed over all cache", of: (r, p) => r.cha_ns && p.time_ns ? r.cha_ns / p.time_ns : null,
          text: v => v.toFixed(2) + "x", levels: true },
        { id: "time", name: "time", of: (r, p) => p.time_ns, text: time, levels: true },
        { id: "hits", name: "L1 hit rate", of: (r, p) => p.l1_hit, text: v => v.toFixed(1) + " %" },
        { id: "dram", name: "read from memory", of: (r, p) => p.dram_bytes, text: bytes }
    ];
    function time(ns) { return ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(2) + " µs"; }
    function bytes(v) { return v >= 1048576 ? (v / 1048576).toFixed(2) + " MiB" : (v / 1024).toFixed(1) + " KiB"; }
    function known(v) { return typeof v === "number" && isFinite(v); }
    function make(name, attributes, text) {
        const e = document.createElementNS(NS, name);
        for (const k in attributes) e.setAttribute(k, attributes[k]);
        if (text !== undefined) e.textContent = text;
        return e;
    }
    function step(top) {
        const base = Math.pow(10, Math.floor(Math.log10(top / 4))), times = top / 4 / base;
        return base * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    }
    function level(run, metric, ns) { return metric.levels && known(ns) ? metric.of(run, { time_ns: ns }) : null; }
    function values(run, metric) { return run.points.map(p => metric.of(run, p)); }
    function has(run, metric) { return values(run, metric).some(known); }

    /* From zero, unless all values lie far from it: then a peak is to look like one. */
    function range(all) {
        const high = Math.max(...all, 0) || 1, least = Math.min(...all), air = (high - least) * 0.12;
        return least > high / 3 && high > least ? [least - air, high + air] : [0, high * 1.08];
    }
    function axes(svg, run, low, top, metric, y, x) {
        const by = step(top - low);
        for (let k = Math.ceil(low / by); k * by <= top; k++) {
            const v = k * by;
            svg.append(make("line", { class: "grid", x1: L, x2: W - R, y1: y(v), y2: y(v) }));
            svg.append(make("text", { class: "faint", x: L - 6, y: y(v) + 4, "text-anchor": "end" }, metric.text(v)));
        }
        const every = Math.ceil(run.points.length / 18);
        run.points.forEach((p, i) => {
            const wide = i === run.points.length - 1 && p.name.length > 4; /* ends at the edge, not beyond it */
            if (i % every === 0)
                svg.append(make("text", { class: "faint", x: wide ? W : x(i), y: H - B + 18, "text-anchor": wide ? "end" : "middle" }, p.name));
        });
        const label = run.axis === "pi" ? "π: warps of a CTA that cache" : run.axis;
        svg.append(make("text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle" }, label));
    }
    function path(v, x, y) {
        let d = "", pen = false;
        v.forEach((value, i) => {
            if (known(value)) d += (pen ? "L" : "M") + x(i).toFixed(1) + " " + y(value).toFixed(1);
            pen = known(value);
        });
        return d;
    }
    function draw(view) {
        const run = view.run, metric = metrics[view.metric], v = values(run, metric), svg = view.svg;
        const over = view.over ? values(view.over, metric) : [];
        const cha = level(run, metric, run.cha_ns), bpa = level(run, metric, run.bpa_ns);
        const [low, top] = range(v.concat(over, [cha, bpa]).filter(known));
        const n = Math.max(run.points.length, over.length, 2);
        const x = i => L + (W - L - R) * i / (n - 1), y = q => H - B - (H - B - T) * (q - low) / (top - low);
        svg.replaceChildren();
        axes(svg, run, low, top, metric, y, x);
        const below = known(bpa) && known(cha) && bpa <= cha; /* their names never lie on each other */
        [["cha", cha, "all cache", !below], ["bpa", bpa, "all bypass", below]].forEach(([cls, q, name, under]) => {
            if (!known(q)) return;
            svg.append(make("line", { class: cls, x1: L, x2: W - R, y1: y(q), y2: y(q) }));
            svg.append(make("text", { class: "faint", x: W - R, y: y(q) + (under ? 14 : -5), "text-anchor": "end" }, name));
        });
        if (over.length) svg.append(make("path", { class: "older", d: path(over, x, y) }));
        svg.append(make("path", { class: "line", d: path(v, x, y) }));
        v.forEach((q, i) => {
            if (known(q)) svg.append(make("circle", { class: run.points[i].equal === false ? "wrong" : i === run.best ? "best" : "dot",
                                                      cx: x(i), cy: y(q), r: i === run.best ? 5 : 3.5 }));
        });
        svg.append(make("line", { class: "at", x1: x(view.at), x2: x(view.at), y1: T, y2: H - B }));
        view.x = x;
        read(view);
    }
    function read(view) {
        const run = view.run, p = run.points[view.at], words = [];
        if (!p) return;
        words.push((run.axis === "pi" ? "π" : run.axis) + " = " + p.name + (view.at === run.best ? " (best)" : ""));
        metrics.filter(m => has(run, m)).forEach(m => { const v = m.of(run, p); words.push(m.name + " " + (known(v) ? m.text(v) : "n/a")); });
        if (p.equal === false) words.push("results differ: never the best");
        const o = view.over && view.over.points[view.at], v = o ? metrics[view.metric].of(view.over, o) : null;
        if (known(v)) words.push("run " + view.over.run + " there: " + metrics[view.metric].text(v));
        view.read.textContent = words.join("   ");
    }
    function move(view, at) {
        view.at = Math.max(0, Math.min(view.run.points.length - 1, at));
        draw(view);
    }
    function button(bar, text, pressed, act) {
        const b = document.createElement("button");
        b.type = "button"; b.textContent = text;
        b.setAttribute("aria-pressed", pressed);
        b.addEventListener("click", act);
        bar.append(b);
        return b;
    }
    function controls(view, bar) {
        const choice = metrics.map((m, i) => button(bar, m.name, i === view.metric, () => {
            view.metric = i;
            choice.forEach((b, k) => b.setAttribute("aria-pressed", k === i));
            draw(view);
        }));
        choice.forEach((b, i) => { b.hidden = !has(view.run, metrics[i]); });
        const older = runs.filter(r => r.axis === view.run.axis).pop();
        if (older) {
            const b = button(bar, "with run " + older.run, false, () => {
                view.over = view.over ? null : older;
                b.setAttribute("aria-pressed", view.over !== null);
                draw(view);
            });
        }
    }
    function nearest(view, event) {
        const box = view.svg.getBoundingClientRect(), at = (event.clientX - box.left) * W / (box.width || W);
        let best = 0;
        view.run.points.forEach((p, i) => { if (Math.abs(view.x(i) - at) < Math.abs(view.x(best) - at)) best = i; });
        return best;
    }
    function figure(fig) {
        const run = JSON.parse(fig.querySelector("script").textContent);
        if (!run.points.length) return;
        const svg = make("svg", { class: "live", viewBox: "0 0 " + W + " " + H, width: W, tabindex: 0, role: "img",
                                  "aria-label": "curve of run " + run.run + "; left and right move the cursor" });
        const bar = document.createElement("div"), line = document.createElement("p");
        const view = { run, svg, read: line, metric: known(run.cha_ns) ? 0 : 1, at: run.best === null ? 0 : run.best, over: null };
        bar.className = "bar"; line.className = "read"; line.setAttribute("aria-live", "polite");
        controls(view, bar);
        runs.push(run);
        svg.addEventListener("pointermove", e => move(view, nearest(view, e)));
        svg.addEventListener("pointerdown", e => move(view, nearest(view, e)));
        svg.addEventListener("keydown", e => {
            const by = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[e.key];
            if (by) { e.preventDefault(); move(view, view.at + by); }
        });
        fig.querySelector(".plot").replaceChildren(bar, svg, line);
        draw(view);
    }
    document.querySelectorAll("figure.curve").forEach(figure);
})();
