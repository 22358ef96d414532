/** Samples of what the picture is made of, each with its meaning. */
import { element } from "./element.ts";

const SVG = "http://www.w3.org/2000/svg";

type Shape = readonly [tag: "rect" | "path", attributes: Readonly<Record<string, string | number>>];

/** As drawing_style.ts has it: `share` of a colour in the ground. */
const tint = (colour: string, share: number) =>
  `color-mix(in srgb, ${colour} ${share}%, var(--pdl-bg))`;
const box = (name: string, more: Record<string, string | number> = {}): Shape => {
  const colour = `var(--pdl-${name})`;
  const look = { fill: tint(colour, 4), stroke: tint(colour, 85), "stroke-width": 1.3 };
  return ["rect", { x: 4, y: 4, width: 38, height: 16, rx: 5, ...look, ...more }];
};
const group = (more: Record<string, string | number> = {}): Shape =>
  box("forward", {
    fill: tint("var(--pdl-forward)", 9),
    stroke: tint("var(--pdl-forward)", 60),
    ...more,
  });
const CHEVRON: Shape = [
  "path",
  { d: "M10 8.5l4 3.5l-4 3.5", fill: "none", stroke: "var(--pdl-forward)", "stroke-width": 1.5 },
];
const line = (name: string, more: Record<string, string | number> = {}): Shape => [
  "path",
  { d: "M4 12H42", fill: "none", stroke: `var(--pdl-${name})`, "stroke-width": 1.6, ...more },
];
const ring = (colour: string, more: Record<string, string | number> = {}): Shape => [
  "rect",
  { x: 1, y: 1, width: 44, height: 22, rx: 8, fill: "none", stroke: colour, ...more },
];

const SAMPLES: readonly (readonly [shapes: readonly Shape[], meaning: string])[] = [
  [[box("forward")], "an op"],
  [[box("backward")], "a grad node, beside its op in the ladder"],
  [[box("optimizer")], "an op of the optimizer"],
  [[group(), CHEVRON], "a layer's call: open it to see its ops"],
  [
    [
      group({ x: 7, y: 8, width: 32 }),
      group({ y: 3 }),
      ["path", { ...CHEVRON[1], d: "M10 7.5l4 3.5l-4 3.5" }],
    ],
    "equal layers, folded: “layers.0–11 ×12”",
  ],
  [[box("forward"), box("forward", { x: 7, y: 7, width: 32, height: 10, rx: 3 })], "a PyLayer"],
  [
    [box("soft", { fill: "var(--pdl-frame)", "stroke-dasharray": "4 3" })],
    "a region that you named",
  ],
  [[box("leaf", { x: 10, width: 26, rx: 8 })], "a parameter, a buffer, a gradient's leaf"],
  [[box("soft", { x: 10, width: 26, rx: 8, "stroke-dasharray": "3 2" })], "data, a constant"],
  [[box("warn", { fill: tint("var(--pdl-warn)", 14) })], "it raised, or changed a tensor in place"],
  [
    [ring("var(--pdl-select)", { "stroke-width": 2 }), box("forward", { fill: "var(--pdl-lit)" })],
    "selected",
  ],
  [
    [box("forward", { fill: "var(--pdl-lit)", "stroke-width": 2.2 })],
    "belongs to the selection: its pair, its line",
  ],
  [[ring("var(--pdl-soft)", { "stroke-dasharray": "4 3" }), box("forward")], "found by the search"],
  [[line("forward")], "a tensor"],
  [[line("backward")], "a gradient"],
  [[line("detach", { "stroke-dasharray": "2 3" })], "a value without its gradient (detach)"],
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
    ["height", 24],
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
