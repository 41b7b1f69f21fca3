// Figure 4: an mbarrier as a clock of arrivals and bytes.

import { element, sentence, write } from "./base.js";
import { drawn } from "./drawn.js";
import { EventsFigure } from "./events.js";

const SIZE = 210; // pixels of the dial
const OUTER = 92; // radius of the ring of bytes
const INNER = 70; // radius of the ring of arrivals
const MANY = 32; // arrivals that are no longer drawn one by one

function render({ model, el }) {
  const figure = new MbarrierFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

class MbarrierFigure extends EventsFigure {
  constructor(model) {
    super(model, "tma-clock", ["head-who", "head-does", "head-pending", "head-tx", "head-line"]);
  }

  picture() {
    this.dial = new Dial();
    this.facts = ["arrivals", "bytes", "waits-head"].map((key) => {
      const value = element("dd", {});
      return { value, node: element("div", {}, element("dt", { text: this.words[key] }), value) };
    });
    return [this.dial.node, element("dl", { class: "tma-facts" }, ...this.facts.map(({ node }) => node))];
  }

  row({ who, did, line, pending, tx, completes }) {
    const cells = [who, did, pending, tx.toLocaleString("en"), line ?? ""];
    return { cells, look: completes ? "tma-strong" : "" };
  }

  draw(frame) {
    const { words } = this;
    const values = { ...frame, arrived: frame.expected - frame.pending, parity: frame.phase % 2 };
    for (const name of ["promised", "delivered", "tx"]) values[name] = frame[name].toLocaleString("en");
    this.dial.show(frame, sentence(words.dial, values), [
      sentence(words.phase, values),
      sentence(words.parity, values),
      frame.completes ? sentence(words.complete, { before: frame.phase - 1 }) : "",
    ]);
    const landed = frame.promised || frame.delivered ? "landed" : "no-bytes";
    const waits = frame.waits.map(([who, phase, line]) =>
      sentence(words[line === null ? "waits-row" : "waits-row-line"], { who, phase, line }),
    );
    const texts = [sentence(words.arrived, values), sentence(words[landed], values), waits.join("; ")];
    this.facts.forEach(({ value }, place) => write(value, texts[place] || words["nobody-waits"]));
  }

  keys() {
    return ["legend-arrivals", "legend-bytes"].map((key) => element("li", { text: this.words[key] }));
  }
}

/** The dial: arrivals as pieces of the inner ring, bytes along the outer one. */
class Dial {
  constructor() {
    this.bytes = [ring(OUTER, "tma-ring"), ring(OUTER, "tma-promised"), ring(OUTER, "tma-landed")];
    this.pieces = drawn("g");
    this.lines = [-8, 16, 36].map((y, line) => drawn("text", { y, class: line ? "tma-small" : "tma-large" }));
    const middle = `translate(${SIZE / 2} ${SIZE / 2})`;
    const all = drawn("g", { transform: middle }, ...this.bytes, this.pieces, ...this.lines);
    this.node = drawn("svg", { class: "tma-dial", width: SIZE, height: SIZE, role: "img" }, all);
  }

  show({ expected, pending, promised, delivered }, label, lines) {
    this.node.setAttribute("aria-label", label);
    const whole = Math.max(promised, delivered) || 1;
    part(this.bytes[1], promised / whole);
    part(this.bytes[2], delivered / whole);
    this.lines.forEach((node, line) => write(node, lines[line]));
    const count = Math.min(expected, MANY);
    if (this.count !== count) {
      this.count = count;
      this.pieces.replaceChildren(...Array.from({ length: count }, (_, place) => piece(place, count)));
    }
    const made = Math.round(((expected - pending) / (expected || 1)) * count);
    [...this.pieces.children].forEach((node, place) => {
      const look = place < made ? "tma-made" : "tma-pending";
      if (node.getAttribute("class") !== look) node.setAttribute("class", look);
    });
  }
}

function ring(r, look) {
  return drawn("circle", { r, class: look, pathLength: 1, transform: "rotate(-90)" });
}

/** Show so much (0 to 1) of a ring. */
function part(node, share) {
  const dashes = node.classList.contains("tma-promised") ? dotted(share) : `${share} 1`;
  if (node.getAttribute("stroke-dasharray") !== dashes) node.setAttribute("stroke-dasharray", dashes);
}

/** Dots along a share of the ring, then nothing. */
function dotted(share) {
  const dots = Math.round(share * 60);
  return dots ? `${"0.006 0.01067 ".repeat(dots)}0 1` : "0 1";
}

/** One arrival's piece of the inner ring, as an outline that can be filled. */
function piece(place, count) {
  const gap = count > 1 ? 0.05 : 0;
  const [from, to] = [place / count, (place + 1) / count].map((turn) => turn * 2 * Math.PI - Math.PI / 2);
  const [start, stop] = [from + gap / 2, to - gap / 2 - (count > 1 ? 0 : 0.0001)];
  const at = (angle, r) => `${(r * Math.cos(angle)).toFixed(2)} ${(r * Math.sin(angle)).toFixed(2)}`;
  const far = stop - start > Math.PI ? 1 : 0;
  const [low, high] = [INNER - 6, INNER + 6];
  const outline = `M${at(start, high)}A${high} ${high} 0 ${far} 1 ${at(stop, high)}L${at(stop, low)}`;
  return drawn("path", { d: `${outline}A${low} ${low} 0 ${far} 0 ${at(start, low)}Z` });
}

export default { render };
