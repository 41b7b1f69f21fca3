// Figure 2: a matrix seen as groups of columns, the box that takes some of them, and its groups in shared memory.

import { element, sentence } from "./base.js";
import { Chooser, MatrixPanel, ViewPanel } from "./grouping_panels.js";
import { GroupedShared } from "./grouping_shared.js";
import { LinkedFigure } from "./linked.js";

function render({ model, el }) {
  const figure = new GroupingFigure(model, "grouping");
  el.append(figure.node);
  return () => figure.close();
}

/** Places are [group, row, sector] of the tensor, a tile's numbers (group, row, sector) of the box. */
class GroupingFigure extends LinkedFigure {
  arrange() {
    this.tensor = new MatrixPanel(this);
    this.view = new ViewPanel(this);
    this.shared = new GroupedShared(this);
    this.chooser = new Chooser(this);
    this.shared.node.append(this.bits);
    const parts = [this.chooser.node, this.tensor.node, this.view.node, this.speech.node];
    return [element("div", { class: "tma-panel" }, ...parts), this.shared.node];
  }

  draw() {
    this.chooser.draw();
    this.tensor.draw();
    this.view.draw();
  }

  mark(index) {
    super.mark(index);
    this.view.mark(index);
  }

  /** The tensor's place at which the box begins. */
  get corner() {
    const [x, y, z] = this.model.get("coordinates");
    return [z, y, x / this.data.per];
  }

  /** Groups, rows and sectors that the tile has. */
  get shape() {
    const [rows, groups] = this.box.outer;
    return [groups, rows, this.box.sectors];
  }

  /** The box in words. */
  where() {
    const [x, y, z] = this.model.get("coordinates");
    const [groups, rows] = this.shape;
    return { x, y, z, groups, rows, columns: this.box.columns };
  }

  indexAt(place) {
    const { corner, data, shape } = this;
    const steps = [data.steps[1], data.steps[0], 1];
    const numbers = place.map((at, axis) => (at - corner[axis]) / steps[axis]);
    const inside = numbers.every((at, axis) => Number.isInteger(at) && at >= 0 && at < shape[axis]);
    const index = inside ? this.indexOfNumbers(numbers) : Infinity;
    return index < this.box.count ? index : null;
  }

  numbersOf(index) {
    const [, rows, sectors] = this.shape;
    const row = Math.floor(index / sectors);
    return [Math.floor(row / rows), row % rows, index % sectors];
  }

  indexOfNumbers([group, row, sector]) {
    const [, rows, sectors] = this.shape;
    return (group * rows + row) * sectors + sector;
  }

  placeOf(index) {
    const [[group, row, sector], { corner, data }] = [this.numbersOf(index), this];
    return [corner[0] + group * data.steps[1], corner[1] + row * data.steps[0], corner[2] + sector];
  }

  /** How much of a place's 16 bytes lies outside the tensor, 0 to 1. */
  outside([group, row, sector]) {
    const { data } = this;
    if (group < 0 || group >= data.groups || row < 0 || row >= data.rows) return 1;
    if (sector < 0 || sector >= data.sectors) return 1;
    return Math.max(0, ((sector + 1) * data.per - data.columns) / data.per);
  }

  source(index) {
    const place = this.placeOf(index);
    const outside = this.outside(place);
    const kind = this.data.beside ? "sector-matrix" : "sector-planes";
    const key = outside === 1 ? "sector-outside" : outside ? "sector-partly" : kind;
    const [group, row, sector] = this.numbersOf(index);
    return sentence(this.words[key], { group, row, sector, ...this.elements(place) });
  }

  elsewhere({ place, address }) {
    if (!place) return sentence(this.words.gap, { address: this.shared.written(address) });
    return sentence(this.words["not-in-tile"], this.elements(place));
  }

  elements([z, y, sector]) {
    const { per, columns, fill } = this.data;
    const x = sector * per;
    const first = z * columns + x; // of the matrix
    return { z, y, x, end: x + per, first, last: first + per - 1, columns, fill };
  }
}

export default { render };
