"use strict";
// The timeline: `data` has lanes, nests, kinds and executions; see page.rs.
const canvas = document.getElementById("timeline"), tip = document.getElementById("tip"), context = canvas.getContext("2d");
// Pixels; what is narrower than NARROW is drawn together with its likes.
const LANE = 44, BAR = 24, AXIS = 22, LEFT = 8, NARROW = 12;
let from = 0, to = data.span, drawn = [];
const ms = (x) => x === 0 ? "0" : x >= 1000 ? (x / 1000).toPrecision(4) + " s" : x >= 1 ? x.toPrecision(4) + " ms" : (x * 1000).toPrecision(3) + " µs";
const bytes = (x) => x >= 1e9 ? (x / 1e9).toFixed(2) + " GB" : x >= 1e6 ? (x / 1e6).toFixed(2) + " MB" : x >= 1e3 ? (x / 1e3).toFixed(1) + " kB" : x + " bytes";
const rate = (b, t) => b > 0 && t > 0 ? ", " + (b / t / 1e6).toFixed(2) + " GB/s" : "";
// Where a time is, in pixels.
const at = (t) => LEFT + (t - from) / (to - from) * (canvas.clientWidth - 2 * LEFT);
const timeAt = (x) => from + (x - LEFT) / (canvas.clientWidth - 2 * LEFT) * (to - from);

// What is to be drawn of a lane: executions, or runs of executions of one nest that are too narrow to be told apart.
function groups(lane) {
  const all = [];
  for (const e of data.executions) {
    if (e.lane !== lane || e.start + e.total < from || e.start > to) continue;
    const last = all[all.length - 1], narrow = at(e.start + e.total) - at(e.start) < NARROW;
    if (last && last.narrow && narrow && last.nest === e.nest && at(e.start) - at(last.end) < NARROW) {
      last.count++;
      last.end = e.start + e.total;
      for (const [kind, t, b] of e.parts) {
        const sum = last.sums[kind] ||= [0, 0];
        sum[0] += t;
        sum[1] += b;
      }
    } else {
      const sums = {};
      for (const [kind, t, b] of e.parts) sums[kind] = [t, b];
      all.push({ nest: e.nest, start: e.start, end: e.start + e.total, count: 1, narrow, sums, execution: e });
    }
  }
  return all;
}

function draw() {
  const width = canvas.clientWidth, height = AXIS + LANE * data.lanes.length, scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + "px";
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "11px sans-serif";
  context.textBaseline = "middle";
  drawn = [];
  const raw = (to - from) / 8, unit = 10 ** Math.floor(Math.log10(raw)), step = unit * [1, 2, 5, 10].find((n) => n * unit >= raw);
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    context.fillStyle = "#ddd";
    context.fillRect(at(t), AXIS - 4, 1, height);
    context.fillStyle = "#666";
    context.textAlign = at(t) < 40 ? "left" : at(t) > width - 40 ? "right" : "center";
    context.fillText(ms(t), at(t), 8);
  }
  context.textAlign = "left";
  data.lanes.forEach((name, lane) => {
    const y = AXIS + LANE * lane + 14;
    context.fillStyle = "#666";
    context.fillText(name, LEFT, y - 8);
    for (const g of groups(lane)) {
      let x = at(g.start);
      const whole = Math.max(at(g.end) - x, 1), used = Object.values(g.sums).reduce((sum, [t]) => sum + t, 0) || 1;
      for (const [kind, [t]] of Object.entries(g.sums)) {
        const w = g.count > 1 ? whole * t / used : (at(g.start + t) - at(g.start));
        context.fillStyle = data.kinds[kind][1];
        context.fillRect(x, y, Math.max(w, 0.5), BAR);
        drawn.push({ x, w: Math.max(w, 1.5), y, kind, group: g });
        x += w;
      }
      const label = data.nests[g.nest].name + (g.count > 1 ? " ×" + g.count : ""), left = Math.max(at(g.start), LEFT);
      if (at(g.end) - left > context.measureText(label).width + 8) {
        context.fillStyle = "#fff";
        context.fillText(label, left + 4, y + BAR / 2);
      }
    }
  });
}

function told({ kind, group }) {
  const nest = data.nests[group.nest], [t, b] = group.sums[kind], e = group.execution;
  const lines = [nest.name + (nest.at ? " (" + nest.at + ")" : "") + " on " + data.devices[e.device]];
  if (group.count > 1) lines.push(group.count + " executions from " + ms(group.start) + " to " + ms(group.end));
  lines.push(data.kinds[kind][0] + ": " + ms(t) + (b > 0 ? ", " + bytes(b) + rate(b, t) : ""));
  if (group.count === 1) {
    lines.push("execution: " + ms(e.total) + " from " + ms(e.start) + (e.launches ? ", " + e.launches + " launches" : ""));
    if (e.reason) lines.push(e.reason);
  }
  return lines.join("\n");
}

function move(start, end) {
  const least = data.span / 1e6, width = Math.min(Math.max(end - start, least), data.span);
  from = Math.min(Math.max(start, 0), data.span - width);
  to = from + width;
  draw();
}

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const t = timeAt(event.offsetX), factor = Math.exp(event.deltaY / 400);
  move(t - (t - from) * factor, t + (to - t) * factor);
}, { passive: false });
let held = null;
canvas.addEventListener("mousedown", (event) => { held = { x: event.offsetX, from, to }; });
window.addEventListener("mouseup", () => { held = null; });
canvas.addEventListener("mousemove", (event) => {
  if (held) {
    const by = (held.x - event.offsetX) / (canvas.clientWidth - 2 * LEFT) * (held.to - held.from);
    return move(held.from + by, held.to + by);
  }
  const found = drawn.findLast((d) => event.offsetX >= d.x && event.offsetX <= d.x + d.w && event.offsetY >= d.y && event.offsetY <= d.y + BAR);
  tip.hidden = !found;
  if (!found) return;
  tip.textContent = told(found);
  tip.style.left = Math.min(event.pageX + 12, document.documentElement.clientWidth - 360) + "px";
  tip.style.top = event.pageY + 16 + "px";
});
canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
canvas.addEventListener("dblclick", () => move(0, data.span));
window.addEventListener("keydown", (event) => {
  const part = (to - from) / 4, middle = (from + to) / 2;
  const moves = { ArrowLeft: [from - part, to - part], ArrowRight: [from + part, to + part], "+": [middle - part, middle + part],
                  "-": [middle - 4 * part, middle + 4 * part], 0: [0, data.span] };
  if (moves[event.key]) move(...moves[event.key]);
});
window.addEventListener("resize", draw);
draw();
