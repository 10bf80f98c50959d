// The view of a figure: the SVG that the notebook keeps too, with the values under the pointer, zoom, logarithmic axes and
// series that can be hidden. It is an ES module with the protocol of anywidget. The kernel sends the figure when the model
// says hello, and again whenever it changes.
//
// A notebook keeps the figure as an image. On a page whose document has such an image, the view takes its place; so a page
// without anywidget, a notebook without a kernel, and exported files show the image. render serves front ends in which an
// output shows the model itself.

const SVG = "http://www.w3.org/2000/svg";
const KEY = Symbol.for("quern.figures");

// figures are those of all models on this page by id. Each model loads this module again, so they are shared here.
function figures() {
  return (globalThis[KEY] ??= watch(new Map()));
}

// watch finds the images of the figures, also those that are added later.
function watch(all) {
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) if (node.nodeType === 1) find(all, node);
  }).observe(document.body, { childList: true, subtree: true });
  return all;
}

// find puts views in place of the images within a node.
function find(all, node) {
  for (const image of node.matches("img") ? [node] : node.querySelectorAll("img")) {
    const id = image.dataset.quern ?? image.src.match(/^data:image\/svg.{0,3000}?id(?:=|%3D)(?:"|%22)quern-([\w-]+)/)?.[1];
    all.get(id)?.replace(image);
  }
}

class Figure {
  constructor(id, model) {
    this.id = id;
    this.views = [];
    this.connect(model);
  }

  // connect sets the model: a page that reconnects to the kernel makes another one.
  connect(model) {
    this.model = model;
    // anywidget drops all messages to a model whose view took longer than two seconds to load; the kernel opens it again.
    const deaf = setTimeout(() => this.model === model && model.send({ kind: "deaf" }), 4000);
    model.on("change:figure", () => {
      clearTimeout(deaf);
      this.update(model.get("figure"));
    });
    model.on("msg:custom", (message) => {
      if (message.kind === "csv") this.received?.(message.text);
    });
  }

  update(content) {
    if (!content) return;
    const first = !this.content;
    this.content = content;
    for (const view of this.views) view.update();
    if (first) find(figures(), document.body);
  }

  // replace shows a view instead of an image. The view of an image that the front end has replaced by a newer one moves to
  // that one, with its zoom and its focus.
  replace(image) {
    if (!this.content || this.views.some((v) => v.image === image)) return;
    let view = this.views.find((v) => v.image && !v.image.isConnected);
    const focused = view?.element.contains(document.activeElement) ? document.activeElement : null;
    view ??= this.view();
    view.image = image;
    image.style.display = "none";
    image.after(view.element);
    view.update();
    focused?.focus({ preventScroll: true });
  }

  view() {
    const view = new View(this);
    this.views.push(view);
    return view;
  }

  // csv returns all points, which only the kernel has; without it those of the drawing.
  csv() {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(drawnPoints(this.content)), 2000);
      this.received = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      try {
        this.model.send({ kind: "csv" });
      } catch {
        this.received(drawnPoints(this.content));
      }
    });
  }
}

function drawnPoints(content) {
  const lines = ["panel,series,x,y"];
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  for (const panel of content.panels)
    for (const s of panel.series) for (const [x, y] of points(s.points)) if (x !== null) lines.push([quote(panel.y.label || panel.title), quote(s.name), x, y].join(","));
  return lines.join("\n") + "\n";
}

class View {
  constructor(figure) {
    this.figure = figure;
    this.hidden = new Set(); // names of series
    this.log = { x: null, y: null }; // what the reader has chosen; null is as drawn
    this.zoom = new Map(); // by panel: { x: [from, to], y: [from, to] or null }
    this.at = null; // the crosshair: { panel, x }
    this.element = html("div", { class: "quern-view", role: "group" });
    this.drawing = this.element.appendChild(html("div", { class: "quern-drawing" }));
    this.overlay = create("svg", { class: "quern-overlay" }, this.drawing); // it stays when the drawing changes
    this.hits = [];
    this.tip = html("div", { class: "quern-tip", hidden: "" });
    this.element.append(this.tip);
    this.bar = this.element.appendChild(html("div", { class: "quern-bar", role: "toolbar", "aria-label": "figure" }));
    this.status = html("span", { role: "status" });
    this.update();
  }

  remove() {
    this.figure.views = this.figure.views.filter((v) => v !== this);
    this.element.remove();
  }

  get panels() {
    return this.figure.content?.panels ?? [];
  }

  // update shows the figure as it is now; while the reader draws a box, and of a view that is not on the page, later.
  update() {
    if (!this.figure.content || this.drag || (this.svg && !this.element.isConnected)) return;
    this.element.setAttribute("aria-label", this.figure.content.text);
    const parsed = new DOMParser().parseFromString(this.figure.content.svg, "image/svg+xml").documentElement;
    const svg = document.importNode(parsed, true);
    svg.setAttribute("aria-hidden", "true"); // the label of the view has its text
    svg.removeAttribute("class");
    this.element.style.width = svg.getAttribute("width") + "px";
    if (this.svg) this.svg.replaceWith(svg);
    else this.drawing.prepend(svg);
    this.svg = svg;
    this.overlay.setAttribute("viewBox", svg.getAttribute("viewBox"));
    this.hits.splice(this.panels.length).forEach((hit) => hit.remove());
    this.panels.forEach((panel, i) => this.hit(panel, i));
    this.buttons();
    this.draw();
  }

  // hit is the area of a panel that reacts to pointer and keys. Readers of the screen read it as a slider whose value is the
  // values of the curves.
  hit(panel, i) {
    const [left, top, right, bottom] = panel.data;
    const area = (this.hits[i] ??= this.newHit(i));
    area.style.display = panel.series.length ? "" : "none";
    for (const [k, v] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) area.setAttribute(k, v);
    area.setAttribute("aria-label", `${panel.y.label || panel.title} by ${panel.x.label || "x"}`);
    if (this.at?.panel !== i) this.value(i, panel.x.max, "no point is selected");
  }

  newHit(i) {
    const area = create("rect", { class: "quern-hit", tabindex: 0, role: "slider" }, this.overlay);
    area.addEventListener("pointermove", (e) => this.moved(i, e));
    area.addEventListener("pointerleave", () => this.drag || this.point(null));
    area.addEventListener("pointerdown", (e) => e.button === 0 && this.pressed(i, e));
    area.addEventListener("pointerup", (e) => this.released(i, e));
    area.addEventListener("dblclick", () => this.reset());
    area.addEventListener("keydown", (e) => this.key(i, e));
    area.addEventListener("focus", () => area.matches(":focus-visible") && !this.at && this.step(i, 0));
    area.addEventListener("blur", () => this.point(null));
    return area;
  }

  buttons() {
    const names = new Map();
    for (const p of this.panels) for (const s of p.series) names.set(s.name, names.get(s.name) ?? s);
    const positive = (axis) => this.panels.some((p) => p.series.some((s) => some(s, axis === "x" ? 0 : 1, (v) => v > 0)) && !(axis === "y" && p.y.unit));
    const list = [];
    if (names.size > 1) for (const [name, s] of names) list.push({ key: "series " + name, text: name, series: s, on: !this.hidden.has(name), press: () => this.toggle(name) });
    for (const axis of names.size ? ["x", "y"] : [])
      if (positive(axis)) list.push({ key: "log " + axis, text: "log " + axis, label: `logarithmic ${axis} axis`, on: this.logarithmic(axis), press: () => this.setLog(axis) });
    if (names.size) list.push({ key: "reset", text: "reset", label: "reset zoom and axes", press: () => this.reset() });
    list.push({ key: "gap" }, { key: "svg", text: "SVG", label: "save as SVG", press: () => this.save("svg") }, { key: "png", text: "PNG", label: "save as PNG", press: () => this.save("png") });
    if (names.size) list.push({ key: "csv", text: "CSV", label: "copy the data as CSV", press: () => this.copy() });
    const keys = list.map((b) => b.key).join("\n");
    if (keys !== this.keys) {
      this.keys = keys;
      this.bar.replaceChildren(
        ...list.map((b) => {
          if (b.key === "gap") return html("span", { class: "quern-gap" });
          const button = html("button", { type: "button", "data-key": b.key, title: b.label ?? `show ${b.text}`, "aria-label": b.label ?? b.text });
          if (b.series) {
            button.className = "quern-series";
            button.append(html("i", { style: `background:${b.series.color};opacity:${b.series.opacity}` }));
          }
          button.append(b.text);
          button.addEventListener("click", b.press);
          return button;
        }),
        this.status,
      );
    }
    for (const b of list) if (b.on !== undefined) this.bar.querySelector(`[data-key="${CSS.escape(b.key)}"]`).setAttribute("aria-pressed", b.on);
  }

  logarithmic(axis) {
    return this.log[axis] ?? this.panels.some((p) => p[axis].log);
  }

  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.changed();
  }

  setLog(axis) {
    this.log[axis] = !this.logarithmic(axis);
    this.zoom.clear();
    this.changed();
  }

  reset() {
    this.log = { x: null, y: null };
    this.zoom.clear();
    this.hidden.clear();
    this.changed();
  }

  changed() {
    this.buttons();
    this.draw();
  }

  // axes returns the range of a panel and whether its axes are logarithmic. Panels with the same x are zoomed together.
  axes(i) {
    const panel = this.panels[i];
    const zoom = this.zoom.get(i);
    const logX = this.log.x ?? panel.x.log;
    const logY = panel.y.unit ? panel.y.log : (this.log.y ?? panel.y.log);
    let x = zoom?.x ?? [panel.x.min, panel.x.max];
    const shown = panel.series.filter((s) => !this.hidden.has(s.name));
    if (logX && !(x[0] > 0)) x = range(shown, 0, x, (v) => v > 0, 0) ?? [0.1, 10];
    let y = zoom?.y;
    const asDrawn = !zoom && logX === panel.x.log && logY === panel.y.log && shown.length === panel.series.length;
    if (!y) y = asDrawn ? [panel.y.min, panel.y.max] : (range(shown, 1, x, (v) => !logY || v > 0, 0.04, logY) ?? [panel.y.min, panel.y.max]);
    if (logY && !(y[0] > 0)) y = [Math.min(0.1, y[1] / 10), y[1] > 0 ? y[1] : 1];
    return { x, y, logX, logY, asDrawn, shown };
  }

  // to returns functions from values to places in a panel, and back for x.
  to(i) {
    const a = this.axes(i);
    const [left, top, right, bottom] = this.panels[i].data;
    const scale = (log) => (log ? Math.log : (v) => v);
    const fx = scale(a.logX), fy = scale(a.logY);
    const x = (v) => left + ((fx(v) - fx(a.x[0])) / (fx(a.x[1]) - fx(a.x[0]))) * (right - left);
    const y = (v) => bottom - ((fy(v) - fy(a.y[0])) / (fy(a.y[1]) - fy(a.y[0]))) * (bottom - top);
    const back = (part, [from, to], log) => (log ? Math.exp(Math.log(from) + part * Math.log(to / from)) : from + part * (to - from));
    return { ...a, px: x, py: y, valueX: (p) => back((p - left) / (right - left), a.x, a.logX), valueY: (p) => back((bottom - p) / (bottom - top), a.y, a.logY) };
  }

  // draw shows each panel as the kernel has drawn it, or draws it here if the reader has changed its axes or series.
  draw() {
    if (!this.svg) return;
    for (const g of this.svg.querySelectorAll(".quern-drawn")) g.remove();
    this.panels.forEach((panel, i) => {
      const given = this.svg.querySelector(`g[data-panel="${i}"]`);
      const own = panel.series.length && !this.axes(i).asDrawn;
      given?.setAttribute("visibility", own ? "hidden" : "visible");
      if (own) this.svg.append(this.drawPanel(panel, i));
    });
    this.cross();
  }

  drawPanel(panel, i) {
    const g = create("g", { class: "quern-drawn" });
    const a = this.to(i);
    const [left, top, right, bottom] = panel.data;
    const clip = `quern-${this.figure.id}-${this.figure.views.indexOf(this)}-${i}`;
    create("rect", { x: left, y: top - 1, width: right - left, height: bottom - top + 2 }, create("clipPath", { id: clip }, g));
    const label = (x, y, anchor, text) => {
      create("text", { x, y, "font-size": 8, "text-anchor": anchor, fill: "currentColor", "fill-opacity": 0.7 }, g).textContent = text;
    };
    for (const v of ticks(a.y, a.logY, 5)) {
      create("line", { x1: left, x2: right, y1: a.py(v), y2: a.py(v), stroke: "currentColor", "stroke-opacity": 0.12, "stroke-width": 0.6 }, g);
      label(left - 4, a.py(v) + 2.8, "end", format(v) + panel.y.unit);
    }
    create("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "currentColor", "stroke-opacity": 0.35, "stroke-width": 0.75 }, g);
    if (!panel.x.hide) {
      for (const v of ticks(a.x, a.logX, 7)) {
        create("line", { x1: a.px(v), x2: a.px(v), y1: bottom, y2: bottom + 3, stroke: "currentColor", "stroke-opacity": 0.35, "stroke-width": 0.75 }, g);
        label(a.px(v), bottom + 12, "middle", format(v) + panel.x.unit);
      }
      label((left + right) / 2, Math.min(bottom + 23, panel.box[3] - 1), "middle", panel.x.label);
    }
    const inside = create("g", { "clip-path": `url(#${clip})` }, g);
    const place = (list) => points(list).map(([x, y]) => (x === null || (a.logX && x <= 0) || (a.logY && y <= 0) ? null : [a.px(x), a.py(y)]));
    for (const s of a.shown) {
      if (s.low) {
        const high = place(s.high), low = place(s.low);
        for (const [from, to] of parts(high)) {
          const outline = [...high.slice(from, to), ...low.slice(from, to).reverse()].filter(Boolean);
          create("path", { d: path(outline) + "z", fill: s.color, "fill-opacity": s.band }, inside);
        }
      }
      const placed = place(s.points);
      for (const [from, to] of parts(placed)) {
        let line = placed.slice(from, to);
        if (s.stepped) line = line.flatMap((p, k) => (k ? [[p[0], line[k - 1][1]], p] : [p]));
        if (s.area && line.length > 1) create("path", { d: path([...line, [line.at(-1)[0], bottom], [line[0][0], bottom]]) + "z", fill: s.color, "fill-opacity": s.area }, inside);
        if (s.width) create("path", { d: path(line), fill: "none", stroke: s.color, "stroke-opacity": s.opacity, "stroke-width": s.width, "stroke-dasharray": s.dashes?.join(" ") ?? "none" }, inside);
      }
      if (s.radius || placed.filter(Boolean).length === 1)
        for (const p of placed) if (p) create("circle", { cx: p[0], cy: p[1], r: s.radius || 2, fill: s.color, "fill-opacity": s.opacity }, inside);
    }
    return g;
  }

  // place returns the position of a pointer in units of the SVG.
  place(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
  }

  moved(i, event) {
    const p = this.place(event);
    if (this.drag) {
      this.drag.to = p;
      this.cross();
      return;
    }
    this.point({ panel: i, x: this.nearest(i, this.to(i).valueX(p.x)) });
  }

  pressed(i, event) {
    const p = this.place(event);
    this.drag = { panel: i, from: p, to: p };
    this.hits[i].setPointerCapture(event.pointerId);
  }

  // released zooms into the box that the reader has drawn; a flat one keeps the height of the data.
  released(i) {
    const drag = this.drag;
    this.drag = null;
    if (drag && Math.abs(drag.to.x - drag.from.x) > 4) {
      const a = this.to(i);
      const [left, top, right, bottom] = this.panels[i].data;
      const within = (v, lo, hi) => Math.min(Math.max(v, lo), hi);
      const xs = [drag.from.x, drag.to.x].map((v) => a.valueX(within(v, left, right))).sort((p, q) => p - q);
      const ys = Math.abs(drag.to.y - drag.from.y) > 12 ? [drag.from.y, drag.to.y].map((v) => a.valueY(within(v, top, bottom))).sort((p, q) => p - q) : null;
      this.setZoom(i, xs, ys);
    }
    this.update();
  }

  setZoom(i, x, y) {
    if (!(x[1] > x[0])) return;
    const own = this.panels[i].x;
    this.panels.forEach((p, j) => {
      if (j === i) this.zoom.set(j, { x, y });
      else if (p.series.length && p.x.min === own.min && p.x.max === own.max) this.zoom.set(j, { x, y: null });
    });
    this.changed();
  }

  key(i, event) {
    const a = this.axes(i);
    const about = (factor) => {
      const centre = this.at?.x ?? (a.x[0] + a.x[1]) / 2;
      const half = ((a.x[1] - a.x[0]) / 2) * factor;
      const { min, max } = this.panels[i].x;
      this.setZoom(i, [Math.max(centre - half, min), Math.min(centre + half, max)], null);
    };
    const all = this.xs(i);
    const actions = {
      ArrowLeft: () => this.step(i, event.shiftKey ? -10 : -1), ArrowRight: () => this.step(i, event.shiftKey ? 10 : 1),
      PageUp: () => this.step(i, 10), PageDown: () => this.step(i, -10), Home: () => this.step(i, -all.length), End: () => this.step(i, all.length),
      "+": () => about(0.5), "-": () => about(2), 0: () => this.reset(), Escape: () => (this.at ? this.point(null) : this.reset()),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  // xs returns the positions of all points that are shown.
  xs(i) {
    const a = this.axes(i);
    const all = new Set();
    for (const s of a.shown) for (const [x] of points(s.points)) if (x !== null && x >= a.x[0] && x <= a.x[1]) all.add(x);
    return [...all].sort((p, q) => p - q);
  }

  nearest(i, x) {
    let best = null;
    for (const v of this.xs(i)) if (best === null || Math.abs(v - x) < Math.abs(best - x)) best = v;
    return best;
  }

  step(i, by) {
    const all = this.xs(i);
    if (!all.length) return;
    const from = this.at?.panel === i ? all.indexOf(this.nearest(i, this.at.x)) : all.length - 1;
    this.point({ panel: i, x: all[Math.min(Math.max(from + by, 0), all.length - 1)] });
  }

  point(at) {
    this.at = at && at.x !== null ? at : null;
    this.cross();
  }

  // cross draws the crosshair with the values, and the box of a zoom.
  cross() {
    this.marks?.remove();
    this.marks = create("g", { "pointer-events": "none" }, this.overlay);
    this.tip.hidden = true;
    if (this.drag) {
      const { from, to, panel } = this.drag;
      const [, top, , bottom] = this.panels[panel].data;
      const flat = Math.abs(to.y - from.y) <= 12;
      create("rect", {
        x: Math.min(from.x, to.x), width: Math.abs(to.x - from.x), y: flat ? top : Math.min(from.y, to.y), height: flat ? bottom - top : Math.abs(to.y - from.y),
        fill: "#4269d0", "fill-opacity": 0.15, stroke: "#4269d0", "stroke-width": 0.75,
      }, this.marks);
      return;
    }
    const panel = this.at && this.panels[this.at.panel];
    if (!panel?.series.length) return;
    const a = this.to(this.at.panel);
    const [left, top, right, bottom] = panel.data;
    const x = a.px(this.at.x);
    if (!(x >= left - 1 && x <= right + 1)) return;
    create("line", { x1: x, x2: x, y1: top, y2: bottom, stroke: "currentColor", "stroke-opacity": 0.5, "stroke-width": 0.75 }, this.marks);
    const lines = [];
    for (const s of a.shown) {
      const near = nearestPoint(s.points, this.at.x, s.stepped);
      if (!near) continue;
      const other = near[0] === this.at.x || s.stepped ? "" : ` @ ${format(near[0], 6)}${panel.x.unit}`;
      lines.push([s, `${s.name}: ${format(near[1], 4)}${panel.y.unit}${other}`]);
      const [px, py] = [a.px(s.stepped ? this.at.x : near[0]), a.py(near[1])];
      if (px >= left - 1 && px <= right + 1 && py >= top - 1 && py <= bottom + 1) create("circle", { cx: px, cy: py, r: 2.5, fill: s.color }, this.marks);
    }
    const head = `${panel.x.label || "x"} ${format(this.at.x, 6)}${panel.x.unit}`;
    this.tip.replaceChildren(head, ...lines.flatMap(([s, text]) => ["\n", html("i", { style: `background:${s.color};opacity:${s.opacity}` }), text]));
    this.tip.hidden = false;
    const ratio = this.svg.clientWidth / this.svg.viewBox.baseVal.width || 1;
    const width = this.tip.offsetWidth;
    const at = x * ratio + 12 + width > this.element.clientWidth ? x * ratio - 12 - width : x * ratio + 12;
    this.tip.style.left = `${Math.max(0, at)}px`;
    this.tip.style.top = `${top * ratio}px`;
    this.value(this.at.panel, this.at.x, [head, ...lines.map(([, text]) => text)].join(", "));
  }

  // value sets what readers of the screen read of a panel.
  value(i, x, text) {
    const [from, to] = this.axes(i).x;
    for (const [k, v] of Object.entries({ valuemin: from, valuemax: to, valuenow: x, valuetext: text })) this.hits[i].setAttribute(`aria-${k}`, v);
  }

  // file returns what is shown as an SVG file.
  file() {
    const svg = this.svg.cloneNode(true);
    for (const e of svg.querySelectorAll('[visibility="hidden"]')) e.remove();
    svg.removeAttribute("aria-hidden");
    svg.setAttribute("class", "quern"); // its style has the colors of the themes
    return new XMLSerializer().serializeToString(svg);
  }

  async save(kind) {
    const name = (this.panels[0]?.title || "figure").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "figure";
    let blob = new Blob([this.file()], { type: "image/svg+xml" });
    if (kind === "png") {
      const light = this.file().replaceAll("prefers-color-scheme:dark", "not all"); // as the PNG of the notebook
      blob = await raster(light, this.svg.viewBox.baseVal);
    }
    const link = html("a", { href: URL.createObjectURL(blob), download: `${name}.${kind}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    this.say(`saved ${link.download}`);
  }

  async copy() {
    const text = await this.figure.csv();
    const count = text.split("\n").length - 2;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = html("textarea", { style: "position:fixed;opacity:0" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.say(`copied ${count} points`);
  }

  say(text) {
    this.status.textContent = text;
  }
}

function html(name, attributes) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
}

function create(name, attributes, parent) {
  const e = document.createElementNS(SVG, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  parent?.append(e);
  return e;
}

// points returns a list of x and y in turns as pairs.
function points(list) {
  const all = [];
  for (let i = 0; i + 1 < list.length; i += 2) all.push([list[i], list[i + 1]]);
  return all;
}

function some(series, offset, test) {
  for (let i = offset; i < series.points.length; i += 2) if (test(series.points[i])) return true;
  return false;
}

// parts returns from where to where a list has no null.
function parts(list) {
  const all = [];
  list.forEach((p, i) => {
    if (!p) return;
    if (all.length && all.at(-1)[1] === i) all.at(-1)[1] = i + 1;
    else all.push([i, i + 1]);
  });
  return all;
}

// range returns the range of the coordinates of the points within x, with a margin; null if there are none.
function range(series, offset, x, test, margin, log) {
  let lo = Infinity, hi = -Infinity;
  for (const s of series)
    for (const list of [s.points, s.low, s.high])
      for (const p of points(list ?? []))
        if (p[0] !== null && p[0] >= x[0] && p[0] <= x[1] && test(p[offset])) {
          lo = Math.min(lo, p[offset]);
          hi = Math.max(hi, p[offset]);
        }
  if (lo > hi) return null;
  if (lo === hi) return log ? [lo / 2, hi * 2] : [lo - (Math.abs(lo) || 1) / 2, hi + (Math.abs(hi) || 1) / 2];
  if (log) return [lo * (lo / hi) ** margin, hi * (hi / lo) ** margin];
  return [lo - (hi - lo) * margin, hi + (hi - lo) * margin];
}

// nearestPoint returns the point of a series whose x is nearest, of steps the one before.
function nearestPoint(list, x, stepped) {
  let best = null;
  for (const p of points(list)) {
    if (p[0] === null || (stepped && p[0] > x)) continue;
    if (!best || Math.abs(p[0] - x) <= Math.abs(best[0] - x)) best = p;
  }
  return best;
}

function path(list) {
  return list.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(2)} ${p[1].toFixed(2)}`).join("");
}

function ticks([lo, hi], log, count) {
  if (log) {
    const all = [];
    const decades = Math.log10(hi / lo);
    const factors = decades < 1.5 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / count));
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++)
      if (e % every === 0) for (const f of factors) if (f * 10 ** e >= lo && f * 10 ** e <= hi) all.push(f * 10 ** e);
    return all.length > 1 ? all : ticks([lo, hi], false, count);
  }
  const raw = (hi - lo) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const all = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9 && all.length < 50; v += step) all.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return all;
}

// format writes a number with a few digits, as the axes of the drawing do.
function format(v, digits = 6) {
  const size = Math.abs(v);
  const text = v === 0 ? "0" : size >= 1e8 || size < 1e-4 ? v.toExponential().replace(/^(.{7})\d*/, "$1").replace("e+", "e") : String(Number(v.toPrecision(digits)));
  return text.replace("-", "−");
}

async function raster(svg, box) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const scale = (4 / 3) * 2; // two pixels for each CSS pixel
  const canvas = html("canvas", {});
  canvas.width = Math.round(box.width * scale);
  canvas.height = Math.round(box.height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

export default {
  initialize({ model }) {
    const id = model.get("_figure_id");
    const all = figures();
    const known = all.get(id);
    if (known) known.connect(model);
    else all.set(id, new Figure(id, model));
    all.get(id).update(model.get("figure"));
    model.send({ kind: "hello" });
  },
  render({ model, el }) {
    const figure = figures().get(model.get("_figure_id"));
    const view = figure.view();
    el.append(view.element);
    return () => view.remove();
  },
};
