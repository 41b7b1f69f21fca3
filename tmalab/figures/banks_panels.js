// The two sides of figure 3: the tile of sectors, and shared memory with a count for each column of banks.

import { Grid, element, hexadecimal, sentence, write } from "./base.js";

/** The tile: a cell for each sector, with the eighth of a line in which it lies, and the column that is read. */
export class TilePanel {
  constructor(figure) {
    const { data, words } = figure;
    Object.assign(this, { figure, data, words });
    const thing = ([row, column]) => ({ row, column });
    this.grid = new Grid(words["tile-grid"], data.rows, data.columns, {
      point: (cell) => figure.point(cell && thing(cell)),
      choose: (cell) => figure.choose(thing(cell)),
      enter: () => figure.access.focus(figure.model.get("row"), figure.model.get("column")),
    });
    this.grid.name(words["tile-corner"], (column) => column, (row) => row);
    this.box = element("div", { class: "tma-box" });
    this.title = element("h4");
    const caption = element("p", { class: "tma-caption", text: words["tile-caption"] });
    const sheet = element("div", { class: "tma-sheet" }, this.grid.node, this.box);
    this.node = element("div", { class: "tma-tile-of-sectors" }, this.title, caption, element("div", { class: "tma-scroll" }, sheet));
  }

  draw() {
    const { data, figure, words } = this;
    const { name, per } = figure.type;
    write(this.title, sentence(words["tile-title"], { rows: data.rows, columns: data.columns * per, type: name }));
    for (let row = 0; row < data.rows; row++)
      for (let column = 0; column < data.columns; column++) {
        const eighth = figure.cellOf(figure.layout.physical[row][column])[1];
        const label = sentence(words["tile-cell"], { row, sector: column, eighth });
        this.grid.paint(row, column, { look: `tma-sector tma-tint-${eighth}`, text: `S${eighth}`, label });
      }
    const place = { x: figure.model.get("column"), y: figure.model.get("row"), w: 1, h: data.read };
    for (const [key, value] of Object.entries(place)) this.box.style.setProperty(`--${key}`, value);
  }

  mark(place) {
    this.grid.mark("shown", place);
  }
}

/** Shared memory: who asks for what, line by line; and below, how often each column of banks is asked. */
export class AccessPanel {
  constructor(figure, head, lines, addressOf) {
    Object.assign(this, { figure, head, words: figure.words, asked: [] });
    this.grid = new Grid(this.words["access-grid"], lines, head.length, {
      point: (cell) => (cell ? figure.pointAt(cell) : figure.point(null)),
      choose: (cell) => figure.pointAt(cell),
      enter: () => figure.enter(),
    });
    const address = (line) => this.written(addressOf(line));
    this.grid.name("", (column) => head[column], address);
    this.label = (line, column) => sentence(this.words["access-cell"], { address: address(line), column: head[column] });
    for (let line = 0; line < lines; line++)
      for (let column = 0; column < head.length; column++) this.blank(line, column);
    this.counts = head.map(() => element("td"));
    this.bars = head.map(() => element("div", { class: "tma-bar" }));
    const sheet = element("div", { class: "tma-sheet" }, this.grid.node, this.table());
    sheet.toggleAttribute("data-words", head.length > 8);
    this.node = element("div", { class: "tma-scroll" }, sheet);
  }

  /** The counts as a table, and the same as bars. */
  table() {
    const name = element("th", { scope: "row", text: this.words.counts });
    const heads = this.head.map((text) => element("th", { scope: "col", text }));
    const corner = element("td");
    const numbers = element("tr", {}, name, ...this.counts);
    const table = element("table", { class: "tma-counts" }, element("tr", {}, corner, ...heads), numbers);
    const bars = element("div", { class: "tma-bars", "aria-hidden": "true" }, ...this.bars);
    return element("div", {}, table, bars);
  }

  written(address) {
    return typeof address === "string" ? address : hexadecimal(address);
  }

  blank(line, column) {
    this.grid.paint(line, column, { look: "tma-sector", label: this.label(line, column) });
  }

  /** Draw a phase: {cells: [[line, column, text]], counts, ways}. */
  draw({ cells, counts, ways }) {
    for (const [line, column] of this.asked) this.blank(line, column);
    this.asked = cells;
    const worst = (column) => ways > 1 && counts[column] === ways;
    for (const [line, column, text] of cells) {
      const label = `${this.label(line, column)}: ${sentence(this.words["lanes-drawn"], { lanes: text })}`;
      this.grid.paint(line, column, { look: `tma-asked${worst(column) ? " tma-worst" : ""}`, text, label });
    }
    counts.forEach((count, column) => {
      write(this.counts[column], count);
      this.counts[column].className = worst(column) ? "tma-worst" : "";
      this.bars[column].style.setProperty("--count", count);
      this.bars[column].classList.toggle("tma-worst", worst(column));
    });
    this.node.style.setProperty("--ways", ways);
  }

  mark(cell) {
    this.grid.mark("shown", cell);
  }

  /** Go to where a sector of the tile lies. */
  focus(row, column) {
    this.grid.focus(...this.figure.cellOf(this.figure.layout.physical[row][column]));
  }
}
