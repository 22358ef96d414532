/** The timeline as an image: its figure, with a headline above and a legend of kinds below. */

import { kindLabel } from "../../../memory/blocks/kinds.ts";
import { totalAt } from "../../../memory/blocks/moment.ts";
import type { MemoryState } from "../../../memory/memory_state.ts";
import { t } from "../../../words/page.ts";
import { formatBytes, formatDuration } from "../../../words/quantities.ts";
import { pngOf } from "../../export/export_picture.ts";
import type { MemoryPalette } from "../figure/palette.ts";

const HEAD_PX = 34;
const LEGEND_PX = 22;
const MARGIN_PX = 14;
const SWATCH_PX = 10;

/** @throws Error if the browser cannot draw the timeline */
export function memoryPicture(
  memory: MemoryState,
  figure: HTMLCanvasElement,
  palette: MemoryPalette,
): Promise<Blob> {
  const picture = document.createElement("canvas");
  const context = picture.getContext("2d");
  if (!context) throw new Error(t("export.no_picture"));
  const scale = window.devicePixelRatio || 1;
  const width_px = figure.width / scale;
  const kinds = legend(memory, context, palette, width_px);
  const height_px = figure.height / scale;
  picture.width = figure.width;
  picture.height = Math.ceil((HEAD_PX + height_px + kinds.height_px + MARGIN_PX) * scale);
  context.scale(scale, scale);
  context.fillStyle = palette.bg;
  context.fillRect(0, 0, width_px, picture.height / scale);
  context.textBaseline = "middle";
  context.fillStyle = palette.ink;
  context.font = `600 13px ${palette.font}`;
  context.fillText(headline(memory), MARGIN_PX, HEAD_PX / 2 + 2);
  context.drawImage(figure, 0, HEAD_PX, width_px, height_px);
  kinds.paint(HEAD_PX + height_px + MARGIN_PX / 2);
  return pngOf(picture);
}

/** "Cell 3 · peak 14.4 MiB at 291 ms on cpu · 12 MiB alive at 40 ms". */
function headline({ blocks, choice, trace }: MemoryState): string {
  const { peak_bytes, peak_ns } = blocks.events;
  const at_ns = choice.from_ns;
  const isPeak = at_ns === peak_ns;
  return [
    trace.origin.title || t("toolbar.trace"),
    t("memory.headline", {
      size: formatBytes(peak_bytes),
      time: formatDuration(peak_ns),
      place: blocks.place,
    }),
    isPeak
      ? ""
      : t("memory.alive_at", {
          size: formatBytes(totalAt(blocks, at_ns)),
          time: formatDuration(Math.round(at_ns)),
        }),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Swatches and names of the kinds that occur, in as many rows as needed. */
function legend(
  { blocks }: MemoryState,
  context: CanvasRenderingContext2D,
  palette: MemoryPalette,
  width_px: number,
): { height_px: number; paint(top_px: number): void } {
  const font = `12px ${palette.font}`;
  context.font = font;
  let [x, row] = [MARGIN_PX, 0];
  const places = blocks.kindsMet.map((kind) => {
    const needed_px = SWATCH_PX + 6 + context.measureText(kindLabel(kind)).width + 16;
    if (x > MARGIN_PX && x + needed_px > width_px) [x, row] = [MARGIN_PX, row + 1];
    const place = { kind, x, row };
    x += needed_px;
    return place;
  });
  return {
    height_px: (row + 1) * LEGEND_PX,
    paint(top_px) {
      context.font = font;
      for (const { kind, x: left_px, row: at } of places) {
        const middle_px = top_px + at * LEGEND_PX + LEGEND_PX / 2;
        context.fillStyle = palette.kinds[kind]!;
        context.fillRect(left_px, middle_px - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
        context.fillStyle = palette.soft;
        context.fillText(kindLabel(kind), left_px + SWATCH_PX + 6, middle_px);
      }
    },
  };
}
