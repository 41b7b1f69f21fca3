// What figure 1 says of a sector: what it holds, where it lies and why, in words and as the bits of its address.

import { bitsOf, hexadecimal, sentence } from "./base.js";

/** What a sector of the tile holds. */
export function source(figure, index) {
  const place = figure.placeOf(index);
  const outside = figure.outside(place);
  const key = outside === 1 ? "sector-outside" : outside ? "sector-partly" : "sector-inside";
  const [row, sector] = figure.numbersOf(index);
  return sentence(figure.words[key], { row, sector, ...elements(figure, place) });
}

/** Where a sector of the tile lies, and what the XOR has to do with it. */
export function destination(figure, index) {
  const { mode, places, shared, words } = figure;
  if (!places) return sentence(words["place-refused"], mode);
  const [logical, physical] = [places.logical[index], places.physical[index]];
  const [line, place] = shared.cellOf(physical);
  const where = { physical: hexadecimal(physical), line, place };
  if (!mode.high) return sentence(words["place-plain"], where);
  const bits = {
    taken: bitsOf(logical, mode.high + mode.shift, mode.low + mode.shift),
    before: bitsOf(logical, mode.high, mode.low),
    after: bitsOf(physical, mode.high, mode.low),
  };
  const key = bits.taken.includes("1") ? "place-moved" : "place-kept";
  return sentence(words[key], { ...mode, ...where, ...bits, logical: hexadecimal(logical) });
}

/** What is said of a place that no sector of the tile has to do with. */
export function elsewhere(figure, { place, address }) {
  const { words } = figure;
  if (!place) return sentence(words.gap, { address: hexadecimal(address) });
  return sentence(words[figure.outside(place) === 1 ? "nothing-there" : "not-in-tile"], elements(figure, place));
}

function elements({ data }, [row, sector]) {
  const first = sector * data.per;
  return { y: row, first, last: first + data.per - 1, columns: data.columns, fill: data.fill };
}

/** Show a sector's address bit by bit: without the swizzle, what is XORed into it, and what comes out. */
export function showBits(strip, { data, mode, places, words }, index) {
  const [logical, physical] = [places.logical[index], places.physical[index]];
  const { high, low, shift, xor } = mode;
  const within = (bit, by) => high > 0 && bit >= low + by && bit <= high + by;
  const changed = (bit) => (within(bit, 0) ? "tma-changed" : "");
  const label = (key, address) => sentence(words[key], { address: hexadecimal(address) });
  const rows = [
    { label: words["bits-number"], bit: (bit) => bit, head: true },
    {
      label: label("bits-logical", logical),
      bit: (bit) => bitsOf(logical, bit, bit),
      mark: (bit) => (within(bit, shift) ? "tma-taken" : changed(bit)),
    },
    { label: xor, bit: (bit) => (within(bit, 0) ? bitsOf(logical, bit + shift, bit + shift) : ""), mark: changed },
    { label: label("bits-physical", physical), bit: (bit) => bitsOf(physical, bit, bit), mark: changed },
  ];
  strip.show(Math.max(9, Math.floor(Math.log2(data.shared_address + places.shared_bytes - 1))), rows);
}
