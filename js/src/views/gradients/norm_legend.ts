/**
 * The legend in a corner of the picture. It explains the width and colour of the edges of
 * gradients.
 */

import { element } from "../../dom/element.ts";
import { svgElement } from "../../dom/svg_element.ts";
import type { Store } from "../../model/state/store.ts";
import { t } from "../../words/page.ts";
import { NormInk } from "../paint/norm_ink.ts";

const SAMPLE_PX = 26;
const MOST_SAMPLES = 4;

/**
 * @param root the `.pdl-canvas` element
 * @returns a function that removes the legend
 */
export function mountNormLegend(root: HTMLElement, store: Store): () => void {
  const legend = element("div", { class: "pdl-norm-legend", hidden: true });
  root.append(legend);
  const unsubscribe = store.subscribe((state, previous) => {
    const names = ["mode", "showNorms", "backwardCall"] as const;
    if (names.some((name) => state[name] !== previous[name])) render();
  });
  render();

  function render(): void {
    const ink = NormInk.of(store);
    legend.hidden = !ink;
    legend.replaceChildren(...(ink ? [t("legend.norm"), ...samples(ink)] : []));
  }

  return () => {
    unsubscribe();
    legend.remove();
  };
}

function samples(ink: NormInk): HTMLElement[] {
  const { least, most } = ink.range;
  const step = Math.max(1, Math.ceil((most - least) / (MOST_SAMPLES - 1)));
  const decades: number[] = [];
  for (let decade = most; decade >= least; decade -= step) decades.unshift(decade);
  return decades.map((decade) => {
    const share = Math.round(100 * (0.4 + 0.6 * ink.share(decade)));
    const line = svgElement("line", { x1: 0, x2: SAMPLE_PX, y1: 4, y2: 4 });
    line.style.stroke = `color-mix(in srgb, var(--pdl-backward) ${share}%, var(--pdl-bg))`;
    line.style.strokeWidth = `${ink.width(decade).toFixed(1)}px`;
    return element(
      "span",
      {},
      svgElement("svg", { width: SAMPLE_PX, height: 8, "aria-hidden": "true" }, line),
      `1e${decade}`.replace("-", "−"),
    );
  });
}
