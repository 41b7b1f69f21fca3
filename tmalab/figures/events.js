// What figures have in common that walk through events: a picture of what the shown event left, the list, the sentence.
// Python has worked out every frame and every sentence.

import { element, keepKeys, radioSwitch, sentence, speech, write } from "./base.js";
import { Steps } from "./steps.js";

const SWITCHED = 6; // things that get a button each; more are chosen from a menu

/**
 * Traits: `choice`, whose events are shown, and `step`, which one. `data.every` is [{name, frames}].
 *
 * A figure has row(frame), the cells and the look of a line; picture(), the node on the left; draw(frame, at).
 */
export class EventsFigure {
  constructor(model, look, heads) {
    Object.assign(this, { model, data: model.get("data"), words: model.get("words") });
    const { words } = this;
    const rowOf = (index) => this.row(this.frames[index]);
    const change = (step) => this.set({ step });
    this.steps = new Steps({ words, heads: heads.map((key) => words[key]), rowOf, change });
    this.title = element("h4", {});
    this.speech = speech("");
    const left = element("div", { class: "tma-panel" }, this.title, ...this.picture());
    const right = element("div", { class: "tma-panel" }, this.steps.events, this.steps.controls, this.speech.node);
    const group = { class: `tma tma-events ${look}`, role: "group", lang: words.lang, "aria-label": words.figure };
    this.node = element("div", group, ...this.chooser(), element("div", { class: "tma-panels" }, left, right));
    this.node.append(this.legend());
    keepKeys(this.node);
    this.listeners = { "change:choice": () => this.chosen(), "change:step": () => this.show() };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.chosen();
  }

  close() {
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }

  set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  get shown() {
    return this.data.every[this.model.get("choice")];
  }

  get frames() {
    return this.shown.frames;
  }

  /** Buttons for a few, a menu for many, nothing for one. */
  chooser() {
    const names = this.data.every.map(({ name }) => name);
    const choose = (index) => this.set({ step: 0, choice: Number(index) });
    if (names.length < 2) return [];
    if (names.length <= SWITCHED) {
      const options = names.map((label, value) => ({ value, label }));
      this.choice = radioSwitch(this.words.which, options, choose);
      return [this.choice.node];
    }
    const options = names.map((text, value) => element("option", { value, text }));
    const menu = element("select", { class: "tma-menu" }, ...options);
    menu.addEventListener("change", () => choose(menu.value));
    this.choice = { choose: (index) => (menu.value = index) };
    return [element("label", { class: "tma-chooser", text: `${this.words.which} ` }, menu)];
  }

  chosen() {
    this.choice?.choose(this.model.get("choice"));
    write(this.title, sentence(this.words.title, this.shown));
    this.steps.events.toggleAttribute("data-no-lines", !this.frames.some(({ line }) => line));
    this.steps.load(this.frames.length, this.model.get("step"));
    this.show();
  }

  show() {
    const at = Math.min(this.model.get("step"), this.frames.length - 1);
    this.steps.show(at);
    this.draw(this.frames[at], at);
    this.speech.say(this.frames[at].says);
  }

  legend() {
    const lines = [...this.data.notes, this.words.hint].map((text) => element("li", { text }));
    return element("ul", { class: "tma-legend" }, ...this.keys(), ...lines);
  }

  /** The key to the picture: list items. */
  keys() {
    return [];
  }
}
