/** What a legend of colours says, on screen and in an exported picture. */
import type { Theme } from "../../dom/theme.ts";
import { t } from "../../words/page.ts";
import { isSummed } from "./box_values.ts";
import type { ColourInk } from "./colour_ink.ts";
import { quantityText } from "./quantity_text.ts";
import { dtypeColour, rampColour } from "./ramp.ts";

export type LegendPart =
  | { kind: "ramp"; least: string; most: string; colourAt(share: number): string }
  | { kind: "swatch"; colour: string; label: string; isHatched: boolean };

/** "Host time · closed groups: sum · logarithmic". */
export function legendTitle(ink: ColourInk): string {
  const { name, scale } = ink;
  const groups = isSummed(name) ? "colour.summed" : "colour.largest";
  return [
    t(`colour.${name}`),
    name !== "dtype" && t(groups),
    scale && scale.most > scale.least && t(scale.isLogarithmic ? "colour.log" : "colour.linear"),
  ]
    .filter(Boolean)
    .join(" · ");
}

export function legendParts(ink: ColourInk, theme: Theme): LegendPart[] {
  const { name, scale, dtypes, hasSeveral, unknownCount } = ink;
  const swatch = (colour: string, label: string, isHatched = false): LegendPart => ({
    kind: "swatch",
    colour,
    label,
    isHatched,
  });
  const parts: LegendPart[] = dtypes.map((dtype) => swatch(dtypeColour(dtype), dtype));
  if (hasSeveral) parts.push(swatch(theme.chip, t("colour.several")));
  if (scale?.isLogarithmic && scale.hasZero) {
    parts.push(swatch(theme.chip, quantityText(name, 0)));
  }
  if (scale && scale.most > scale.least) {
    parts.push({
      kind: "ramp",
      least: quantityText(name, scale.least),
      most: quantityText(name, scale.most),
      colourAt: (share) => rampColour(share, theme.bg),
    });
  } else if (scale) {
    parts.push(swatch(ink.colourOf(scale.most, theme), quantityText(name, scale.most)));
  }
  if (unknownCount) parts.push(swatch(theme.bg, t("colour.unknown", { n: unknownCount }), true));
  return parts;
}
