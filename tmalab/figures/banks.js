// Figure 3: which lanes of a warp ask for what in shared memory, and how often each bank is asked.
// Two figures in one module: a column of a tile that can be chosen, and any access of a warp as it was given.

import { element, keepKeys, radioSwitch, sentence, speech, write } from "./base.js";
import { AccessPanel, TilePanel } from "./banks_panels.js";

function render({ model, el }) {
  const figure = model.get("data").layouts ? new ColumnFigure(model) : new AccessFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

/** What both have: a sentence, a legend, the pointer before what was chosen; and the model's traits. */
class BanksFigure {
  constructor(model, traits) {
    Object.assign(this, { model, data: model.get("data"), words: model.get("words"), pointed: null, resting: null });
    this.traits = traits.map((name) => `change:${name}`).join(" ");
    this.changed = () => this.draw();
    this.speech = speech("");
    this.hint = element("p", { class: "tma-note", text: this.words.hint ?? this.words["access-hint"] });
    const panels = element("div", { class: "tma-panels" }, ...this.arrange());
    const group = { class: "tma tma-banks", role: "group", lang: this.words.lang, "aria-label": this.words.figure };
    this.node = element("div", group, panels, this.legend());
    keepKeys(this.node);
    model.on(this.traits, this.changed);
    this.draw();
  }

  close() {
    this.model.off(this.traits, this.changed);
  }

  set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** Follow the pointer; without one the figure goes back to what was chosen. */
  point(thing) {
    this.pointed = thing;
    this.show();
  }

  legend() {
    const entries = this.keys().map(([key, look, text]) => {
      const swatch = element("span", { class: `tma-swatch ${look}`, "aria-hidden": "true", text });
      return element("li", {}, swatch, this.words[key]);
    });
    return element("ul", { class: "tma-legend" }, ...entries);
  }
}

/** A column of eight rows of a tile, in one of four layouts. A thing is {row, column} of the tile, or {address}. */
class ColumnFigure extends BanksFigure {
  constructor(model) {
    super(model, ["column", "row", "grouped", "swizzle", "data_type"]);
  }

  arrange() {
    const { data, words } = this;
    const choice = (legend, name, options) => radioSwitch(legend, options, (value) => this.set({ [name]: value }));
    this.switches = {
      grouped: choice(words.layout, "grouped", [
        { value: true, label: words.grouped },
        { value: false, label: words.plain },
      ]),
      swizzle: choice(words.swizzle, "swizzle", [
        { value: 0, label: "NONE" },
        { value: 3, label: "128B" },
      ]),
      data_type: choice(words.type, "data_type", data.types.map(({ value, name }) => ({ value, label: name }))),
    };
    this.tile = new TilePanel(this);
    const lines = (data.rows * data.columns) / 8;
    this.access = new AccessPanel(this, Array.from({ length: 8 }, (_, eighth) => `S${eighth}`), lines, (line) => 128 * line);
    this.layoutNote = element("p", { class: "tma-caption" });
    const typeNote = element("p", { class: "tma-note", text: words["type-note"] });
    const left = [this.switches.data_type.node, this.tile.node, typeNote, this.speech.node, this.hint];
    const title = element("h4", { text: words["shared-title"] });
    const right = [title, this.switches.grouped.node, this.switches.swizzle.node, this.layoutNote, this.access.node];
    return [left, right].map((parts) => element("section", { class: "tma-panel" }, ...parts));
  }

  keys() {
    return [
      ["legend-number", "tma-sector tma-tint-3", "S3"],
      ["legend-read", "tma-asked", "5"],
      ["legend-worst", "tma-worst", ""],
    ];
  }

  draw() {
    const { model, data } = this;
    for (const name of Object.keys(this.switches)) this.switches[name].choose(model.get(name));
    const [grouped, swizzle] = [model.get("grouped"), model.get("swizzle")];
    this.layout = data.layouts.find((each) => each.grouped === grouped && each.swizzle === swizzle);
    this.type = data.types.find(({ value }) => value === model.get("data_type"));
    this.byAddress = new Map(this.layout.physical.flatMap((line, y) => line.map((address, x) => [address, [y, x]])));
    write(this.layoutNote, grouped ? this.words["grouped-note"] : this.words["plain-note"]);
    this.layoutNote.classList.toggle("tma-warning", !grouped);
    this.tile.draw();
    this.access.draw(this.phase());
    this.pointed = null;
    this.show();
    this.speech.say(this.says());
  }

  /** What the eight lanes ask for, as a phase of an access. */
  phase() {
    const [column, first] = [this.model.get("column"), this.model.get("row")];
    const counts = Array(8).fill(0);
    const cells = Array.from({ length: this.data.read }, (_, lane) => {
      const address = this.layout.physical[first + lane][column];
      const cell = this.cellOf(address);
      counts[cell[1]] += 1;
      return [...cell, String(lane)];
    });
    return { cells, counts, ways: this.layout.ways[first][column] };
  }

  cellOf(address) {
    return [Math.floor(address / 128), (address % 128) / 16];
  }

  choose({ row, column }) {
    this.pointed = null;
    this.set({ column, row: Math.min(row, this.data.rows - this.data.read) });
  }

  placeOf({ row, column, address }) {
    return address === undefined ? [row, column] : (this.byAddress.get(address) ?? null);
  }

  /** Mark what is pointed at on both sides and say where it lies; else say what the access costs. */
  show() {
    const place = this.pointed && this.placeOf(this.pointed);
    const address = place && this.layout.physical[place[0]][place[1]];
    this.tile.mark(place);
    this.access.mark(place && this.cellOf(address));
    this.speech.say(place ? this.sector(place, address) : this.says());
  }

  sector([row, column], address) {
    const { per } = this.type;
    const eighth = this.cellOf(address)[1];
    const banks = { eighth, low: 4 * eighth, high: 4 * eighth + 3 };
    const elements = { first: column * per, last: (column + 1) * per - 1 };
    return sentence(this.words.sector, { row, sector: column, address: this.access.written(address), ...elements, ...banks });
  }

  says() {
    const { words, model, data } = this;
    const { counts, ways } = this.phase();
    const first = model.get("row");
    const each = counts.flatMap((count, eighth) => (count ? [`S${eighth}: ${count}`] : [])).join(", ");
    const asked = ways === 1 ? words["asked-once"] : sentence(words.asked, { counts: each });
    const read = sentence(words.read, { column: model.get("column"), first, last: first + data.read - 1 });
    return `${read} ${asked} ${ways === 1 ? words["verdict-none"] : sentence(words.verdict, { ways })}`;
  }

  /** The pointer or the focus is on a cell of shared memory. */
  pointAt([line, eighth]) {
    this.point({ address: 128 * line + 16 * eighth });
  }

  enter() {
    const place = this.pointed && this.placeOf(this.pointed);
    if (place) this.tile.grid.focus(...place);
  }
}

/** Any access of a warp, phase by phase. */
class AccessFigure extends BanksFigure {
  constructor(model) {
    super(model, ["phase"]);
  }

  arrange() {
    const { data, words } = this;
    const parts = [element("h4", { text: data.summary })];
    if (data.phases.length > 1) {
      const options = data.phases.map(({ lanes }, value) => ({ value, label: lanes }));
      this.phases = radioSwitch(words.phase, options, (phase) => this.set({ phase }));
      parts.push(this.phases.node);
    }
    this.access = new AccessPanel(this, data.head, data.lines.length, (line) => data.lines[line]);
    parts.push(this.access.node, this.speech.node, this.hint);
    return [element("section", { class: "tma-panel" }, ...parts)];
  }

  keys() {
    return [
      ["legend-asked", "tma-asked", "5"],
      ["legend-worst", "tma-worst", ""],
    ];
  }

  draw() {
    const phase = this.model.get("phase");
    this.phases?.choose(phase);
    this.access.draw(this.data.phases[phase]);
    this.pointed = null;
    this.show();
    this.speech.say(this.data.phases[phase].says);
  }

  show() {
    const { cells, says } = this.data.phases[this.model.get("phase")];
    const cell = this.pointed;
    this.access.mark(cell);
    const asked = cell && cells.find(([line, column]) => line === cell[0] && column === cell[1]);
    this.speech.say(asked ? asked[3] : says);
  }

  pointAt(cell) {
    this.point(cell);
  }

  enter() {}
}

export default { render };
