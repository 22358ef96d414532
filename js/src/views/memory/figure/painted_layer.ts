/** A part of a Bokeh figure that own code paints; the figure gives it its place and its ranges. */
import type * as annotations from "@bokeh/bokehjs/build/js/lib/models/annotations/annotation";
import type { CarriedBokeh, CarriedModels } from "../../../charts/bokeh_loader.ts";

export type Plot = InstanceType<CarriedModels["Plot"]>;
export type Range = InstanceType<CarriedModels["Range1d"]>;

/** The frame of a figure: where it is on the canvas, and what it shows. */
export interface Frame {
  readonly left_px: number;
  readonly top_px: number;
  readonly width_px: number;
  readonly height_px: number;
  readonly from_ns: number;
  readonly to_ns: number;
  readonly from_bytes: number;
  readonly to_bytes: number;
}

/** What is higher, lower or further aside is drawn no further away: canvases take no numbers of any size. */
const BEYOND_PX = 4000;

/** Where times and bytes lie on the canvas. */
export interface Places {
  x(time_ns: number): number;
  y(bytes: number): number;
}

export function placesIn(frame: Frame): Places {
  const px_ns = frame.width_px / (frame.to_ns - frame.from_ns);
  const px_bytes = frame.height_px / (frame.to_bytes - frame.from_bytes);
  const bottom_px = frame.top_px + frame.height_px;
  const near = (place_px: number): number =>
    Math.max(-BEYOND_PX, Math.min(2 * BEYOND_PX, place_px));
  return {
    x: (time_ns) => near(frame.left_px + (time_ns - frame.from_ns) * px_ns),
    y: (bytes) => near(bottom_px - (bytes - frame.from_bytes) * px_bytes),
  };
}

export interface PaintedLayer {
  /** What a figure's renderers take. */
  readonly renderer: annotations.Annotation;
  /** Have it painted anew: what it shows is another. */
  repaint(): void;
}

/**
 * @param level before or after what else is in the figure; from "annotation" on nothing is cut off
 *   where the frame ends
 */
export function paintedLayer(
  bokeh: CarriedBokeh,
  level: "underlay" | "glyph" | "annotation",
  paint: (context: CanvasRenderingContext2D, frame: Frame, places: Places) => void,
): PaintedLayer {
  const { Annotation, AnnotationView } = bokeh.require(
    "models/annotations/annotation",
  ) as typeof annotations;

  class OwnPaintView extends AnnotationView {
    static __name__ = "OwnPaintView";

    override connect_signals(): void {
      super.connect_signals();
      this.connect(this.model.change, () => this.request_paint());
    }

    protected override _paint(context: CanvasRenderingContext2D): void {
      const { bbox, x_range, y_range } = this.plot_view.frame;
      const frame = {
        left_px: bbox.left,
        top_px: bbox.top,
        width_px: bbox.width,
        height_px: bbox.height,
        from_ns: x_range.start,
        to_ns: x_range.end,
        from_bytes: y_range.start,
        to_bytes: y_range.end,
      };
      context.save();
      paint(context, frame, placesIn(frame));
      context.restore();
    }
  }

  class OwnPaint extends Annotation {
    static override __name__ = "OwnPaint";

    static {
      OwnPaint.prototype.default_view = OwnPaintView;
    }
  }

  const renderer = new OwnPaint({ level });
  return { renderer, repaint: () => renderer.change.emit() };
}
