// SVG in the browser: elements, and what changes of them.

/** A new SVG element: attributes by name, `text` for its text, then its children. */
export function drawn(tag, { text, ...attributes } = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  change(node, attributes);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

/** Set attributes of an element. */
export function change(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}
