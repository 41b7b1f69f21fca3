// What figures of a tile share: sectors that are linked across their panels, and the choice of a swizzle.
// Every place comes from Python, one table for each swizzle mode: moving the box changes none of them.

import { BitStrip, element, keepKeys, sentence, speech } from "./base.js";
import { destination, showBits } from "./tile_words.js";

/**
 * What is chosen lives in the model's traits, the tables in its `data`, the sentences in its `words`.
 *
 * Places are those of the tensor, outermost first; an index counts the tile's sectors in the order of delivery. What is
 * shown is a "thing": {index} a sector of the tile, {place} one of the tensor, {address} one of shared memory.
 *
 * A figure says how it looks: `name`, and arrange() makes its panels, of which `tensor` and `shared` can take the focus;
 * where() is its box in words, source(index) and elsewhere(thing) what it says of a sector; and the geometry: indexAt,
 * numbersOf, indexOfNumbers, placeOf, outside.
 */
export class LinkedFigure {
  constructor(model, name) {
    Object.assign(this, { model, name, data: model.get("data"), words: model.get("words"), pointed: null, resting: null });
    this.boxes = this.data.modes.flatMap((mode) => [mode.given, mode.narrowed]).filter(Boolean);
    this.letters = Math.max(...this.boxes.map((box) => `${box.outer[0] - 1}·${box.sectors - 1}`.length));
    this.cellWidth = 6 + 6 * this.letters; // pixels, as wide as the longest name
    this.take();
    this.speech = speech(this.words.hint);
    this.strip = new BitStrip();
    this.bits = element("div", { class: "tma-address" }, this.strip.node);
    const panels = element("div", { class: "tma-panels" }, ...this.arrange());
    const group = { class: `tma tma-${name}`, role: "group", lang: this.words.lang, "aria-label": this.words.figure };
    this.node = element("div", group, panels, this.legend());
    keepKeys(this.node);
    this.listen();
    this.draw();
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

  /** Draw every panel but shared memory, which is built for each mode. */
  draw() {
    this.tensor.draw();
  }

  /** How a sector of the tile looks, on every side. */
  look(index) {
    const outside = this.outside(this.placeOf(index));
    const [row, sector] = this.numbersOf(index).slice(-2);
    const fill = outside === 1 ? "tma-filled" : outside ? "tma-partly" : "";
    return { look: `tma-sector tma-tint-${sector % 8} ${fill}`, text: `${row}·${sector}` };
  }

  moved() {
    this.pointed = null;
    this.draw();
    this.shared.draw();
    this.show();
    this.speech.say(sentence(this.words.moved, this.where()));
  }

  switched() {
    this.take();
    Object.assign(this, { pointed: null, resting: null });
    this.draw();
    this.shared.build();
    this.selected();
    const key = this.places ? "switched" : "refused-title";
    this.speech.say(sentence(this.words[key], { ...this.mode, ...this.places }));
  }

  /** Show what the trait says is selected; a narrower box may have lost it. */
  selected() {
    const at = this.model.get("selected");
    if (at) {
      const index = this.indexOfNumbers(at);
      this.resting = at[at.length - 1] < this.box.sectors && index < this.box.count ? { index } : null;
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

  /** Mark a sector of the tile, or none, on every panel. */
  mark(index) {
    this.tensor.mark(index);
    this.shared.mark(index);
  }

  /** Mark what is pointed at on every side, say where it lies, and show the bits of its address. */
  show() {
    const [thing, index] = [this.pointed ?? this.resting, this.shown];
    this.mark(index);
    if (thing) this.speech.say(index === null ? this.elsewhere(thing) : `${this.source(index)} ${destination(this, index)}`);
    if (index === null || !this.places) this.strip.hide();
    else showBits(this.strip, this, index);
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
