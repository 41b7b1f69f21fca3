// The left side of figure 1: a window on the tensor, and the box that a copy takes from it.

import { Grid, clamp, element, sentence, stepOf } from "./base.js";

const MARGIN = 1; // rows and sectors drawn around the tensor, so that a box is seen to hang over its edge
const ROOM = 24; // rows of a large tensor that are drawn when the box needs no more
const WIDTH = 560; // pixels for its sectors; where the box needs more, they are drawn small and without their numbers

/** The tensor: a window on it, and the box, which moves by pointer or keys. Places are [row, sector]. */
export class TensorPanel {
  constructor(figure) {
    const { data, words } = figure;
    Object.assign(this, { figure, data, words, fitting: Math.floor(WIDTH / figure.cellWidth) });
    const largest = (name) => Math.max(...figure.boxes.map((box) => box[name])) + 2 * MARGIN;
    this.rows = Math.min(data.rows + 2 * MARGIN, Math.max(ROOM, largest("height")), data.most_rows);
    this.columns = Math.min(data.sectors + 2 * MARGIN, Math.max(this.fitting, largest("sectors")), data.most_sectors);
    const { corner, box } = figure;
    const middle = (first, length, size) => first - Math.max(MARGIN, Math.floor((size - length) / 2));
    this.origin = this.within([middle(corner[0], box.height, this.rows), middle(corner[1], box.sectors, this.columns)]);
    this.grid = new Grid(words["tensor-grid"], this.rows, this.columns, {
      point: (cell) => figure.point(cell && { place: this.placeAt(cell) }),
      choose: (cell) => figure.choose({ place: this.placeAt(cell) }),
      enter: () => figure.shared.focus(figure.shown),
      beyond: (rows, columns) => this.pan(rows, columns),
    });
    this.edge = element("div", { class: "tma-edge" });
    const handle = { role: "application", tabindex: "0", "aria-roledescription": words["box-role"] }; // hands arrows on
    this.box = element("div", { class: "tma-box", ...handle });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.caption = element("p", { class: "tma-caption" });
    this.note = element("p", { class: "tma-note" });
    const sheet = figure.sheet(this.grid.node, this.edge, this.box);
    sheet.toggleAttribute("data-small", this.columns > this.fitting);
    const title = element("h4", { text: sentence(words["tensor-title"], data) });
    const scroll = element("div", { class: "tma-scroll" }, sheet);
    this.node = element("section", { class: "tma-panel" }, title, this.caption, scroll, this.note);
    this.drag(this.grid.node);
  }

  placeAt([row, column]) {
    return [row + this.origin[0], column + this.origin[1]];
  }

  /** The cell of a place; it may be outside the window. */
  cellOf([row, sector]) {
    return [row - this.origin[0], sector - this.origin[1]];
  }

  /** Draw the window on the box. */
  draw() {
    this.reveal(this.figure.corner, this.figure.box.height, this.figure.box.sectors);
    this.paint();
  }

  paint() {
    for (let row = 0; row < this.rows; row++)
      for (let column = 0; column < this.columns; column++) this.grid.paint(row, column, this.look([row, column]));
    const { data, figure, words } = this;
    const [top, left] = this.origin;
    const every = this.columns > this.fitting ? 8 : 2;
    const [x, y] = [(column) => (column + left) * data.per, (row) => row + top];
    this.grid.name(words["tensor-corner"], x, y, (column) => (column + left) % every !== 0);
    this.lay(this.edge, [0, 0], data.rows, data.sectors);
    this.lay(this.box, figure.corner, figure.box.height, figure.box.sectors);
    this.box.toggleAttribute("data-refused", !figure.places);
    this.box.setAttribute("aria-label", sentence(words["box-label"], figure.where()));
    this.caption.textContent = sentence(words["box-caption"], figure.where());
    this.note.textContent = this.part();
  }

  look(cell) {
    const place = this.placeAt(cell);
    const index = this.figure.indexAt(place);
    const label = sentence(this.words["tensor-cell"], { y: place[0], x: place[1] * this.data.per });
    if (index !== null) return { ...this.figure.look(index), label };
    return { look: this.figure.outside(place) === 1 ? "tma-nothing" : "tma-sector", label };
  }

  /** Says which part of the tensor is drawn; empty when all of it is. */
  part() {
    const { rows, sectors, per, columns } = this.data;
    const shown = (low, size, count) => [clamp(low, 0, count - 1), clamp(low + size, 1, count)];
    const [top, bottom] = shown(this.origin[0], this.rows, rows);
    const [left, right] = shown(this.origin[1], this.columns, sectors);
    if (bottom - top === rows && right - left === sectors) return "";
    const across = { left: left * per, right: Math.min(right * per, columns) - 1, columns };
    return sentence(this.words["drawn-part"], { top, bottom: bottom - 1, rows, ...across });
  }

  /** Lay an outline over rows and sectors of the tensor; it is open where the window cuts it. */
  lay(outline, place, height, width) {
    const [top, left] = this.cellOf(place);
    const [bottom, right] = [top + height, left + width];
    const [y, x] = [clamp(top, 0, this.rows), clamp(left, 0, this.columns)];
    const size = { y, x, h: clamp(bottom, 0, this.rows) - y, w: clamp(right, 0, this.columns) - x };
    for (const [name, value] of Object.entries(size)) outline.style.setProperty(`--${name}`, value);
    outline.toggleAttribute("data-empty", size.h === 0 || size.w === 0);
    const cuts = { top: top < 0, right: right > this.columns, bottom: bottom > this.rows, left: left < 0 };
    outline.setAttribute("data-cut", Object.keys(cuts).filter((side) => cuts[side]).join(" "));
  }

  /** The nearest origin at which the window shows no more than the tensor and its margin. */
  within([top, left]) {
    const reach = (low, count, size) => clamp(low, -MARGIN, Math.max(-MARGIN, count + MARGIN - size));
    return [reach(top, this.data.rows, this.rows), reach(left, this.data.sectors, this.columns)];
  }

  /** Move the window, and say whether it moved: at the tensor's edge it doesn't. */
  pan(rows, columns) {
    const before = this.origin;
    this.origin = this.within([before[0] + rows, before[1] + columns]);
    this.paint();
    return String(before) !== String(this.origin);
  }

  /** Move the window as little as shows rows and sectors from a place on, as far as they fit. */
  reveal([row, sector], height, width) {
    const reach = (low, size, first, length) => Math.max(Math.min(low, first), Math.min(first, first + length - size));
    const [top, left] = this.origin;
    this.origin = [reach(top, this.rows, row, height), reach(left, this.columns, sector, width)];
  }

  mark(index) {
    this.grid.mark("shown", index === null ? null : this.cellOf(this.figure.placeOf(index)));
  }

  focus(index) {
    if (index === null) return;
    const place = this.figure.placeOf(index);
    this.reveal(place, 1, 1);
    this.paint();
    this.grid.focus(...this.cellOf(place));
  }

  key(event) {
    const { box, corner } = this.figure;
    const [down, right] = event.shiftKey ? [box.height, box.sectors] : [1, 1]; // Shift moves by a whole tile
    const step = stepOf(event);
    if (step) this.figure.move([corner[0] + step[0] * down, corner[1] + step[1] * right]);
    else if (event.key === "Home") this.figure.move([0, 0]);
    else return;
    event.preventDefault();
  }

  drag(node) {
    let start = null;
    node.addEventListener("pointerdown", (event) => {
      const cell = this.grid.places.get(event.target);
      if (!cell || event.button !== 0 || this.figure.indexAt(this.placeAt(cell)) === null) return;
      const { width, height } = event.target.getBoundingClientRect();
      start = { x: event.clientX, y: event.clientY, width, height, corner: this.figure.corner };
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [down, right] = [(event.clientY - start.y) / start.height, (event.clientX - start.x) / start.width];
      this.figure.move([start.corner[0] + Math.round(down), start.corner[1] + Math.round(right)]);
    });
    for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => (start = null));
  }
}
