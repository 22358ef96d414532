/** Phases of a run on its timeline: tinted spans behind all, and their names at the top. */
import type { CarriedBokeh } from "../../../charts/bokeh_loader.ts";
import type { PhaseSpan } from "../../../memory/blocks/phases.ts";
import { PHASES } from "../../../trace/protocol.ts";
import { t } from "../../../words/page.ts";
import { type Frame, type PaintedLayer, paintedLayer } from "./painted_layer.ts";
import type { MemoryPalette } from "./palette.ts";

const TINT_ALPHA = 0.07;
const FONT_PX = 11;
/** From where a span begins, and from the top of the frame. */
const [NAME_LEFT_PX, NAME_TOP_PX] = [5, 3];
/** Of the ground that a name lies on, beyond its letters. */
const GROUND_PX = 2;
const GROUND_ALPHA = 0.8;
/** From the middle of the mark of the peak, and of the line of a moment there, to a name. */
const PEAK_ROOM_PX = 8;

export interface PhaseMarks {
  readonly renderers: readonly PaintedLayer["renderer"][];
  set(spans: readonly PhaseSpan[]): void;
  /** Names keep clear of the peak, which is marked in their row. */
  avoid(peak_ns: number): void;
  setTheme(palette: MemoryPalette): void;
}

export function phaseMarks(bokeh: CarriedBokeh, palette: MemoryPalette): PhaseMarks {
  let colours = palette;
  let spans: readonly PhaseSpan[] = [];
  let peak_ns = Number.NaN;
  const tints = paintedLayer(bokeh, "underlay", (context, frame) => {
    context.save();
    context.globalAlpha = TINT_ALPHA;
    for (const { phase, left_px, right_px } of spansIn(spans, frame)) {
      context.fillStyle = colours[phase];
      context.fillRect(left_px, frame.top_px, right_px - left_px, frame.height_px);
    }
    context.restore();
  });
  const names = paintedLayer(bokeh, "annotation", (context, frame) => {
    context.save();
    context.font = `${FONT_PX}px ${colours.font}`;
    context.textBaseline = "top";
    for (const { phase, left_px, right_px } of spansIn(spans, frame)) {
      paintName(context, phase, frame, { left_px, right_px });
    }
    context.restore();
  });

  /** It lies on blocks where they reach as high: on a ground of its own it can be read there too. */
  function paintName(
    context: CanvasRenderingContext2D,
    phase: (typeof PHASES)[number],
    frame: Frame,
    span: { left_px: number; right_px: number },
  ): void {
    const name = t(`phase.${phase}`);
    const { width } = context.measureText(name);
    const begin_px = span.left_px + NAME_LEFT_PX;
    const peak_px = placeOf(peak_ns, frame);
    const isHit = Math.abs(peak_px - (begin_px + width / 2)) < width / 2 + PEAK_ROOM_PX;
    const x = isHit ? peak_px + PEAK_ROOM_PX : begin_px;
    const y = frame.top_px + NAME_TOP_PX;
    if (x + width + NAME_LEFT_PX > span.right_px) {
      return;
    }
    context.globalAlpha = GROUND_ALPHA;
    context.fillStyle = colours.bg;
    context.fillRect(x - GROUND_PX, y - 1, width + 2 * GROUND_PX, FONT_PX + 2);
    context.globalAlpha = 1;
    context.fillStyle = colours[phase];
    context.fillText(name, x, y);
  }

  const repaint = (): void => {
    tints.repaint();
    names.repaint();
  };
  return {
    renderers: [tints.renderer, names.renderer],
    set(shown) {
      spans = shown;
      repaint();
    },
    avoid(marked_ns) {
      peak_ns = marked_ns;
      repaint();
    },
    setTheme(changed) {
      colours = changed;
      repaint();
    },
  };
}

/** What of the spans is in the frame: of one that began before, the part that is seen. */
function* spansIn(
  spans: readonly PhaseSpan[],
  frame: Frame,
): Generator<{ phase: (typeof PHASES)[number]; left_px: number; right_px: number }> {
  const right_px = frame.left_px + frame.width_px;
  const x = (time_ns: number): number =>
    Math.max(frame.left_px, Math.min(right_px, placeOf(time_ns, frame)));
  for (const { phase, from_ns, to_ns } of spans) {
    if (to_ns > frame.from_ns && from_ns < frame.to_ns) {
      yield { phase: PHASES[phase]!, left_px: x(from_ns), right_px: x(to_ns) };
    }
  }
}

function placeOf(time_ns: number, { left_px, width_px, from_ns, to_ns }: Frame): number {
  return left_px + ((time_ns - from_ns) / (to_ns - from_ns)) * width_px;
}
