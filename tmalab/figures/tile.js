// Figure 1: a box on a rank-2 tensor, and its tile in shared memory, sector by sector.

import { clamp } from "./base.js";
import { LinkedFigure } from "./linked.js";
import { SharedPanel } from "./tile_shared.js";
import { TensorPanel } from "./tile_tensor.js";
import { elsewhere, source } from "./tile_words.js";

function render({ model, el }) {
  const figure = new TileFigure(model, "tile");
  el.append(figure.node);
  return () => figure.close();
}

/** Places are [row, sector] of the tensor, a tile's numbers (row, sector) of the box. */
class TileFigure extends LinkedFigure {
  arrange() {
    this.tensor = new TensorPanel(this);
    this.shared = new SharedPanel(this);
    this.tensor.node.append(this.speech.node);
    this.shared.node.append(this.bits);
    return [this.tensor.node, this.shared.node];
  }

  source(index) {
    return source(this, index);
  }

  elsewhere(thing) {
    return elsewhere(this, thing);
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

  indexOfNumbers([row, sector]) {
    return row * this.box.sectors + sector;
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
}

export default { render };
