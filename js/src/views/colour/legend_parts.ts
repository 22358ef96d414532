/** The content of a legend of colours, on screen and in an exported picture. */
import { element } from "../../dom/element.ts";
import type { Theme } from "../../dom/theme.ts";
import { DIFFERENCES } from "../../model/graph/comparison.ts";
import { t } from "../../words/page.ts";
import { differenceText } from "../names/difference.ts";
import { isSummed } from "./box_values.ts";
import type { ColourInk } from "./colour_ink.ts";
import { quantityText } from "./quantity_text.ts";
import { differenceColour, dtypeColour, rampColour } from "./ramp.ts";

export type LegendPart =
  | { kind: "ramp"; least: string; most: string; colourAt(share: number): string }
  | { kind: "swatch"; colour: string; label: string; look?: "hatched" | "dashed" };

/** "Host time · closed groups: sum · logarithmic". */
export function legendTitle(ink: ColourInk): string {
  const { name, scale } = ink;
  const groups = isSummed(name)
    ? "colour.summed"
    : name === "difference"
      ? "difference.worst"
      : "colour.largest";
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
  const swatch = (colour: string, label: string): LegendPart => ({ kind: "swatch", colour, label });
  const parts: LegendPart[] = dtypes.map((dtype) => swatch(dtypeColour(dtype), dtype));
  for (const kind of ink.differences) {
    parts.push(
      swatch(differenceColour(kind, theme.chip), differenceText(DIFFERENCES.indexOf(kind))),
    );
  }
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
  const label = t("colour.unknown", { n: unknownCount });
  if (unknownCount) parts.push({ kind: "swatch", colour: theme.bg, label, look: "hatched" });
  return parts;
}

const STEPS = 12;

/** A legend's parts in the page. */
export function legendElements(parts: readonly LegendPart[]): HTMLElement[] {
  return parts.map((part) => {
    if (part.kind === "swatch") {
      const look = part.look ? ` pdl-${part.look}` : "";
      const style = `--pdl-swatch: ${part.colour}`;
      return element("span", {}, element("i", { class: `pdl-swatch${look}`, style }), part.label);
    }
    const colours = Array.from({ length: STEPS + 1 }, (_, step) => part.colourAt(step / STEPS));
    const style = `--pdl-ramp: ${colours.join(",")}`;
    return element("span", {}, part.least, element("i", { class: "pdl-ramp", style }), part.most);
  });
}
