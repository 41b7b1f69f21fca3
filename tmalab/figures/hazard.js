// Figure 8: a hazard. Python draws lanes, edges and memory; here an event is ringed, and the edge is drawn or not.

import { element, radioSwitch, write } from "./base.js";
import { drawn } from "./drawn.js";
import { EventsFigure } from "./events.js";

function render({ model, el }) {
  const figure = new HazardFigure(model);
  el.append(figure.node);
  return () => figure.close();
}

class HazardFigure extends EventsFigure {
  constructor(model) {
    super(model, "tma-view", ["head-who", "head-does", "head-line"]);
  }

  get scene() {
    return this.data.scenes[this.model.get("choice")];
  }

  picture() {
    this.svg = drawn("svg", { role: "img" });
    this.why = element("p", { class: "tma-why" });
    this.fix = element("p", { class: "tma-fix" });
    this.edge = radioSwitch(this.words.edge, this.edges(), (value) => this.order(value));
    return [this.edge.node, element("div", { class: "tma-scroll" }, this.svg), this.why, this.fix];
  }

  edges() {
    const keys = ["as-it-is", "with-fix"];
    return keys.map((key) => ({ value: key, label: this.words[key] }));
  }

  row({ who, did, line, letter }) {
    return { cells: [who, did, line ?? ""], look: letter ? "tma-strong" : "" };
  }

  chosen() {
    const { scene } = this;
    const hatch = { id: scene.hatch, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    const line = drawn("path", { d: "M0 0V5", class: "tma-hatching" });
    const defs = drawn("defs", {}, drawn("pattern", hatch, line));
    const picture = drawn("g");
    picture.innerHTML = scene.picture; // Python's own drawing: names in it are escaped
    this.svg.replaceChildren(drawn("style", { text: scene.style }), defs, picture);
    for (const [name, value] of Object.entries({ width: scene.width, height: scene.height })) {
      this.svg.setAttribute(name, value);
    }
    this.svg.setAttribute("viewBox", `0 0 ${scene.width} ${scene.height}`);
    this.svg.setAttribute("aria-label", [scene.why, ...scene.edge.slice(0, 1)].join(" "));
    this.events = this.frames.map((_, at) => this.svg.querySelector(`.e${at}`));
    this.events.forEach((node, at) => node.addEventListener("pointerdown", () => this.steps.go(at)));
    write(this.why, scene.why);
    write(this.fix, scene.fix);
    this.edge.node.hidden = !scene.edge.length;
    this.order("as-it-is", false);
    super.chosen();
  }

  /** The edge as it is, missing, or as the fix draws it. */
  order(value, speak = true) {
    this.edge.choose(value);
    this.svg.toggleAttribute("data-fixed", value === "with-fix");
    if (speak) this.speech.say(this.scene.edge[value === "with-fix" ? 1 : 0]);
  }

  draw(frame, at) {
    this.ringed?.classList.remove("tma-now");
    this.ringed = this.events[at];
    this.ringed.classList.add("tma-now");
  }
}

export default { render };
