/** The icicle as a file: a headline, all its rows, and the legend. */
import { readTheme, type Theme } from "../../dom/theme.ts";
import type { IcicleBox } from "../../model/time/icicle.ts";
import type { TimeState } from "../../model/time/time_state.ts";
import { t } from "../../words/page.ts";
import { formatDuration } from "../../words/quantities.ts";
import { pngOf } from "../export/export_picture.ts";
import { SvgContext } from "../paint/svg_context.ts";
import { mix } from "../scene/drawing_style.ts";
import { labelOfPart } from "./labels.ts";
import { LEGEND } from "./legend.ts";
import { type IcicleLook, paintIcicle, ROW_PX } from "./paint.ts";

const HEAD_PX = 30;
const FOOT_PX = 26;
const MARGIN_PX = 12;
const SWATCH_PX = 10;

interface Drawing {
  readonly boxes: readonly IcicleBox[];
  readonly style: IcicleLook;
  readonly width_px: number;
}

/** The text of a self-contained SVG file. */
export function timeSvg(state: TimeState, drawing: Drawing, app: HTMLElement): string {
  const context = new SvgContext();
  const [width_px, height_px] = sizeOf(drawing);
  paint(context as unknown as CanvasRenderingContext2D, state, drawing, readTheme(app));
  return context.document(width_px, height_px, headline(state));
}

/** @throws Error if the browser cannot draw it */
export function timePng(state: TimeState, drawing: Drawing, app: HTMLElement): Promise<Blob> {
  const scale = 2;
  const [width_px, height_px] = sizeOf(drawing);
  const canvas = document.createElement("canvas");
  canvas.width = width_px * scale;
  canvas.height = height_px * scale;
  const context = canvas.getContext("2d");
  if (!context) throw new Error(t("export.no_picture"));
  context.scale(scale, scale);
  paint(context, state, drawing, readTheme(app));
  return pngOf(canvas);
}

function sizeOf({ boxes, width_px }: Drawing): [number, number] {
  const rows = 1 + (boxes.at(-1)?.row ?? 0);
  return [Math.ceil(width_px) + 2 * MARGIN_PX, HEAD_PX + rows * ROW_PX + FOOT_PX];
}

/** "Cell 4 · Layers · 38 ms in all · layer1 · Sequential". */
function headline(state: TimeState): string {
  const { tree } = state.grown;
  return [
    labelOfPart(state, { box: 0 }),
    t(`time.by_${state.choice.nesting}`),
    t("time.whole", { time: formatDuration(tree.total_ns(0)) }),
    state.part.box > 0 ? labelOfPart(state, state.part) : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function paint(
  context: CanvasRenderingContext2D,
  state: TimeState,
  drawing: Drawing,
  theme: Theme,
): void {
  const [width_px, height_px] = sizeOf(drawing);
  const { measure } = drawing.style;
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, width_px, height_px);
  context.textBaseline = "middle";
  context.fillStyle = theme.ink;
  context.font = measure.font("title");
  context.fillText(headline(state), MARGIN_PX, HEAD_PX / 2);
  context.save();
  context.translate(MARGIN_PX, HEAD_PX);
  paintIcicle(context, drawing.boxes, drawing.style);
  context.restore();
  context.font = measure.font("small");
  let x = MARGIN_PX;
  const y = height_px - FOOT_PX / 2;
  for (const [key, colour] of LEGEND) {
    const text = t(key);
    if (colour) {
      context.fillStyle = mix(theme.bg, theme[colour], 0.42);
      context.fillRect(x, y - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
    } else {
      context.strokeStyle = theme.soft;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.rect(x, y - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = theme.soft;
    context.fillText(text, x + SWATCH_PX + 5, y);
    x += SWATCH_PX + 5 + measure.width(text, "small") + 14;
  }
}
