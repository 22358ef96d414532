/** The sign of a severity as an element: the same shape as in the picture, and the word. */

import { element } from "../../dom/element.ts";
import { svgElement } from "../../dom/svg_element.ts";
import type { Severity } from "../../model/graph/findings.ts";
import { t } from "../../words/page.ts";

const SHAPES: Readonly<Record<Severity, readonly [shape: string, sign: string]>> = {
  error: ["M5 1.2h6l3.8 3.8v6l-3.8 3.8H5L1.2 11V5z", "M5.5 5.5l5 5m0-5l-5 5"],
  warning: ["M8 1.4l7 12.8H1z", "M8 6v4M8 12v.6"],
  info: ["M8 1.2a6.8 6.8 0 1 0 0 13.6a6.8 6.8 0 1 0 0-13.6z", "M8 7.2v4.3M8 4.4v.6"],
};

export function severitySign(severity: Severity, withWord: boolean): HTMLElement {
  const [shape, sign] = SHAPES[severity];
  const word = t(`severity.${severity}`);
  return element(
    "span",
    { class: "pdl-severity", "data-severity": severity },
    svgElement(
      "svg",
      { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" },
      svgElement("path", { d: shape, class: "pdl-severity-shape" }),
      svgElement("path", { d: sign, class: "pdl-severity-cut" }),
    ),
    withWord ? word : element("span", { class: "pdl-visually-hidden" }, word),
  );
}
