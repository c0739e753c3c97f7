// Runs the script of an exported lesson in a small document, moves the cursor of every curve and presses
// every button; prints what it read. node page.js PAGE.html
const fs = require("fs"), vm = require("vm");
const html = fs.readFileSync(process.argv[2], "utf8");
class Node {
    constructor(name) { this.name = name; this.kids = []; this.at = {}; this.on = {}; this.textContent = ""; }
    setAttribute(k, v) { this.at[k] = String(v); }
    append(...v) { this.kids.push(...v); }
    replaceChildren(...v) { this.kids = v; }
    addEventListener(k, f) { this.on[k] = f; }
    getBoundingClientRect() { return { left: 0, width: 640 }; }
    all(name, cls) { return this.kids.flatMap(k => [...(k.name === name && (!cls || k.at.class === cls) ? [k] : []), ...k.all(name, cls)]); }
}
class Figure {
    constructor(json) { this.json = json; this.plot = new Node("div"); }
    querySelector(s) { return s === "script" ? { textContent: this.json } : this.plot; }
}
const figures = [...html.matchAll(/<figure class="curve"[^>]*>[\s\S]*?<script type="application\/json">([\s\S]*?)<\/script>/g)].map(m => new Figure(m[1]));
const code = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)];
if (code.length !== 1) throw new Error("one script is looked for, there are " + code.length);
vm.runInNewContext(code[0][1], { document: {
    createElementNS: (ns, n) => new Node(n), createElement: n => new Node(n),
    querySelectorAll: s => { if (s !== "figure.curve") throw new Error(s); return figures; } }, console, JSON, Math });
function need(yes, what) { if (!yes) throw new Error(what); }
function numbers(svg) {
    for (const e of [svg, ...svg.all("line"), ...svg.all("text"), ...svg.all("circle"), ...svg.all("path")])
        for (const k in e.at) need(!/NaN|Infinity|undefined/.test(e.at[k]), k + "=" + e.at[k]);
    for (const e of [...svg.all("circle"), ...svg.all("text")])
        need(+(e.at.cx || e.at.x) >= 0 && +(e.at.cx || e.at.x) <= 640 && +(e.at.cy || e.at.y) >= 0 && +(e.at.cy || e.at.y) <= 320, "outside: " + JSON.stringify(e.at));
}
for (const f of figures) {
    const run = JSON.parse(f.json), [bar, svg, line] = f.plot.kids, buttons = bar.all("button");
    const press = key => svg.on.keydown({ key, preventDefault() {} });
    need(svg.all("circle").length > 0, "run " + run.run + ": no point is drawn");
    need(run.best === null || line.textContent.includes(" = " + run.points[run.best].name + " (best)"), "the cursor is not on the best: " + line.textContent);
    console.log(`run ${run.run} ${run.axis} ${run.points.length} points: ${line.textContent}`);
    press("Home");
    for (let i = 0; i < run.points.length; i++, press("ArrowRight")) {
        need(line.textContent.includes(" = " + run.points[i].name), `point ${i}: ${line.textContent}`);
        const dot = svg.all("circle").length === run.points.length && svg.all("circle")[i];
        press("Home");
        if (dot) { svg.on.pointermove({ clientX: +dot.at.cx }); need(line.textContent.includes(" = " + run.points[i].name), "the pointer over point " + i); }
        press("Home"); for (let k = 0; k < i; k++) press("ArrowRight");
    }
    for (const b of buttons) {
        b.on.click(); numbers(svg);
        need(b.at["aria-pressed"] === "true", b.textContent + " is not pressed");
        if (b.textContent.startsWith("with run")) need(svg.all("path").length === 2, "no second curve");
    }
}
console.log(figures.length + " curves");
