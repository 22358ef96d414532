/** The meanings of colours in the icicle. */
import type { ColourName } from "../../dom/theme.ts";
import { t } from "../../words/page.ts";
import type { LegendPart } from "../colour/legend_parts.ts";

/** @param colourOf the colour of a box of this kind */
export function timeLegend(colourOf: (name: ColourName) => string): LegendPart[] {
  const part = (colour: string, label: string): LegendPart => ({ kind: "swatch", colour, label });
  return [
    part(colourOf("forward"), t("time.forward")),
    part(colourOf("backward"), t("time.backward")),
    part(colourOf("optimizer"), t("time.optimizer")),
    part(colourOf("soft"), t("time.several")),
    { kind: "swatch", colour: "transparent", label: t("time.outside"), look: "dashed" },
  ];
}
