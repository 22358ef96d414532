/** Builds SVG elements, like `element.ts` builds HTML elements. */

const SVG = "http://www.w3.org/2000/svg";

export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number | undefined>> = {},
  ...children: (Node | string | false)[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      node.setAttribute(name, typeof value === "number" ? String(rounded(value)) : value);
    }
  }
  node.append(...children.filter((child) => child !== false));
  return node;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
