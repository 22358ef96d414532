/**
 * Colours for quantities and for dtypes, which people with any colour vision can tell apart.
 *
 * The ramp is viridis (Stéfan van der Walt, Nathaniel Smith; CC0): its lightness grows evenly. The
 * colours of dtypes are by Masataka Okabe and Kei Ito.
 */
import type { Difference } from "../../model/graph/comparison.ts";
import { mix } from "../scene/drawing_style.ts";

const VIRIDIS = ["#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725"];

const OF_DTYPE: Readonly<Record<string, string>> = {
  float32: "#56b4e9",
  float64: "#0072b2",
  float16: "#e69f00",
  bfloat16: "#d55e00",
  int64: "#009e73",
  int32: "#f0e442",
  bool: "#cc79a7",
};
const OF_DIFFERENCE: Readonly<Record<Exclude<Difference, "equal">, string>> = {
  inherited: "#f0e442",
  different: "#e69f00",
  introduced: "#d55e00",
  only_a: "#56b4e9",
  only_b: "#009e73",
};
const OTHER_DTYPE = "#8f8f8f";

/** The colour of a share from 0 to 1; large shares contrast most with the background. */
export function rampColour(share: number, ground: string): string {
  const place = (isDark(ground) ? share : 1 - share) * (VIRIDIS.length - 1);
  const at = Math.max(0, Math.min(VIRIDIS.length - 2, Math.floor(place)));
  return mix(VIRIDIS[at]!, VIRIDIS[at + 1]!, Math.round((place - at) * 50) / 50);
}

/** The colour of a share from -1 to 1: blue below zero, orange above, as the ground at zero. */
export function awayFromZero(share: number, ground: string): string {
  return mix(ground, share < 0 ? "#0072b2" : "#d55e00", Math.round(Math.abs(share) * 50) / 50);
}

export function dtypeColour(dtype: string): string {
  return OF_DTYPE[dtype] ?? OTHER_DTYPE;
}

/** The colour of a kind of difference. Ops without a difference have the plain colour of a box. */
export function differenceColour(kind: Difference, plain: string): string {
  return kind === "equal" ? plain : OF_DIFFERENCE[kind];
}

/** Black or white, whichever is read more easily: one of them always has a contrast above 4.5. */
export function inkOn(ground: string): string {
  return contrast(ground, "#000000") >= contrast(ground, "#ffffff") ? "#000000" : "#ffffff";
}

/** The contrast of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function isDark(ground: string): boolean {
  return luminance(ground) < 0.2;
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
