/** The meanings of colours in the icicle. */
import { element } from "../../dom/element.ts";
import type { ColourName } from "../../dom/theme.ts";
import { type PageKey, t } from "../../words/page.ts";

/** `undefined`: an outline without a colour. */
export const LEGEND: readonly (readonly [PageKey, ColourName | undefined])[] = [
  ["time.forward", "forward"],
  ["time.backward", "backward"],
  ["time.optimizer", "optimizer"],
  ["time.several", "soft"],
  ["time.outside_legend", undefined],
];

export function legendItems(): HTMLElement[] {
  return LEGEND.map(([key, colour]) =>
    element(
      "span",
      { class: "pdl-time-kind" },
      element("span", {
        class: colour ? "pdl-swatch" : "pdl-swatch pdl-dashed",
        style: colour
          ? `--pdl-swatch:color-mix(in srgb, var(--pdl-${colour}) 42%, var(--pdl-bg))`
          : "",
      }),
      t(key),
    ),
  );
}
