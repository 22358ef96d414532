/** The icicle as a file: a headline, all its rows, and the legend. */
import type { IcicleBox } from "../../model/time/icicle.ts";
import type { TimeState } from "../../model/time/time_state.ts";
import { t } from "../../words/page.ts";
import { formatDuration } from "../../words/quantities.ts";
import { COLOUR_LEGEND_WIDTH_PX, paintLegend } from "../colour/legend_painting.ts";
import type { Drawing } from "../export/export_picture.ts";
import { write } from "../paint/brush.ts";
import { mix } from "../scene/drawing_style.ts";
import { labelOfPart } from "./labels.ts";
import { timeLegend } from "./legend.ts";
import { type IcicleLook, paintIcicle, ROW_PX, SHARES } from "./paint.ts";

const HEAD_PX = 30;
const FOOT_PX = 26;
const MARGIN_PX = 12;

export function timeDrawing(
  state: TimeState,
  boxes: readonly IcicleBox[],
  style: IcicleLook,
  icicle_px: number,
): Drawing {
  const rows = 1 + (boxes.at(-1)?.row ?? 0);
  const width = Math.max(icicle_px, COLOUR_LEGEND_WIDTH_PX) + 2 * MARGIN_PX;
  const height = HEAD_PX + rows * ROW_PX + FOOT_PX;
  const { theme, measure } = style;
  const title = headline(state);
  return {
    width,
    height,
    title,
    paint(context, scale) {
      const brush = { context, theme, measure };
      context.scale(scale, scale);
      context.fillStyle = theme.bg;
      context.fillRect(0, 0, width, height);
      write(brush, title, MARGIN_PX, HEAD_PX / 2, "title", theme.ink);
      context.save();
      context.translate(MARGIN_PX, HEAD_PX);
      paintIcicle(context, boxes, style);
      context.restore();
      const legend = timeLegend((name) => mix(theme.bg, theme[name], SHARES.strong));
      paintLegend(brush, legend, MARGIN_PX, height - FOOT_PX / 2);
    },
  };
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
