/** Gradients over depth: the norm for each layer in forward order, on a logarithmic axis. */

import { element } from "../../dom/element.ts";
import { svgElement } from "../../dom/svg_element.ts";
import { type DepthPoint, gradientsOverDepth } from "../../model/gradients/gradient_depth.ts";
import { t } from "../../words/page.ts";
import { formatValue } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import { section } from "../facts/facts.ts";

const WIDTH_PX = 320;
const HEIGHT_PX = 150;
const LEFT_PX = 36;
const RIGHT_PX = 312;
const TOP_PX = 10;
const BASE_PX = 122;
/** With more points, the dots would merge into a band. */
const MOST_DOTS = 48;
const MOST_LINES = 5;

const SERIES = [
  { name: "flowing", key: "curve.flowing", dash: undefined },
  { name: "parameters", key: "curve.parameters", dash: "4 3" },
] as const;

/** Empty if too little was recorded for a curve. */
export function depthSection(context: PanelContext): HTMLElement[] {
  const { store, trace } = context;
  if (!store.gradients.isRecorded) return [];
  const call = store.state.backwardCall;
  const points = gradientsOverDepth(trace, store.hierarchy, store.gradients, call);
  if (points.length < 2) return [];
  const calls = trace.table("backward_calls").length;
  const note = calls > 1 ? t("curve.call", { n: call + 1, all: calls }) : "";
  return [section(t("curve.title"), note, depthCurve(context, points))];
}

function depthCurve({ store }: PanelContext, points: readonly DepthPoint[]): HTMLElement {
  const norms = points.flatMap(({ flowing, parameters }) => [flowing, parameters]);
  const positive = norms.filter((norm) => norm > 0);
  const least = Math.floor(Math.log10(Math.min(...positive, 1)));
  const low = positive.length ? Math.floor(Math.log10(Math.min(...positive))) : least;
  const high = positive.length ? Math.ceil(Math.log10(Math.max(...positive))) : low + 1;
  const [from, to] = [low, Math.max(high, low + 1)];
  const x = (at: number): number => LEFT_PX + ((RIGHT_PX - LEFT_PX) * (at + 0.5)) / points.length;
  const y = (norm: number): number =>
    norm > 0
      ? BASE_PX - 6 - ((BASE_PX - 6 - TOP_PX) * (Math.log10(norm) - from)) / (to - from)
      : BASE_PX;
  const cursor = svgElement("line", { class: "pdl-cursor", y1: TOP_PX - 4, y2: BASE_PX });
  const readout = element("div", { class: "pdl-readout" });
  const picture = svgElement(
    "svg",
    { class: "pdl-chart", viewBox: `0 0 ${WIDTH_PX} ${HEIGHT_PX}`, "aria-hidden": "true" },
    ...gridLines(from, to, y),
    svgElement("line", { class: "pdl-axis", x1: LEFT_PX, x2: RIGHT_PX, y1: BASE_PX, y2: BASE_PX }),
    cursor,
    ...SERIES.flatMap(({ name, dash }) => curve(points, name, dash, x, y)),
    ...points.flatMap((point, at) => (point.isBroken ? [cross(x(at), TOP_PX + 2)] : [])),
    svgElement("text", { x: LEFT_PX, y: BASE_PX + 14 }, t("curve.first")),
    svgElement("text", { x: RIGHT_PX, y: BASE_PX + 14, "text-anchor": "end" }, t("curve.last")),
  );
  let current = points.findIndex((point) => point.isBroken);
  current = current < 0 ? 0 : current;
  const chart = element(
    "div",
    {
      class: "pdl-depth",
      role: "slider",
      tabindex: 0,
      "aria-label": t("curve.label"),
      "aria-valuemin": 1,
      "aria-valuemax": points.length,
      title: t("curve.select"),
      onpointermove: (event: PointerEvent) => move(nearest(event)),
      onclick: (event: MouseEvent) => {
        move(nearest(event));
        select();
      },
      onkeydown: press,
    },
    picture,
  );
  move(current);
  return element(
    "div",
    { class: "pdl-figure" },
    chart,
    readout,
    element(
      "div",
      { class: "pdl-keys", "aria-hidden": "true" },
      t("gradient.norm"),
      ...SERIES.map(keyOf),
    ),
  );

  function nearest(event: MouseEvent): number {
    const bounds = picture.getBoundingClientRect();
    const at = ((event.clientX - bounds.left) / bounds.width) * WIDTH_PX;
    const share = (at - LEFT_PX) / (RIGHT_PX - LEFT_PX);
    return Math.max(0, Math.min(points.length - 1, Math.floor(share * points.length)));
  }

  function move(at: number): void {
    current = at;
    const point = points[at]!;
    for (const name of ["x1", "x2"]) cursor.setAttribute(name, x(at).toFixed(1));
    const parts = SERIES.filter(({ name }) => point[name] >= 0).map(
      ({ name, key }) => `${t(key)} ${formatValue(point[name])}`,
    );
    if (point.isBroken) parts.push(t("curve.broken"));
    readout.replaceChildren(element("strong", {}, point.label), ` ${parts.join(" · ")}`);
    chart.setAttribute("aria-valuenow", String(at + 1));
    chart.setAttribute("aria-valuetext", `${point.label} ${parts.join(" · ")}`);
  }

  function select(): void {
    const { group, op } = points[current]!;
    store.select(group >= 0 ? { kind: "group", group } : { kind: "op", op }, { reveal: true });
  }

  function press(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowRight: current + 1,
      ArrowUp: current + 1,
      ArrowLeft: current - 1,
      ArrowDown: current - 1,
      Home: 0,
      End: points.length - 1,
    };
    if (event.key in steps) move(Math.max(0, Math.min(points.length - 1, steps[event.key]!)));
    else if (event.key === "Enter" || event.key === " ") select();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function gridLines(from: number, to: number, y: (norm: number) => number): SVGElement[] {
  const step = Math.max(1, Math.ceil((to - from) / MOST_LINES));
  const lines: SVGElement[] = [];
  for (let decade = from; decade <= to; decade += step) {
    const at = y(10 ** decade);
    lines.push(
      svgElement("line", { class: "pdl-grid", x1: LEFT_PX, x2: RIGHT_PX, y1: at, y2: at }),
      svgElement(
        "text",
        { x: LEFT_PX - 4, y: at + 3.5, "text-anchor": "end" },
        decade === 0 ? "1" : `1e${decade}`.replace("-", "−"),
      ),
    );
  }
  return lines;
}

/** A line through the layers with a known norm; if they are few, also a dot or square for each. */
function curve(
  points: readonly DepthPoint[],
  name: "flowing" | "parameters",
  dash: string | undefined,
  x: (at: number) => number,
  y: (norm: number) => number,
): SVGElement[] {
  const known = points.flatMap((point, at) =>
    point[name] >= 0 ? [{ at, norm: point[name] }] : [],
  );
  const line = svgElement("polyline", {
    class: `pdl-curve pdl-curve-${name}`,
    points: known.map(({ at, norm }) => `${x(at).toFixed(1)},${y(norm).toFixed(1)}`).join(" "),
    "stroke-dasharray": dash,
  });
  if (known.length > MOST_DOTS) return [line];
  const dots = known.map(({ at, norm }) =>
    name === "flowing"
      ? svgElement("circle", { class: `pdl-dot-${name}`, cx: x(at), cy: y(norm), r: 2.6 })
      : svgElement("rect", {
          class: `pdl-dot-${name}`,
          x: x(at) - 2.3,
          y: y(norm) - 2.3,
          width: 4.6,
          height: 4.6,
        }),
  );
  return [line, ...dots];
}

function cross(x: number, y: number): SVGElement {
  return svgElement("path", {
    class: "pdl-broken",
    d: `M${x - 3} ${y - 3}l6 6m0-6l-6 6`,
  });
}

function keyOf({ name, key, dash }: (typeof SERIES)[number]): HTMLElement {
  const sample = svgElement(
    "svg",
    { viewBox: "0 0 22 8", width: 22, height: 8 },
    svgElement("line", {
      class: `pdl-curve pdl-curve-${name}`,
      x1: 0,
      x2: 22,
      y1: 4,
      y2: 4,
      "stroke-dasharray": dash,
    }),
  );
  return element("span", {}, sample, t(key));
}
