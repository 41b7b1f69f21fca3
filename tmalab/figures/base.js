// What every figure shares: elements, sentences, address bits, a switch, speech, and a grid that a keyboard can walk.

/** A new element: attributes by name, `text` for its text, then its children. */
export function element(tag, { text, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

/** Set a node's text, touching the page only if it changes. */
export function write(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

/** A catalogue's template with its {places} filled in. */
export function sentence(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A byte address as a reader of PTX writes it. */
export function hexadecimal(address) {
  return "0x" + address.toString(16).toUpperCase().padStart(4, "0");
}

/** The bits high..low of an address, as 0s and 1s. */
export function bitsOf(address, high, low) {
  let bits = "";
  for (let bit = high; bit >= low; bit--) bits += Math.floor(address / 2 ** bit) % 2;
  return bits;
}

/** Keep plain keys from the notebook's own shortcuts (A, B, DD, arrows...); Ctrl and Meta combinations still pass. */
export function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    const passes = event.ctrlKey || event.metaKey || event.key === "Tab" || (event.key === "Enter" && event.shiftKey);
    if (!passes) event.stopPropagation();
  });
}

/** A sentence that is seen and, when it changes, spoken. */
export function speech(first) {
  const node = element("p", { class: "tma-speech", role: "status", "aria-live": "polite", text: first });
  return { node, say: (words) => write(node, words) };
}

/** Radio buttons in a row: one tab stop, arrows choose. options: [{value, label, note}]. */
export function radioSwitch(legend, options, onChoose) {
  const name = `tma-switch-${Math.random()}`; // figures on one page share no group
  const inputs = new Map();
  const node = element("fieldset", { class: "tma-switch" }, element("legend", { text: legend }));
  for (const { value, label, note } of options) {
    const input = element("input", { type: "radio", name, value });
    input.addEventListener("change", () => onChoose(value));
    inputs.set(value, input);
    const words = element("span", { text: label });
    if (note) words.append(" ", element("small", { text: note }));
    node.append(element("label", {}, input, words));
  }
  const choose = (value) => {
    for (const [key, input] of inputs) input.checked = key === value;
  };
  const focus = () => [...inputs.values()].find((input) => input.checked)?.focus();
  return { node, choose, focus };
}

/** Addresses as rows of bits, bit `top` first: show(top, rows) with rows [{label, bit: number => text, mark, head}]. */
export class BitStrip {
  constructor() {
    this.node = element("div", { class: "tma-bits", "aria-hidden": "true", hidden: "" }); // the sentence says the same
  }

  show(top, rows) {
    if (this.top !== top || this.lines.length !== rows.length) this.build(top, rows.length);
    rows.forEach(({ label, bit, mark = () => "", head = false }, at) => {
      const { node, name, cells } = this.lines[at];
      node.classList.toggle("tma-bits-head", head);
      write(name, label);
      cells.forEach((cell, place) => {
        write(cell, bit(top - place));
        const look = mark(top - place);
        if (cell.className !== look) cell.className = look;
      });
    });
    this.node.hidden = false;
  }

  hide() {
    this.node.hidden = true;
  }

  build(top, count) {
    this.top = top;
    this.lines = Array.from({ length: count }, () => {
      const [name, cells] = [element("b"), Array.from({ length: top + 1 }, () => element("span"))];
      return { name, cells, node: element("div", {}, name, ...cells) };
    });
    this.node.replaceChildren(...this.lines.map(({ node }) => node));
  }
}

const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  PageUp: [-8, 0],
  PageDown: [8, 0],
};

/** The (rows, columns) that a key asks for, or null. */
export function stepOf(event) {
  return event.altKey || event.metaKey ? null : (STEPS[event.key] ?? null);
}

/**
 * A table of cells with one tab stop: arrows, Home, End and Page keys move, Enter is handed on.
 *
 * Cells are [row, column]. point(cell) follows the pointer, point(null) its leaving; choose(cell) follows focus;
 * enter() the Enter or Space key; beyond(rows, columns) is a step over the edge: did the contents move instead?
 */
export class Grid {
  constructor(label, rows, columns, { point, choose, enter, beyond = () => false }) {
    Object.assign(this, { rows, columns, point, choose, enter, beyond, current: [0, 0], places: new Map() });
    this.heads = { columns: heads("columnheader", columns), rows: heads("rowheader", rows) };
    [this.corner] = heads("columnheader", 1);
    const top = element("div", { role: "row", class: "tma-row" }, this.corner, ...this.heads.columns);
    this.node = element("div", { class: "tma-grid", role: "grid", "aria-label": label }, top);
    this.node.style.setProperty("--columns", columns);
    const blank = element("span", { role: "gridcell", tabindex: "-1" });
    this.painted = Array.from({ length: rows }, () => Array.from({ length: columns }, () => ({})));
    this.cells = this.heads.rows.map((head, row) => {
      const cells = Array.from({ length: columns }, () => blank.cloneNode());
      cells.forEach((cell, column) => this.places.set(cell, [row, column]));
      this.node.append(element("div", { role: "row", class: "tma-row" }, head, ...cells));
      return cells;
    });
    this.cells[0][0].tabIndex = 0;
    this.listen();
  }

  listen() {
    this.node.addEventListener("pointerover", (event) => {
      const cell = this.places.get(event.target);
      if (cell) this.point(cell);
    });
    this.node.addEventListener("pointerleave", () => this.point(null));
    this.node.addEventListener("focusin", (event) => {
      const cell = this.places.get(event.target);
      if (!cell) return;
      this.stop(...cell);
      this.choose(cell);
    });
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const [row, column] = this.current;
    const step = stepOf(event);
    if (step) this.step(...step);
    else if (event.key === "Home") this.focus(event.ctrlKey ? 0 : row, 0);
    else if (event.key === "End") this.focus(event.ctrlKey ? this.rows - 1 : row, this.columns - 1);
    else if (event.key === "Enter" || event.key === " ") this.enter();
    else return;
    event.preventDefault();
  }

  step(rows, columns) {
    const [row, column] = [this.current[0] + rows, this.current[1] + columns];
    const inside = row >= 0 && row < this.rows && column >= 0 && column < this.columns;
    if (!inside && this.beyond(rows, columns)) this.choose(this.current);
    else this.focus(clamp(row, 0, this.rows - 1), clamp(column, 0, this.columns - 1));
  }

  /** Make a cell the grid's tab stop. */
  stop(row, column) {
    const [oldRow, oldColumn] = this.current;
    this.cells[oldRow][oldColumn].tabIndex = -1;
    this.cells[row][column].tabIndex = 0;
    this.current = [row, column];
  }

  focus(row, column) {
    this.stop(row, column);
    this.cells[row][column].focus();
  }

  /** Show a cell as {look, text, label}; only what changed touches the page. */
  paint(row, column, { look = "", text = "", label = "" }) {
    const [cell, before] = [this.cells[row][column], this.painted[row][column]];
    if (before.look !== look) cell.className = look;
    if (before.text !== text) cell.textContent = text;
    if (before.label !== label) cell.setAttribute("aria-label", label);
    this.painted[row][column] = { look, text, label };
  }

  /** Headings: what stands over a column and before a row; quiet ones are there for screen readers alone. */
  name(corner, columnName, rowName, quiet = () => false) {
    write(this.corner, corner);
    this.heads.columns.forEach((head, column) => {
      write(head, columnName(column));
      head.toggleAttribute("data-quiet", quiet(column));
    });
    this.heads.rows.forEach((head, row) => write(head, rowName(row)));
  }

  /** Give one cell, or none, the mark data-NAME, and take it from the one that had it. */
  mark(name, cell) {
    this.node.querySelector(`[data-${name}]`)?.removeAttribute(`data-${name}`);
    if (cell) this.cells[cell[0]]?.[cell[1]]?.setAttribute(`data-${name}`, "");
  }
}

export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

function heads(role, count) {
  return Array.from({ length: count }, () => element("span", { role, class: "tma-head" }));
}
