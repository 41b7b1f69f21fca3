// The right side of figure 2: shared memory as in figure 1, with the names of its groups and swizzle atoms beside it.

import { element, hexadecimal } from "./base.js";
import { SharedPanel } from "./tile_shared.js";

export class GroupedShared extends SharedPanel {
  filled(mode, places) {
    const parts = super.filled(mode, places);
    const sheet = this.grid.node.parentNode;
    for (const { name, first, lines, atom } of places.marks) {
      const height = Math.min(lines, places.drawn_lines - first);
      if (height <= 0) continue;
      const mark = element("div", { class: `tma-mark${atom ? " tma-atom" : ""}` }, element("span", { text: name }));
      mark.style.setProperty("--y", first);
      mark.style.setProperty("--h", height);
      sheet.append(mark);
    }
    return parts;
  }

  written(address) {
    return hexadecimal(address);
  }
}
