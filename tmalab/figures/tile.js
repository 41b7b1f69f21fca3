// Figure 1: a box on a rank-2 tensor, and its tile in shared memory, sector by sector.
// Every place comes from Python, one table for each swizzle mode: moving the box changes none of them.

import { clamp, element, keepKeys, sentence, speech } from "./base.js";
import { SharedPanel } from "./tile_shared.js";
import { TensorPanel } from "./tile_tensor.js";
import { addressBits, described, elsewhere } from "./tile_words.js";

function render({ model, el }) {
  const figure = new TileFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

/**
 * What is chosen lives in the model's traits, the tables in its `data`, the sentences in its `words`.
 *
 * Places are [row, sector] of the tensor; an index counts the tile's sectors in the order of delivery. What is shown is
 * a "thing": {index} a sector of the tile, {place} one of the tensor, {address} one of shared memory.
 */
class TileFigure {
  constructor(model) {
    Object.assign(this, { model, data: model.get("data"), words: model.get("words"), pointed: null, resting: null });
    this.boxes = this.data.modes.flatMap((mode) => [mode.given, mode.narrowed]).filter(Boolean);
    this.letters = Math.max(...this.boxes.map((box) => `${box.rows - 1}·${box.sectors - 1}`.length));
    this.cellWidth = 4 + 6 * this.letters; // pixels, as wide as the longest name
    this.take();
    this.tensor = new TensorPanel(this);
    this.shared = new SharedPanel(this);
    this.speech = speech(this.words.hint);
    this.bits = element("div", { class: "tma-address" });
    this.tensor.node.append(this.speech.node);
    this.shared.node.append(this.bits);
    const panels = element("div", { class: "tma-panels" }, this.tensor.node, this.shared.node);
    const group = { class: "tma tma-tile", role: "group", "aria-label": this.words.figure };
    this.node = element("div", group, panels, this.legend());
    keepKeys(this.node);
    this.listen();
    this.tensor.draw();
    this.shared.build();
    this.selected();
  }

  listen() {
    this.listeners = {
      "change:coordinates": () => this.moved(),
      "change:swizzle": () => this.switched(),
      "change:narrowed": () => this.switched(),
      "change:selected": () => this.selected(),
    };
    for (const [name, listener] of Object.entries(this.listeners)) this.model.on(name, listener);
  }

  close() {
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }

  set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** Take the chosen mode's tables from the traits. A refused mode has no places: its box is drawn all the same. */
  take() {
    const mode = this.data.modes[this.model.get("swizzle")];
    const places = this.model.get("narrowed") && mode.narrowed ? mode.narrowed : mode.given;
    const byAddress = new Map((places?.physical ?? []).map((address, index) => [address, index]));
    Object.assign(this, { mode, places, byAddress, box: places ?? this.data.modes[0].given });
  }

  /** The tensor's place at which the box begins. */
  get corner() {
    const [x, y] = this.model.get("coordinates");
    return [y, x / this.data.per];
  }

  /** The box in words. */
  where() {
    const [x, y] = this.model.get("coordinates");
    return { x, y, rows: this.box.rows, columns: this.box.columns };
  }

  move([row, sector]) {
    const { data, box } = this;
    const place = [clamp(row, -box.height, data.rows), clamp(sector, -box.sectors, data.sectors)];
    if (String(place) !== String(this.corner)) this.set({ coordinates: [place[1] * data.per, place[0]] });
  }

  /** The tile's sector that lies at a place of the tensor; null where none does. */
  indexAt([row, sector]) {
    const { box, corner, data } = this;
    const [down, right] = [row - corner[0], sector - corner[1]];
    const inside = down >= 0 && down < box.height && right >= 0 && right < box.sectors && down % data.row_step === 0;
    const index = (down / data.row_step) * box.sectors + right;
    return inside && index < box.count ? index : null;
  }

  /** [row, sector] of the tile. */
  numbersOf(index) {
    return [Math.floor(index / this.box.sectors), index % this.box.sectors];
  }

  placeOf(index) {
    const [row, sector] = this.numbersOf(index);
    return [this.corner[0] + row * this.data.row_step, this.corner[1] + sector];
  }

  /** How much of a place's 16 bytes lies outside the tensor, 0 to 1. */
  outside([row, sector]) {
    if (row < 0 || row >= this.data.rows || sector < 0 || sector >= this.data.sectors) return 1;
    return Math.max(0, ((sector + 1) * this.data.per - this.data.columns) / this.data.per);
  }

  /** How a sector of the tile looks, on either side. */
  look(index) {
    const outside = this.outside(this.placeOf(index));
    const [row, sector] = this.numbersOf(index);
    const fill = outside === 1 ? "tma-filled" : outside ? "tma-partly" : "";
    return { look: `tma-sector tma-tint-${sector % 8} ${fill}`, text: `${row}·${sector}` };
  }

  moved() {
    this.pointed = null;
    this.tensor.draw();
    this.shared.draw();
    this.show();
    this.speech.say(sentence(this.words.moved, this.where()));
  }

  switched() {
    this.take();
    Object.assign(this, { pointed: null, resting: null });
    this.tensor.draw();
    this.shared.build();
    this.selected();
    const key = this.places ? "switched" : "refused-title";
    this.speech.say(sentence(this.words[key], { ...this.mode, ...this.places }));
  }

  /** Show what the trait says is selected; a narrower box may have lost it. */
  selected() {
    const at = this.model.get("selected");
    if (at) {
      const index = at[0] * this.box.sectors + at[1];
      this.resting = at[1] < this.box.sectors && index < this.box.count ? { index } : null;
    }
    this.show();
  }

  /** Follow the pointer; without one the figure goes back to what has the focus or was chosen. */
  point(thing) {
    this.pointed = thing;
    this.show();
  }

  choose(thing) {
    const index = this.indexOf(thing);
    const selected = index === null ? null : this.numbersOf(index);
    this.resting = index === null ? thing : { index };
    if (String(selected) === String(this.model.get("selected"))) this.show();
    else this.set({ selected });
  }

  indexOf({ index, place, address }) {
    return index ?? (place ? this.indexAt(place) : (this.byAddress.get(address) ?? null));
  }

  /** The tile's sector that is shown, or null. */
  get shown() {
    const thing = this.pointed ?? this.resting;
    return thing && this.indexOf(thing);
  }

  /** Mark what is pointed at on both sides, say where it lies, and show the bits of its address. */
  show() {
    const [thing, index] = [this.pointed ?? this.resting, this.shown];
    this.tensor.mark(index);
    this.shared.mark(index);
    if (thing) this.speech.say(index === null ? elsewhere(this, thing) : described(this, index));
    this.bits.replaceChildren(...(index === null || !this.places ? [] : [addressBits(this, index)]));
  }

  /** A key to the drawing; what cannot be seen in this map is not explained. */
  legend() {
    const keys = { "legend-sector": "tma-sector tma-tint-0", "legend-filled": "tma-sector tma-tint-0 tma-filled" };
    keys["legend-before"] = "tma-before";
    if (this.boxes.some((box) => box.gaps)) keys["legend-gap"] = "tma-gap";
    const entries = Object.entries(keys).map(([key, look]) => {
      const swatch = element("span", { class: `tma-swatch ${look}`, "aria-hidden": "true" });
      return element("li", {}, swatch, sentence(this.words[key], this.data));
    });
    return element("ul", { class: "tma-legend" }, ...entries);
  }

  /** What a grid and its outlines lie on. */
  sheet(...children) {
    const node = element("div", { class: "tma-sheet" }, ...children);
    node.style.setProperty("--letters", this.letters);
    node.style.setProperty("--cell-width", `${this.cellWidth}px`);
    return node;
  }
}

export default { render };
