/** Samples of what the picture is made of, each with its meaning. */
import { element } from "./element.ts";

const SVG = "http://www.w3.org/2000/svg";

type Shape = readonly [tag: "rect" | "path", attributes: Readonly<Record<string, string | number>>];

const box = (colour: string, more: Record<string, string | number> = {}): Shape => [
  "rect",
  { x: 3, y: 3, width: 38, height: 16, rx: 5, fill: "var(--pdl-bg)", stroke: colour, ...more },
];
const line = (colour: string, more: Record<string, string | number> = {}): Shape => [
  "path",
  { d: "M3 11H41", fill: "none", stroke: colour, "stroke-width": 1.5, ...more },
];

const SAMPLES: readonly (readonly [shapes: readonly Shape[], meaning: string])[] = [
  [[box("var(--pdl-forward)")], "an op"],
  [[box("var(--pdl-backward)")], "a grad node; in the ladder, on the row of its op"],
  [[box("var(--pdl-optimizer)")], "an optimizer's op"],
  [
    [
      box("var(--pdl-forward)"),
      box("var(--pdl-forward)", { x: 6, y: 6, width: 32, height: 10, rx: 3 }),
    ],
    "a PyLayer: open it to see its ops",
  ],
  [
    [
      box("var(--pdl-line)", { x: 7, y: 1, width: 36 }),
      box("var(--pdl-soft)", { x: 2, y: 5, width: 36, fill: "var(--pdl-frame)" }),
    ],
    "equal layers, folded: “layers.0–11 ×12”",
  ],
  [[box("var(--pdl-line)", { fill: "var(--pdl-frame)" })], "a layer's call"],
  [
    [box("var(--pdl-soft)", { fill: "var(--pdl-frame)", "stroke-dasharray": "4 3" })],
    "a region that you named",
  ],
  [
    [box("var(--pdl-leaf)", { x: 9, width: 26, rx: 8, fill: "var(--pdl-chip)" })],
    "a parameter, a constant, or a gradient's leaf",
  ],
  [
    [
      box("var(--pdl-warn)", {
        fill: "color-mix(in srgb, var(--pdl-warn) 16%, var(--pdl-bg))",
      }),
    ],
    "it raised, or changed a tensor in place",
  ],
  [
    [box("var(--pdl-forward)", { fill: "var(--pdl-lit)", "stroke-width": 2.5 })],
    "selected, or paired with it",
  ],
  [[line("var(--pdl-forward)")], "a tensor"],
  [[line("var(--pdl-backward)")], "a gradient"],
  [
    [line("var(--pdl-detach)", { "stroke-dasharray": "4 4" })],
    "a value without its gradient (detach)",
  ],
];

export function legend(): HTMLElement {
  const rows = element("dl");
  for (const [shapes, meaning] of SAMPLES) {
    rows.append(element("dt", {}, sample(shapes)), element("dd", {}, meaning));
  }
  return rows;
}

function sample(shapes: readonly Shape[]): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [
    ["width", 46],
    ["height", 22],
    ["aria-hidden", "true"],
  ] as const) {
    svg.setAttribute(name, String(value));
  }
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, String(value));
    svg.append(shape);
  }
  return svg;
}
