// Notes what the picture's canvas draws, in CSS px: texts, and the outlines of boxes and frames.
(() => {
  const proto = CanvasRenderingContext2D.prototype;
  const { fillRect, fillText, roundRect } = proto;
  const isPicture = ({ canvas }) => canvas.parentElement?.classList.contains("pdl-canvas") ?? false;
  let drawn;
  const begin = (width, height) => {
    drawn = { width, height, texts: [], outlines: [], steps: 0 };
    window.drawn = drawn;
  };
  begin(0, 0);
  /** Scale and shift from the canvas's px to those of the screen. */
  const placed = (context) => {
    const pixels = context.canvas.width / Number.parseFloat(context.canvas.style.width);
    const { a, e, f } = context.getTransform();
    return { scale: a / pixels, x: e / pixels, y: f / pixels };
  };
  proto.fillRect = function (x, y, width, height) {
    // A picture begins with its ground.
    if (isPicture(this) && x === 0 && y === 0 && placed(this).scale === 1 && width > 300) {
      begin(width, height);
    }
    return fillRect.call(this, x, y, width, height);
  };
  proto.fillText = function (text, x, y, ...more) {
    if (isPicture(this)) {
      const at = placed(this);
      const px = Number.parseFloat(/([\d.]+)px/.exec(this.font)[1]) * at.scale;
      const width = this.measureText(text).width * at.scale;
      const begins = { center: width / 2, end: width }[this.textAlign] ?? 0;
      const left = at.x + x * at.scale - begins;
      const middle = at.y + y * at.scale;
      const sides = { left, right: left + width, top: middle - 0.42 * px, bottom: middle + 0.42 * px };
      drawn.texts.push({ text, px, ...sides, step: drawn.steps++ });
    }
    return fillText.call(this, text, x, y, ...more);
  };
  proto.roundRect = function (x, y, width, height, radius) {
    if (isPicture(this)) {
      const at = placed(this);
      const [left, top] = [at.x + x * at.scale, at.y + y * at.scale];
      const [right, bottom] = [left + width * at.scale, top + height * at.scale];
      drawn.outlines.push({ left, top, right, bottom, height, step: drawn.steps++ });
    }
    return roundRect.call(this, x, y, width, height, radius);
  };
})();
