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
  const finite = (isDifference ? [...heat] : alike.flatMap((one) => [...one.heat])).filter(
    Number.isFinite,
  );
  let [least, most] = [0, 0];
  if (finite.length) [least, most] = [Math.min(...finite), Math.max(...finite)];
  if (isDifference) [least, most] = [-Math.max(-least, most), Math.max(-least, most)];
  const theme = readTheme(document.querySelector<HTMLElement>(".pdl-app")!);
  const share = (value: number): number => (most > least ? (value - least) / (most - least) : 0.5);
  const colour = (at: number): string =>
    isDifference ? awayFromZero(at * 2 - 1, theme.bg) : rampColour(at, theme.bg);
  const canvas = drawn(pixels, (data) => {
    for (const [index, value] of heat.entries()) {
      const hex = Number.isFinite(value) ? colour(share(value)) : theme.warn;
      const rgb = Number.parseInt(hex.slice(1, 7), 16);
      data.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255], 4 * index);
    }
  });
  const under = (event: MouseEvent): [row: number, column: number] => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [
      Math.min(
        pixels[0] - 1,
        Math.max(0, Math.floor(((event.clientY - top) / height) * pixels[0])),
      ),
      Math.min(
        pixels[1] - 1,
        Math.max(0, Math.floor(((event.clientX - left) / width) * pixels[1])),
      ),
    ];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [row, column] = under(event);
    const place = `[${row * steps[0]}, ${column * steps[1]}]`;
    canvas.title = `${place} ${formatValue(heat[row * pixels[1] + column]!)}`;
  });
  canvas.addEventListener("click", (event) => {
    const [row, column] = under(event);
    jump(row * steps[0], column * steps[1]);
  });
  canvas.setAttribute("aria-label", t("value.heat"));
  const stops = Array.from({ length: 9 }, (_, stop) => colour(stop / 8)).join(", ");
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
      : finite.length > 0 && t("value.all_equal", { value: ends[0]! }),
    !heat.every(Number.isFinite) && element("span", { class: "pdl-warn-text" }, t("value.broken")),
    Math.max(...steps) > 1 &&
      element("span", {}, t("value.means", { rows: steps[0], columns: steps[1] })),
  );
  return [canvas, legend];
}

export function image({ image: shown, colours }: Value): HTMLElement[] {
  const { axis, channels, is_scaled, step, pixels } = shown!;
  const canvas = drawn(pixels, (data) => data.set(colours));
  canvas.setAttribute("aria-label", t("value.image"));
  const why = [
    t("value.why_image", { axis, n: channels }),
    is_scaled && t("value.scaled"),
    step > 1 && t("value.every", { step }),
  ];
  return [canvas, element("div", { class: "pdl-soft" }, why.filter(Boolean).join(" "))];
}

/** A canvas with so many rows and columns, of which each is some pixels of the screen. */
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
