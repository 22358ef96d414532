/** The stacked picture as a part of a Bokeh figure. */
import type { CarriedBokeh } from "../../../charts/bokeh_loader.ts";
import type { Blocks } from "../../../memory/blocks/blocks.ts";
import type { StackPicture } from "../../../memory/stack/stack_window.ts";
import { type PaintedLayer, paintedLayer } from "./painted_layer.ts";
import type { MemoryPalette } from "./palette.ts";
import { type LitBlocks, paintStack } from "./stack_paint.ts";

export interface StackLayer extends Pick<PaintedLayer, "renderer"> {
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
  let colours = palette;
  let shown: readonly [Blocks, StackPicture] | undefined;
  let meant: LitBlocks | undefined;
  const { renderer, repaint } = paintedLayer(bokeh, "glyph", (context, frame) => {
    if (shown) {
      paintStack(context, frame, ...shown, meant, colours);
    }
  });
  return {
    renderer,
    show(blocks, picture, lit) {
      shown = [blocks, picture];
      meant = lit;
      repaint();
    },
    light(lit) {
      meant = lit;
      repaint();
    },
    setTheme(changed) {
      colours = changed;
      repaint();
    },
  };
}
