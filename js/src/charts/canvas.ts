/** A canvas that is as large on the screen as its element. */

/** Clear a canvas, and set its resolution to its size on the screen. Units are then CSS px. */
export function emptied(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const pixels = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d")!;
  const [width, height] = [canvas.clientWidth * pixels, canvas.clientHeight * pixels].map(
    Math.round,
  );
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width!;
    canvas.height = height!;
  }
  context.reset();
  context.scale(pixels, pixels);
  return context;
}
