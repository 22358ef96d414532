/** A slice of a value as a heat map or as an image. */

import { element } from "../../../dom/element.ts";
import { readTheme } from "../../../dom/theme.ts";
import { t } from "../../../words/page.ts";
import { formatValue } from "../../../words/quantities.ts";
import { awayFromZero, rampColour } from "../../colour/ramp.ts";
import type { Value } from "../../facts/value_answer.ts";

const ROOM_PX = 300;
const LARGEST_PIXEL_PX = 14;
const LEAST_SIDE_PX = 14;

/**
 * @param values two values of one shape share their colours; a third is their difference
 * @param at which of them is drawn
 * @param jump shows the numbers from a row and a column on
 */
export function heatMap(
  values: readonly Value[],
  at: number,
  jump: (row: number, column: number) => void,
): HTMLElement[] {
  const { heat, pixels, steps, dtype } = values[at]!;
  const isDifference = at === 2;
  const alike = values.slice(0, 2).filter((one) => String(one.shape) === String(values[at]!.shape));
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const shown of isDifference ? [values[2]!] : alike) {
    for (const value of shown.heat) {
      if (!Number.isFinite(value)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  if (isDifference) [least, most] = [-Math.max(-least, most), Math.max(-least, most)];
  const theme = readTheme(document.querySelector<HTMLElement>(".pdl-app")!);
  // The colours of 101 steps from the smallest to the largest value. NaN has a colour of its own.
  const colours = Array.from({ length: 101 }, (_, step) =>
    isDifference ? awayFromZero(step / 50 - 1, theme.bg) : rampColour(step / 100, theme.bg),
  );
  const inks = [...colours, theme.warn].map((hex) => Number.parseInt(hex.slice(1, 7), 16));
  const canvas = drawn(pixels, (data) => {
    for (let index = 0; index < heat.length; index++) {
      const value = heat[index]!;
      const step = most > least ? Math.round((100 * (value - least)) / (most - least)) : 50;
      const ink = inks[Number.isFinite(value) ? step : 101]!;
      data[4 * index] = ink >> 16;
      data[4 * index + 1] = (ink >> 8) & 255;
      data[4 * index + 2] = ink & 255;
      data[4 * index + 3] = 255;
    }
  });
  const under = ({ offsetX, offsetY }: MouseEvent) => {
    const row = Math.floor((offsetY / canvas.offsetHeight) * pixels[0]);
    const column = Math.floor((offsetX / canvas.offsetWidth) * pixels[1]);
    return [row * steps[0], column * steps[1], heat[row * pixels[1] + column] ?? 0] as const;
  };
  canvas.addEventListener("pointermove", (event) => {
    const [row, column, value] = under(event);
    canvas.title = `[${row}, ${column}] ${formatValue(value)}`;
  });
  canvas.addEventListener("click", (event) => {
    const [row, column] = under(event);
    jump(row, column);
  });
  canvas.setAttribute("aria-label", t("value.heat"));
  const stops = colours.filter((_, step) => step % 10 === 0).join(", ");
  const ends = [least, most].map((end) => (dtype === "bool" ? String(end > 0) : formatValue(end)));
  const legend = element(
    "div",
    { class: "pdl-heat-legend" },
    most > least
      ? element(
          "span",
          {},
          `${ends[0]} `,
          element("i", { style: `--pdl-stops: ${stops}` }),
          ` ${ends[1]}`,
        )
      : most === least && t("value.all_equal", { value: ends[0]! }),
    !heat.every(Number.isFinite) && element("span", { class: "pdl-warn-text" }, t("value.broken")),
    Math.max(...steps) > 1 &&
      element("span", {}, t("value.means", { rows: steps[0], columns: steps[1] })),
  );
  return [canvas, legend];
}

export function image({ image: shown, channels }: Value): HTMLElement[] {
  const { axis, channels: count, is_scaled, ends, pixels } = shown!;
  const [black, white] = ends;
  const size = pixels[0] * pixels[1];
  const canvas = drawn(pixels, (data) => {
    for (let at = 0; at < size; at++) {
      for (let channel = 0; channel < 4; channel++) {
        const value = channels[(count === 1 ? 0 : channel) * size + at]!;
        const isGiven = channel < Math.max(3, count);
        data[4 * at + channel] = isGiven ? (255 * (value - black)) / (white - black) : 255;
      }
    }
  });
  canvas.setAttribute("aria-label", t("value.image"));
  const why = [t("value.why_image", { axis, n: count }), is_scaled && t("value.scaled")];
  return [canvas, element("div", { class: "pdl-soft" }, why.filter(Boolean).join(" "))];
}

/** A canvas with one pixel for each row and column, enlarged on the screen. */
function drawn(
  [rows, columns]: readonly [number, number],
  fill: (data: Uint8ClampedArray) => void,
): HTMLCanvasElement {
  const canvas = element("canvas", { width: columns, height: rows, role: "img" });
  const pixel = Math.min(LARGEST_PIXEL_PX, ROOM_PX / Math.max(rows, columns));
  canvas.style.width = `${Math.max(LEAST_SIDE_PX, columns * pixel)}px`;
  canvas.style.aspectRatio = `${columns} / ${rows}`;
  const ink = canvas.getContext("2d")!;
  const picture = ink.createImageData(columns, rows);
  fill(picture.data);
  ink.putImageData(picture, 0, 0);
  return canvas;
}
