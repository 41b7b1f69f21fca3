// The left side of figure 2: the choice of a slice, the tensor in memory, and the box as an array of groups.

import { Grid, clamp, element, radioSwitch, sentence, write } from "./base.js";

const MOST = { groups: 8, rows: 32, sectors: 32, beside: 64, below: 40 }; // of a tensor; below: rows of groups in all
const BOX = { rows: 32, columns: 64 }; // drawn of a box
const AXES = ["x", "y", "z"];

/** Which part of the matrix the box takes: a switch between slices where there are a few, else three numbers. */
export class Chooser {
  constructor(figure) {
    Object.assign(this, { figure, words: figure.words });
    this.node = element("div", { class: "tma-chooser" });
    if (figure.data.slices.length) this.node.append(this.slices());
    else this.node.append(...this.numbers());
  }

  slices() {
    const { data, words } = this.figure;
    const width = data.box[2] * data.columns;
    const options = data.slices.map((z) => {
      const columns = { first: z * data.columns, last: z * data.columns + width - 1 };
      const range = { first: z, last: z + data.box[2] - 1 };
      return { value: z, label: sentence(words["slice-columns"], data.beside ? columns : range) };
    });
    const legend = data.beside ? words.slice : words["slice-groups"];
    this.choice = radioSwitch(legend, options, (z) => this.figure.set({ coordinates: [0, 0, z] }));
    return this.choice.node;
  }

  numbers() {
    const { data } = this.figure;
    const steps = [data.per, 1, 1];
    this.inputs = AXES.map((axis, at) => {
      const input = element("input", { type: "number", step: steps[at] });
      input.addEventListener("change", () => this.go());
      return input;
    });
    return this.inputs.map((input, at) =>
      element("label", {}, sentence(this.words.coordinate, { axis: AXES[at] }), " ", input),
    );
  }

  /** Take the numbers as they are; x goes to the sector that holds it. What is no number changes nothing. */
  go() {
    const before = this.figure.model.get("coordinates");
    const read = (input, at) => (Number.isNaN(input.valueAsNumber) ? before[at] : Math.trunc(input.valueAsNumber));
    const [x, y, z] = this.inputs.map(read).map((value) => clamp(value, -(2 ** 31), 2 ** 31 - 1));
    const { per } = this.figure.data;
    this.figure.set({ coordinates: [Math.floor(x / per) * per, y, z] });
    this.draw();
  }

  draw() {
    const at = this.figure.model.get("coordinates");
    this.choice?.choose(at[2]);
    this.inputs?.forEach((input, axis) => {
      if (input.valueAsNumber !== at[axis]) input.value = at[axis];
    });
  }
}

/** The tensor as it lies in memory: groups side by side in one matrix, or one below the other. */
export class MatrixPanel {
  constructor(figure) {
    const { data, words } = figure;
    Object.assign(this, { figure, data, words });
    const [groups, rows, sectors] = figure.shape;
    const room = (all, most, needed) => Math.min(all, most, Math.max(needed, 8));
    this.sectors = room(data.sectors, MOST.sectors, sectors);
    this.rows = room(data.rows, MOST.rows, (rows - 1) * data.steps[0] + 1);
    const fitting = Math.floor(data.beside ? MOST.beside / this.sectors : MOST.below / this.rows);
    this.groups = Math.min(data.groups, MOST.groups, Math.max(fitting, 1));
    const [down, across] = data.beside ? [1, this.groups] : [this.groups, 1];
    this.grid = new Grid(words["matrix-grid"], down * this.rows, across * this.sectors, {
      point: (cell) => figure.point(cell && { place: this.placeAt(cell) }),
      choose: (cell) => figure.choose({ place: this.placeAt(cell) }),
      enter: () => figure.shared.focus(figure.shown),
    });
    this.size = [this.groups, this.rows, this.sectors];
    this.outlines = Array.from({ length: groups }, () => element("div", { class: "tma-box" }));
    this.rims = Array.from({ length: this.groups }, () => element("div", { class: "tma-edge" }));
    this.sheet = element("div", { class: "tma-sheet" }, this.grid.node, ...this.rims, ...this.outlines);
    this.note = element("p", { class: "tma-note" });
    const kind = data.beside ? "matrix" : "planes";
    const title = element("h4", { text: sentence(words[`${kind}-title`], data) });
    const caption = element("p", { class: "tma-caption", text: sentence(words[`${kind}-caption`], data) });
    const scroll = element("div", { class: "tma-scroll" }, this.sheet);
    this.node = element("section", { class: "tma-matrix" }, title, caption, scroll, this.note);
  }

  /** Draw the part of the tensor that holds the box, or as much of it as fits. */
  draw() {
    const [all, corner, shape] = [[this.data.groups, this.data.rows, this.data.sectors], this.figure.corner, this.figure.shape];
    this.origin = this.size.map((size, axis) => {
      const spare = Math.max(0, size - shape[axis]) >> 1;
      return clamp(corner[axis] - spare, 0, all[axis] - size);
    });
    for (let row = 0; row < this.grid.rows; row++)
      for (let column = 0; column < this.grid.columns; column++) this.grid.paint(row, column, this.look([row, column]));
    const { per, columns, beside } = this.data;
    const first = (column) => {
      const [z, , sector] = this.placeAt([0, column]);
      return (beside ? z * columns : 0) + sector * per;
    };
    this.grid.name(
      this.words["tensor-corner"],
      first,
      (row) => this.placeAt([row, 0]).slice(beside ? 1 : 0, 2), // group and row where groups lie below each other
      (column) => column % this.sectors && column % 4,
    );
    this.rims.forEach((rim, group) => this.lay(rim, [this.origin[0] + group, this.origin[1], this.origin[2]], this.size));
    this.outlines.forEach((outline, group) => {
      const z = corner[0] + group * this.data.steps[1];
      this.lay(outline, [z, corner[1], corner[2]], [1, (shape[1] - 1) * this.data.steps[0] + 1, shape[2]]);
      outline.toggleAttribute("data-empty", group >= shape[0] || outline.hasAttribute("data-empty"));
    });
    write(this.note, this.part());
  }

  look(cell) {
    const place = this.placeAt(cell);
    const index = this.figure.indexAt(place);
    const label = sentence(this.words["matrix-cell"], { z: place[0], y: place[1], x: place[2] * this.data.per });
    if (index === null) return { look: "tma-sector", label };
    return { ...this.figure.look(index), text: this.figure.numbersOf(index)[2], label };
  }

  placeAt([row, column]) {
    const [group, down, across] = this.data.beside
      ? [Math.floor(column / this.sectors), row, column % this.sectors]
      : [Math.floor(row / this.rows), row % this.rows, column];
    return [this.origin[0] + group, this.origin[1] + down, this.origin[2] + across];
  }

  /** The cell of a place, or null where the window does not show it. */
  cellOf(place) {
    const [group, row, sector] = place.map((at, axis) => at - this.origin[axis]);
    const inside = [group, row, sector].every((at, axis) => at >= 0 && at < this.size[axis]);
    if (!inside) return null;
    return this.data.beside ? [row, group * this.sectors + sector] : [group * this.rows + row, sector];
  }

  /** Lay an outline over rows and sectors of a group, as far as the window shows them. */
  lay(outline, place, [, height, width]) {
    const [group, top, left] = place.map((at, axis) => at - this.origin[axis]);
    const [y, x] = [clamp(top, 0, this.rows), clamp(left, 0, this.sectors)];
    const size = [clamp(top + height, 0, this.rows) - y, clamp(left + width, 0, this.sectors) - x];
    const [down, across] = this.data.beside ? [0, group * this.sectors] : [group * this.rows, 0];
    layOver(outline, [down + y, across + x], size);
    outline.toggleAttribute("data-empty", group < 0 || group >= this.groups || size[0] === 0 || size[1] === 0);
  }

  /** Says which part of the tensor is drawn; empty when all of it is. */
  part() {
    const { groups, rows, sectors, columns, per } = this.data;
    if (String(this.size) === String([groups, rows, sectors])) return "";
    const [z0, y0, left] = this.origin;
    const x1 = Math.min((left + this.sectors) * per, columns) - 1;
    const ends = { z0, z1: z0 + this.groups - 1, y0, y1: y0 + this.rows - 1, x0: left * per, x1 };
    return sentence(this.words["drawn-part"], { ...this.data, ...ends });
  }

  mark(index) {
    this.grid.mark("shown", index === null ? null : this.cellOf(this.figure.placeOf(index)));
  }

  /** From shared memory back to where the sector comes from; one that is outside the tensor has its place in the box. */
  focus(index) {
    if (index === null) return;
    const cell = this.cellOf(this.figure.placeOf(index));
    if (cell) this.grid.focus(...cell);
    else this.figure.view.focus(index);
  }
}

/** The box as an array: its groups side by side, as [group, row, sector]. */
export class ViewPanel {
  constructor(figure) {
    Object.assign(this, { figure, words: figure.words });
    this.title = element("h4");
    this.caption = element("p", { class: "tma-caption" });
    this.body = element("div", { class: "tma-scroll" });
    this.note = element("p", { class: "tma-note" });
    this.node = element("section", { class: "tma-view" }, this.title, this.caption, this.body, this.note);
  }

  draw() {
    const { figure, words } = this;
    if (String(this.shape) !== String(figure.shape)) this.build();
    const [groups, rows, sectors] = this.shape;
    write(this.title, sentence(words["view-title"], figure.where()));
    write(this.caption, sentence(words["view-caption"], figure.where()));
    for (let row = 0; row < this.grid.rows; row++)
      for (let column = 0; column < this.grid.columns; column++) this.grid.paint(row, column, this.look([row, column]));
    const [drawn, count] = [Math.min(this.grid.rows * this.grid.columns, figure.box.count), groups * rows * sectors];
    write(this.note, drawn < count ? sentence(words["view-part"], { drawn, count }) : "");
  }

  /** A grid for this box: another mode may have a narrower one. */
  build() {
    const { figure, words } = this;
    this.shape = figure.shape;
    const [groups, rows, sectors] = this.shape;
    this.sectors = Math.min(sectors, BOX.columns);
    this.groups = Math.min(groups, Math.max(1, Math.floor(BOX.columns / this.sectors)));
    this.grid = new Grid(words["view-grid"], Math.min(rows, BOX.rows), this.groups * this.sectors, {
      point: (cell) => figure.point(this.thing(cell)),
      choose: (cell) => figure.choose(this.thing(cell)),
      enter: () => figure.shared.focus(figure.shown),
    });
    const name = (column) => (column % this.sectors ? column % this.sectors : sentence(words.group, { group: column / this.sectors }));
    this.grid.name("", name, (row) => row, (column) => column % this.sectors);
    const outlines = Array.from({ length: this.groups }, (_, group) => {
      const outline = element("div", { class: "tma-box" });
      layOver(outline, [0, group * this.sectors], [this.grid.rows, this.sectors]);
      return outline;
    });
    this.body.replaceChildren(figure.sheet(this.grid.node, ...outlines));
  }

  thing(cell) {
    const index = cell && this.indexAt(cell);
    return index === null ? null : { index };
  }

  indexAt([row, column]) {
    const numbers = [Math.floor(column / this.sectors), row, column % this.sectors];
    const index = this.figure.indexOfNumbers(numbers);
    return index < this.figure.box.count ? index : null;
  }

  look(cell) {
    const index = this.indexAt(cell);
    const [group, row, sector] = [Math.floor(cell[1] / this.sectors), cell[0], cell[1] % this.sectors];
    const label = sentence(this.words["view-cell"], { group, row, sector });
    return index === null ? { look: "tma-gap", label } : { ...this.figure.look(index), label };
  }

  cellOf(index) {
    const [group, row, sector] = this.figure.numbersOf(index);
    const drawn = group < this.groups && row < this.grid.rows && sector < this.sectors;
    return drawn ? [row, group * this.sectors + sector] : null;
  }

  mark(index) {
    this.grid.mark("shown", index === null ? null : this.cellOf(index));
  }

  focus(index) {
    const cell = this.cellOf(index);
    if (cell) this.grid.focus(...cell);
  }
}

/** Lay an outline over cells of a sheet: [row, column] and [rows, columns]. */
function layOver(outline, [y, x], [h, w]) {
  for (const [name, value] of Object.entries({ x, y, w, h })) outline.style.setProperty(`--${name}`, value);
}
