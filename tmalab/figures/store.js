// Figure 5: stores from shared memory: buffers, groups, and what may be overwritten when.

import { clamp, element, write } from "./base.js";
import { EventsFigure } from "./events.js";

const CELLS = 24; // events of a band that are drawn
const BAND = 200; // pixels, and of an event at most:
const WIDEST = 18;

function render({ model, el }) {
  const figure = new StoreFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

class StoreFigure extends EventsFigure {
  constructor(model) {
    super(model, "tma-stores", ["head-who", "head-does", "head-line"]);
  }

  picture() {
    this.body = element("tbody", {});
    this.groups = element("dd", {});
    return [this.body, this.groups].map((node) => (node === this.body ? this.table() : this.list()));
  }

  table() {
    const heads = ["head-buffer", "head-band", "head-overwrite", "head-arrived"].map((key) => this.words[key]);
    const cells = heads.map((text) => element("th", { scope: "col", text }));
    const head = element("thead", {}, element("tr", {}, ...cells));
    return element("table", { class: "tma-buffers" }, head, this.body);
  }

  list() {
    return element("dl", { class: "tma-facts" }, element("dt", { text: this.words.groups }), this.groups);
  }

  row({ who, did, line }) {
    return { cells: [who, did, line ?? ""], look: "" };
  }

  chosen() {
    const buffers = this.data.buffers[this.model.get("choice")];
    this.rows = buffers.map((name) => {
      const band = Array.from({ length: CELLS }, () => element("i", {}));
      const [may, arrived] = [element("td", {}), element("td", {})];
      const cells = element("td", { class: "tma-band", "aria-hidden": "true" }, ...band);
      const node = element("tr", {}, element("th", { scope: "row", text: name }), cells, may, arrived);
      return { band, may, arrived, node };
    });
    this.body.replaceChildren(...this.rows.map(({ node }) => node));
    const width = Math.min(WIDEST, Math.floor(BAND / Math.min(CELLS, this.frames.length)));
    this.body.style.setProperty("--band-w", `${width}px`);
    super.chosen();
  }

  draw(frame, at) {
    const { frames, words } = this;
    const first = clamp(at - (CELLS >> 1), 0, Math.max(0, frames.length - CELLS));
    this.rows.forEach(({ band, may, arrived }, buffer) => {
      write(may, words[frame.buffers[buffer]]);
      write(arrived, words[["arrived", frame.arrived[buffer]].filter(Boolean).join("-")]);
      band.forEach((cell, place) => {
        const state = frames[first + place]?.buffers[buffer] ?? "none";
        const look = `tma-${state}${first + place === at ? " tma-now" : ""}`;
        if (cell.className !== look) cell.className = look;
      });
    });
    write(this.groups, frame.groups.join("; ") || words["no-groups"]);
  }

  keys() {
    const looks = { "legend-no": "tma-busy", "legend-read": "tma-read", "legend-yes": "tma-free" };
    return Object.entries(looks).map(([key, look]) => {
      const swatch = element("span", { class: "tma-band", "aria-hidden": "true" }, element("i", { class: look }));
      return element("li", {}, swatch, this.words[key]);
    });
  }
}

export default { render };
