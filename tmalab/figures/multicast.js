// Figure 7: a cluster, a mask, and one load that lands in several CTAs and credits the barrier of each.

import { element, sentence, write } from "./base.js";
import { drawn } from "./drawn.js";
import { EventsFigure } from "./events.js";

const CARD = 112; // pixels: a CTA's width
const GAP = 8; // pixels between two
const ROWS = 8; // of a tile, as it is drawn
const ROOT = 40; // pixels above the CTAs, for the way from global memory

function render({ model, el }) {
  const figure = new MulticastFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

/** A frame's `ctas` are [phase, pending, tx, landed, waiting], by rank. Those of the example are put together here. */
class MulticastFigure extends EventsFigure {
  constructor(model) {
    super(model, "tma-multicast", ["head-who", "head-does", "head-line"]);
    if (!this.example) return;
    for (const name of ["change:mask", "change:promises"]) {
      this.listeners[name] = () => this.chosen();
      model.on(name, this.listeners[name]);
    }
  }

  get example() {
    return this.data.example;
  }

  /** What is shown, with its mask, its bytes and who issued it. */
  get shown() {
    const shown = super.shown;
    if (!this.example) return shown;
    const [mask, promises] = [this.model.get("mask"), this.model.get("promises")];
    if (this.made !== `${mask} ${promises}`) {
      this.made = `${mask} ${promises}`;
      this.frames_ = this.example.steps.map((step, number) => this.frame(step, number, mask, promises));
    }
    return { ...shown, mask, issuer: 0, bytes: this.example.bytes, frames: this.frames_ };
  }

  get count() {
    return this.data.every[0].frames[0].ctas.length;
  }

  /** For the example two rows of switches, a bit for each CTA; for a run the loads, as in other figures. */
  chooser() {
    if (!this.example) return super.chooser();
    this.bits = { mask: new Bits(this, "mask"), promises: new Bits(this, "promises") };
    return [element("div", { class: "tma-bit-rows" }, this.bits.mask.node, this.bits.promises.node)];
  }

  picture() {
    const most = Math.max(...this.data.every.map(({ frames }) => frames[0].ctas.length));
    this.cards = Array.from({ length: most }, (_, rank) => new Card(this, rank));
    const width = most * (CARD + GAP) - GAP;
    this.ways = this.cards.map((_, rank) => {
      const x = rank * (CARD + GAP) + CARD / 2;
      return drawn("path", { d: `M${width / 2} 18V28H${x}V${ROOT}` });
    });
    const source = drawn("text", { x: width / 2, y: 12, text: this.words.source });
    const size = { class: "tma-ways", width, height: ROOT, "aria-hidden": "true" };
    const cards = element("div", { class: "tma-cards" }, ...this.cards.map(({ node }) => node));
    const sheet = element("div", {}, drawn("svg", size, ...this.ways, source), cards);
    return [element("div", { class: "tma-scroll" }, sheet)];
  }

  row({ who, did, line }) {
    return { cells: [who, did, line ?? ""] };
  }

  draw(frame) {
    const { mask, issuer, bytes } = this.shown;
    for (const bits of Object.values(this.bits ?? {})) bits.draw();
    this.cards.forEach((card, rank) => {
      const masked = Math.floor(mask / 2 ** rank) % 2 === 1;
      card.node.hidden = rank >= frame.ctas.length;
      this.ways[rank].setAttribute("class", masked ? "tma-way" : "tma-no-way");
      if (!card.node.hidden) card.draw(frame.ctas[rank], masked, rank === issuer, bytes);
    });
  }

  keys() {
    const swatch = (look) => element("span", { class: `tma-swatch ${look}`, "aria-hidden": "true" });
    return [
      ["legend-landed", "tma-came"],
      ["legend-missing", "tma-gone"],
    ].map(([key, look]) => element("li", {}, swatch(look), this.words[key]));
  }

  /** One step of the example. */
  frame(step, number, mask, promises) {
    const { words, example, count } = this;
    const all = 2 ** count - 1;
    const values = { ...example.values[number], mask: `0b${mask.toString(2).padStart(count, "0")}` };
    const doers = { init: this.named(all), promise: this.named(promises), issue: this.named(1), end: words["nothing-more"] };
    return {
      who: doers[step] ?? words.load,
      did: sentence(words[`did-${step}`], values),
      line: null,
      ctas: Array.from({ length: count }, (_, rank) => example.histories[(mask >> rank) & 1][(promises >> rank) & 1][number]),
      says: this.says(step, values, mask, promises),
    };
  }

  says(step, values, mask, promises) {
    const { words } = this;
    if (step === "end") {
      const groups = { complete: mask & promises, hungry: promises & ~mask, unpromised: mask & ~promises };
      const said = Object.entries(groups).filter(([, group]) => group);
      const each = ([name, group]) => sentence(words[`end-${name}`], { ...values, ctas: this.named(group) });
      return said.map(each).join(" ") || words["end-nothing"];
    }
    const concerned = { init: 2 ** this.count - 1, promise: promises }[step] ?? mask;
    const key = concerned ? step : `${step}-none`;
    return sentence(words[key], { ...values, ctas: this.named(concerned) });
  }

  /** The CTAs of a mask, in words. */
  named(mask) {
    const ranks = Array.from({ length: this.count }, (_, rank) => rank).filter((rank) => (mask >> rank) & 1);
    return ranks.length ? sentence(this.words.ctas, { ranks: ranks.join(", ") }) : this.words.nobody;
  }
}

/** A row of check boxes, a bit for each CTA. */
class Bits {
  constructor(figure, name) {
    Object.assign(this, { figure, name });
    this.legend = element("legend");
    this.inputs = Array.from({ length: figure.count }, (_, rank) => {
      const input = element("input", { type: "checkbox" });
      input.addEventListener("change", () => figure.set({ [name]: figure.model.get(name) ^ (1 << rank) }));
      return input;
    });
    const labels = this.inputs.map((input, rank) =>
      element("label", {}, input, element("span", { text: sentence(figure.words.cta, { rank }) })),
    );
    this.node = element("fieldset", { class: "tma-switch" }, this.legend, ...labels);
  }

  draw() {
    const value = this.figure.model.get(this.name);
    const mask = `0b${value.toString(2).padStart(this.inputs.length, "0")}`;
    write(this.legend, sentence(this.figure.words[this.name], { mask }));
    this.inputs.forEach((input, rank) => (input.checked = ((value >> rank) & 1) === 1));
  }
}

/** One CTA: what has landed of the load, and its barrier. */
class Card {
  constructor(figure, rank) {
    Object.assign(this, { words: figure.words, rank });
    this.title = element("strong");
    this.bit = element("span", { class: "tma-bit" });
    this.rows = Array.from({ length: ROWS }, () => element("i"));
    this.lines = Array.from({ length: 5 }, () => element("span"));
    const tile = element("div", { class: "tma-landing", "aria-hidden": "true" }, ...this.rows);
    this.node = element("div", { class: "tma-card" }, this.title, this.bit, tile, ...this.lines);
  }

  draw([phase, pending, tx, landed, waiting], masked, issues, bytes) {
    const { words, rank } = this;
    const values = { rank, phase, pending, count: waiting };
    for (const [name, value] of Object.entries({ tx, landed })) values[name] = value.toLocaleString("en");
    write(this.title, sentence(issues ? words.issuer : words.cta, values));
    write(this.bit, sentence(masked ? words.masked : words.unmasked, values));
    this.node.toggleAttribute("data-out", !masked);
    const filled = Math.round((ROWS * landed) / bytes);
    this.rows.forEach((row, at) => (row.className = !masked ? "" : at < filled ? "tma-came" : "tma-gone"));
    const keys = [masked ? "landed" : "nothing-comes", "phase", "pending", "tx", waiting ? "waiting" : null];
    keys.forEach((key, at) => write(this.lines[at], key ? sentence(words[key], values) : ""));
  }
}

export default { render };
