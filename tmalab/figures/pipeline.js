// Figure 6: one or two timelines of a pipeline, on one scale, to be scrubbed through by pointer and keys.

import { clamp, element, keepKeys, radioSwitch, sentence, speech, write } from "./base.js";
import { change, drawn } from "./drawn.js";

const WHATS = ["issue", "wait", "copy-in-flight", "full", "compute", "store", "bubble"]; // as in timeline.py
const COPY = WHATS.indexOf("copy-in-flight");
const LANE = 18; // pixels
const GAP = 6;
const AXIS = 18;
const FAR = 10; // changes that Page keys take
const CLOSEST = 64; // times the width
const LABEL = 14; // pixels from which on a span is named

const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1, PageUp: -FAR, PageDown: FAR };

function render({ model, el }) {
  const figure = new PipelineFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

class PipelineFigure {
  constructor(model) {
    Object.assign(this, { model, words: model.get("words"), data: model.get("data"), zoom: 1, width: 0 });
    this.speech = speech("");
    this.charts = element("div", {});
    const group = { class: "tma tma-pipeline", role: "group", "aria-label": this.words.figure };
    this.node = element("div", group, ...this.chooser(), this.charts, this.controls(), this.speech.node);
    this.node.append(this.legend());
    keepKeys(this.node);
    this.listeners = { "change:time": () => this.show(this.model.get("time")), "change:stages": () => this.load() };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.load();
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.charts);
  }

  close() {
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
    this.sizes.disconnect();
  }

  set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** The number of stages, where it can be chosen. */
  chooser() {
    if (this.data.choices.length < 2) return [];
    const options = this.data.choices.map((_, at) => ({ value: at + 1, label: String(at + 1) }));
    this.choice = radioSwitch(this.words.stages, options, (stages) => this.set({ stages }));
    return [this.choice.node];
  }

  controls() {
    const button = (key, act) => {
      const node = element("button", { type: "button", class: "tma-button", text: this.words[key] });
      node.addEventListener("click", act);
      return node;
    };
    const steps = [button("back", () => this.step(-1)), button("forward", () => this.step(1))];
    this.zooms = { closer: button("closer", () => this.closer(2)), wider: button("wider", () => this.closer(0.5)) };
    return element("div", { class: "tma-steps-controls" }, ...steps, ...Object.values(this.zooms));
  }

  load() {
    const { choices } = this.data;
    const stages = choices.length < 2 ? 1 : this.model.get("stages");
    this.choice?.choose(stages);
    this.timelines = choices[stages - 1].map((timeline) => new Chart(this, timeline));
    this.duration = Math.max(...this.timelines.map(({ data }) => data.duration)) || 1;
    const every = this.timelines.flatMap(({ changes }) => changes);
    this.changes = [...new Set(every)].sort((a, b) => a - b);
    this.charts.replaceChildren(...this.timelines.map(({ node }) => node));
    this.redraw();
  }

  resized() {
    const width = this.timelines[0].plot.clientWidth;
    if (width && width !== this.width) this.redraw();
  }

  redraw() {
    this.width = this.timelines[0].plot.clientWidth || 600;
    this.zooms.closer.disabled = this.zoom >= CLOSEST;
    this.zooms.wider.disabled = this.zoom <= 1;
    for (const chart of this.timelines) chart.draw((this.width * this.zoom - 2) / this.duration);
    this.show(this.model.get("time"));
  }

  closer(times) {
    this.zoom = clamp(this.zoom * times, 1, CLOSEST);
    this.redraw();
    for (const chart of this.timelines) chart.reveal(this.model.get("time"));
  }

  /** Go by so many changes. */
  step(changes) {
    const time = this.model.get("time");
    const { length } = this.changes;
    const before = after(this.changes, time);
    const here = before > 0 && this.changes[before - 1] === time;
    const at = changes > 0 ? before + changes - 1 : before - (here ? 1 : 0) + changes;
    this.keep(this.changes[clamp(at, 0, length - 1)]);
  }

  keep(time) {
    if (time !== this.model.get("time")) this.set({ time });
    for (const chart of this.timelines) chart.reveal(time);
  }

  key(event) {
    const { changes } = this;
    const ends = { Home: changes[0], End: changes[changes.length - 1] };
    if (event.altKey || event.metaKey) return;
    if (event.key in ends) this.keep(ends[event.key]);
    else if (event.key in KEYS) this.step(KEYS[event.key]);
    else return;
    event.preventDefault();
  }

  /** Show a moment in all timelines. */
  show(time) {
    this.speech.say(this.timelines.map((chart) => chart.show(time)).join(" "));
  }

  legend() {
    const there = new Set(this.data.choices.flat().flatMap(({ rows }) => rows.flatMap(({ spans }) => spans.map((s) => s[1]))));
    const entries = WHATS.filter((_, what) => there.has(what)).map((what) => {
      const box = drawn("rect", { x: 1, y: 1, width: 24, height: 14, class: `tma-${what}` });
      const swatch = drawn("svg", { width: 26, height: 16, "aria-hidden": "true" });
      if (what === "copy-in-flight") box.setAttribute("fill", `url(#${hatching(swatch)})`);
      swatch.append(box);
      return element("li", {}, swatch, this.words[`what-${what}`]);
    });
    return element("ul", { class: "tma-legend" }, ...entries, element("li", { text: this.words.hint }));
  }
}

let patterns = 0; // on the page: ids must differ

/** Give a drawing a hatching; returns its id. */
function hatching(svg) {
  const id = `tma-hatch-${patterns++}`;
  const hatch = { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  const line = drawn("path", { d: "M0 0V5", class: "tma-hatching" });
  svg.append(drawn("defs", {}, drawn("pattern", hatch, line)));
  return id;
}

/** One timeline: names on the left, spans over time, and on the right what each row does at the moment that is shown. */
class Chart {
  constructor(figure, data) {
    Object.assign(this, { figure, data, words: figure.words });
    this.rows = data.rows.map((row) => new Row(row, this.words, data));
    this.changes = data.rows.flatMap(({ spans }) => spans.flatMap(([, , start, end]) => [start, end]));
    this.height = this.rows.reduce((sum, row) => sum + row.height, 0) + AXIS;
    this.plot = element("div", { class: "tma-plot", role: "slider", tabindex: 0, "aria-label": `${data.title}: ${this.words.slider}` });
    change(this.plot, { "aria-valuemin": 0, "aria-valuemax": data.duration });
    const column = (look, nodes) => element("div", { class: look, "aria-hidden": "true" }, ...nodes);
    const names = column("tma-names", this.rows.map(({ name }) => name));
    const states = column("tma-states", this.rows.map(({ state }) => state));
    const chart = element("div", { class: "tma-chart" }, names, this.plot, states);
    const caption = element("p", { class: "tma-caption", text: [data.caption, ...data.notes].join(". ") });
    this.node = element("div", { class: "tma-timeline" }, element("h4", { text: data.title }), caption, chart);
    this.listen();
  }

  listen() {
    const at = (event) => (event.clientX - this.svg.getBoundingClientRect().left) / this.scale;
    const inside = (event) => clamp(at(event), 0, this.data.duration);
    this.plot.addEventListener("pointermove", (event) => this.figure.show(inside(event)));
    this.plot.addEventListener("pointerleave", () => this.figure.show(this.figure.model.get("time")));
    this.plot.addEventListener("click", (event) => this.figure.keep(inside(event)));
    this.plot.addEventListener("keydown", (event) => this.figure.key(event));
  }

  /** Draw all spans, so many pixels for a unit of time. */
  draw(scale) {
    this.scale = scale;
    const width = Math.max(1, this.figure.duration * scale + 2); // 2: for the last outline
    this.svg = drawn("svg", { width, height: this.height, "aria-hidden": "true" });
    const id = hatching(this.svg);
    this.svg.append(this.axis(width));
    let y = 0;
    for (const row of this.rows) {
      this.svg.append(row.draw(y, scale, id));
      y += row.height;
    }
    this.cursor = drawn("line", { class: "tma-cursor", y1: 0, y2: this.height - AXIS });
    this.svg.append(this.cursor);
    this.plot.replaceChildren(this.svg);
  }

  axis(width) {
    const group = drawn("g", { class: "tma-axis" });
    const step = nice((80 / width) * this.figure.duration);
    for (let time = 0; time <= this.figure.duration; time += step) {
      const x = Math.round(time * this.scale) + 0.5;
      const anchor = time === 0 ? "start" : x > width - 30 ? "end" : "middle";
      group.append(drawn("path", { d: `M${x} 0V${this.height - AXIS}` }));
      const text = timeOf(time, this.data.source, this.words);
      group.append(drawn("text", { x, y: this.height - 4, "text-anchor": anchor, text }));
    }
    return group;
  }

  /** Show a moment; returns what is said of it. */
  show(time) {
    const x = Math.round(Math.min(time, this.data.duration) * this.scale) + 0.5;
    this.cursor.setAttribute("transform", `translate(${x} 0)`);
    const states = this.rows.map((row) => `${row.data.name} ${row.show(time, this.rows)}`).join("; ");
    const key = this.figure.timelines.length > 1 ? "at-run" : "at";
    const values = { time: timeOf(time, this.data.source, this.words), states, name: this.data.name };
    const said = sentence(this.words[key], values);
    change(this.plot, { "aria-valuenow": Math.min(time, this.data.duration), "aria-valuetext": said });
    return said;
  }

  /** Scroll to a moment. */
  reveal(time) {
    const [x, { clientWidth, scrollLeft }] = [time * this.scale, this.plot];
    if (x < scrollLeft || x > scrollLeft + clientWidth) this.plot.scrollLeft = x - clientWidth / 2;
  }
}

/** A row of a timeline. Of each kind of span it keeps the sorted starts and ends, so that a moment is quickly looked up. */
class Row {
  constructor(data, words, { rows }) {
    Object.assign(this, { data, words, height: data.lanes * LANE + GAP });
    const style = `height: ${this.height}px`;
    this.name = element("div", { style, text: data.name });
    this.state = element("div", { style });
    const sorted = (values) => values.sort((a, b) => a - b);
    this.kinds = WHATS.map((_, what) => {
      const spans = data.spans.filter((span) => span[1] === what);
      return { spans, starts: sorted(spans.map((span) => span[2])), ends: sorted(spans.map((span) => span[3])) };
    });
    const coming = rows.flatMap(({ spans }) => spans.filter((s) => data.stage && s[1] === COPY && s[4] === data.number));
    this.coming = { starts: sorted(coming.map((span) => span[2])), ends: sorted(coming.map((span) => span[3])) };
  }

  draw(y, scale, hatch) {
    const group = drawn("g", { transform: `translate(0 ${y})` });
    for (const [lane, what, start, end, stage] of this.data.spans) {
      const width = Math.max(1, (end - start) * scale);
      const at = { x: start * scale, y: lane * LANE, width, height: LANE - 3, class: `tma-${WHATS[what]}` };
      if (WHATS[what] === "copy-in-flight") at.fill = `url(#${hatch})`;
      group.append(drawn("rect", at));
      if (stage === null || this.data.stage || width < LABEL || WHATS[what] === "bubble") continue;
      const label = { x: start * scale + width / 2, y: lane * LANE + 11.5, class: `tma-label tma-on-${WHATS[what]}` };
      group.append(drawn("text", { ...label, text: stage }));
    }
    return group;
  }

  /** Show what it does at a moment; returns the words. */
  show(time) {
    const { words } = this;
    const parts = [];
    this.kinds.forEach(({ spans, starts, ends }, what) => {
      const said = spans.length && !(this.data.stage && what === COPY); // a stage is being filled: below
      const count = said ? after(starts, time) - after(ends, time) : 0;
      if (!count) return;
      const name = words[`what-${WHATS[what]}`];
      const line = count === 1 ? lineOf(spans, starts, time) : null;
      if (count > 1) parts.push(sentence(words.several, { count, what: name }));
      else parts.push(line === null ? name : sentence(words["with-line"], { what: name, line }));
    });
    let state = parts.join(", ");
    if (this.data.stage) {
      const coming = after(this.coming.starts, time) > after(this.coming.ends, time);
      if (coming) parts.push(words.filling);
      const { starts, ends } = this.kinds[WHATS.indexOf("full")];
      const phases = { full: after(starts, time), empty: after(ends, time) };
      state = sentence(words["full-phases"], { state: parts.join(", ") || words.empty, ...phases });
    }
    state ||= words.idle;
    write(this.state, state);
    return state;
  }
}

/** The line of the one span that is under way, or null. Spans are in the order of their start. */
function lineOf(spans, starts, time) {
  for (let at = after(starts, time) - 1; at >= 0; at--) if (spans[at][3] > time) return spans[at][5];
  return null;
}

/** How many of sorted values are no greater than one. */
function after(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A round number, no smaller than one. */
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((value) => value >= least);
}

/** A moment, as it is read; time_of in pipeline_words.py says the same. */
function timeOf(time, source, words) {
  if (source === "steps") return sentence(words["time-steps"], { value: Math.round(time).toLocaleString("en") });
  const [size, unit] = time >= 1e6 ? [1e6, "ms"] : time >= 1e3 ? [1e3, "us"] : [1, "ns"];
  const value = time / size;
  const short = value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
  return sentence(words[`time-${unit}`], { value: short.includes(".") ? short.replace(/\.?0+$/, "") : short });
}

export default { render };
