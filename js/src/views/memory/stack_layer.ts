/** The stacked picture as a part of a Bokeh figure, which gives it its place and its ranges. */
import type * as annotations from "@bokeh/bokehjs/build/js/lib/models/annotations/annotation";
import type { CarriedBokeh } from "../../charts/bokeh_loader.ts";
import type { Blocks } from "../../memory/blocks.ts";
import type { StackPicture } from "../../memory/stack_window.ts";
import type { MemoryPalette } from "./palette.ts";
import { type LitBlocks, paintStack } from "./stack_paint.ts";

export interface StackLayer {
  /** What a figure's renderers take. */
  readonly renderer: annotations.Annotation;
  show(blocks: Blocks, picture: StackPicture, lit: LitBlocks | undefined): void;
  /** Of the picture that is shown. */
  light(lit: LitBlocks | undefined): void;
  setTheme(palette: MemoryPalette): void;
}

/**
 * Bokeh's own glyphs take lists of lists, which for thousands of blocks and their moves cost more
 * than all else at every zoom; this draws from typed arrays.
 */
export function stackLayer(bokeh: CarriedBokeh, palette: MemoryPalette): StackLayer {
  const { Annotation, AnnotationView } = bokeh.require(
    "models/annotations/annotation",
  ) as typeof annotations;
  let colours = palette;
  let shown: readonly [Blocks, StackPicture] | undefined;
  let meant: LitBlocks | undefined;

  class BlockStackView extends AnnotationView {
    static __name__ = "BlockStackView";

    override connect_signals(): void {
      super.connect_signals();
      this.connect(this.model.change, () => this.request_paint());
    }

    protected override _paint(context: CanvasRenderingContext2D): void {
      if (!shown) {
        return;
      }
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
      paintStack(context, frame, ...shown, meant, colours);
    }
  }

  class BlockStack extends Annotation {
    static override __name__ = "BlockStack";

    static {
      BlockStack.prototype.default_view = BlockStackView;
    }
  }

  const renderer = new BlockStack({ level: "glyph" });
  return {
    renderer,
    show(blocks, picture, lit) {
      shown = [blocks, picture];
      meant = lit;
      renderer.change.emit();
    },
    light(lit) {
      meant = lit;
      renderer.change.emit();
    },
    setTheme(changed) {
      colours = changed;
      renderer.change.emit();
    },
  };
}
