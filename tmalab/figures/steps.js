// Walking through what happened, one event at a time: a slider, two buttons, and a list that shows the events around.
// Only a window of the list is in the page, so a step costs the same however many events there are.

import { clamp, element, sentence, write } from "./base.js";

const LINES = 13; // of the list that are in the page
const FAR = 10; // steps that Page keys take
const KEYS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1, PageUp: -FAR, PageDown: FAR };

let figures = 0; // on the page: ids must differ

/**
 * rowOf(i) gives the cells of event i's line, and its `look`; change(i) is told where the hand or a key went.
 * `words` are the templates steps-list, steps-slider, steps-back, steps-forward, steps-place.
 */
export class Steps {
  constructor({ words, heads, rowOf, change }) {
    Object.assign(this, { words, rowOf, change, count: 0, at: 0, id: `tma-steps-${figures++}` });
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": words["steps-slider"] });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.back = this.button("steps-back", -1);
    this.forward = this.button("steps-forward", 1);
    this.place = element("span", { class: "tma-steps-place" });
    this.rows = Array.from({ length: LINES }, (_, line) => this.row(line, heads.length));
    const list = { class: "tma-steps-list", role: "listbox", tabindex: 0, "aria-label": words["steps-list"] };
    this.list = element("div", list, ...this.rows.map(({ node }) => node));
    this.list.addEventListener("keydown", (event) => this.key(event));
    const head = element("div", { class: "tma-steps-row tma-steps-head", "aria-hidden": "true" });
    head.append(element("span"), ...heads.map((text) => element("span", { text })));
    this.events = element("div", { class: "tma-steps-events" }, head, this.list);
    const controls = [this.back, this.forward, this.slider, this.place];
    this.controls = element("div", { class: "tma-steps-controls" }, ...controls);
  }

  button(key, step) {
    const node = element("button", { type: "button", class: "tma-button", text: this.words[key] });
    node.addEventListener("click", () => this.go(this.at + step));
    return node;
  }

  row(line, columns) {
    const cells = Array.from({ length: columns + 1 }, () => element("span"));
    const node = element("div", { role: "option", id: `${this.id}-${line}`, class: "tma-steps-row" }, ...cells);
    node.addEventListener("pointerdown", () => this.go(this.first + line));
    return { node, cells };
  }

  key(event) {
    const { at, count } = this;
    const to = event.key === "Home" ? 0 : event.key === "End" ? count - 1 : at + (KEYS[event.key] ?? NaN);
    if (Number.isNaN(to) || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.go(to);
  }

  /** Other events: how many there are, and which is shown. */
  load(count, at) {
    this.count = count;
    this.slider.max = Math.max(0, count - 1);
    for (const { node } of this.rows) node.setAttribute("aria-setsize", count);
    this.show(at);
  }

  /** The user goes to an event. */
  go(to) {
    const at = clamp(to, 0, this.count - 1);
    if (at !== this.at) this.change(at);
  }

  /** Show which event it is. */
  show(at) {
    this.at = clamp(at, 0, Math.max(0, this.count - 1));
    this.first = clamp(this.at - (LINES >> 1), 0, Math.max(0, this.count - LINES));
    this.slider.value = this.at;
    this.rows.forEach((row, line) => this.paint(row, this.first + line));
    this.list.setAttribute("aria-activedescendant", `${this.id}-${this.at - this.first}`);
    const place = sentence(this.words["steps-place"], { number: this.at + 1, count: this.count });
    write(this.place, place);
    this.slider.setAttribute("aria-valuetext", place);
    this.back.disabled = this.at === 0;
    this.forward.disabled = this.at >= this.count - 1;
  }

  paint({ node, cells }, index) {
    node.hidden = index >= this.count;
    if (node.hidden) return;
    const { cells: texts, look = "" } = this.rowOf(index);
    const here = index === this.at;
    node.className = `tma-steps-row ${look}`;
    node.setAttribute("aria-selected", here);
    node.setAttribute("aria-posinset", index + 1);
    write(cells[0], here ? "▶" : "");
    texts.forEach((text, column) => write(cells[column + 1], text));
  }
}
