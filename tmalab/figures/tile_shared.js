// The right side of figure 1: shared memory in 128-byte lines of eight sectors, and the switch between swizzles.

import { Grid, element, hexadecimal, radioSwitch, sentence } from "./base.js";

/** Shared memory: 128-byte lines of eight sectors, or the reason why there is no such tile. */
export class SharedPanel {
  constructor(figure) {
    const { data, words } = figure;
    Object.assign(this, { figure, words, grid: null, places: null });
    const note = (mode) => (mode.given ? "" : words["refused-note"]);
    const options = data.modes.map((mode) => ({ value: mode.swizzle, label: mode.name, note: note(mode) }));
    this.modes = radioSwitch(words.switch, options, (swizzle) => figure.set({ swizzle }));
    this.caption = element("p", { class: "tma-caption" });
    this.body = element("div", { class: "tma-body" });
    const title = sentence(words["shared-title"], { base: hexadecimal(data.shared_address) });
    const parts = [element("h4", { text: title }), this.modes.node, this.caption, this.body];
    this.node = element("section", { class: "tma-panel" }, ...parts);
  }

  /** Build the chosen mode's grid, or its refusal. */
  build() {
    const { mode, places } = this.figure;
    this.modes.choose(mode.swizzle);
    this.places = places;
    this.grid = places && this.table(places);
    this.caption.textContent = places ? sentence(this.words["shared-caption"], places) : "";
    this.body.replaceChildren(...(places ? this.filled(mode, places) : [this.refusal(mode)]));
    this.draw();
  }

  table({ base, drawn_lines }) {
    const grid = new Grid(this.words["shared-grid"], drawn_lines, 8, {
      point: (cell) => this.figure.point(cell && { address: this.addressAt(cell) }),
      choose: (cell) => this.figure.choose({ address: this.addressAt(cell) }),
      enter: () => this.figure.tensor.focus(this.figure.shown),
    });
    grid.name(this.words["shared-corner"], (sector) => sector, (line) => hexadecimal(base + 128 * line));
    return grid;
  }

  filled(mode, places) {
    const notes = places.notes.map((text) => element("p", { class: "tma-note", text }));
    const parts = [element("div", { class: "tma-scroll" }, this.figure.sheet(this.grid.node)), ...notes];
    if (places === mode.narrowed) parts.push(this.button("widen", false, this.figure.data.modes[0].given));
    return parts;
  }

  refusal(mode) {
    const title = element("strong", { text: sentence(this.words["refused-title"], mode) });
    const node = element("div", { class: "tma-refusal", role: "alert" }, title, element("p", { text: mode.reason }));
    if (mode.narrowed) node.append(this.button("narrow", true, mode.narrowed));
    return node;
  }

  button(key, narrowed, places) {
    const node = element("button", { type: "button", class: "tma-button", text: sentence(this.words[key], places) });
    node.addEventListener("click", () => {
      this.figure.set({ narrowed });
      this.modes.focus(); // the button is gone
    });
    return node;
  }

  addressAt([line, sector]) {
    return this.places.base + 128 * line + 16 * sector;
  }

  cellOf(address) {
    const offset = address - this.places.base;
    return [Math.floor(offset / 128), (offset % 128) / 16];
  }

  draw() {
    if (!this.grid) return;
    for (let line = 0; line < this.grid.rows; line++)
      for (let sector = 0; sector < 8; sector++) this.grid.paint(line, sector, this.look([line, sector]));
  }

  look(cell) {
    const address = this.addressAt(cell);
    const index = this.figure.byAddress.get(address) ?? null;
    const label = sentence(this.words["shared-cell"], { address: hexadecimal(address) });
    return index === null ? { look: "tma-gap", label } : { ...this.figure.look(index), label };
  }

  mark(index) {
    if (!this.grid) return;
    const places = index === null ? null : this.places;
    this.grid.mark("shown", places && this.cellOf(places.physical[index]));
    this.grid.mark("before", places && this.cellOf(places.logical[index]));
  }

  focus(index) {
    if (this.grid && index !== null) this.grid.focus(...this.cellOf(this.places.physical[index]));
  }
}
