/** A growing list of path points. */
export class PointList {
  x: Float64Array<ArrayBuffer>;
  y: Float64Array<ArrayBuffer>;
  length = 0;

  /** @param expected about how many points will be added */
  constructor(expected = 256) {
    this.x = new Float64Array(Math.max(16, expected));
    this.y = new Float64Array(Math.max(16, expected));
  }

  push(x: number, y: number): void {
    if (this.length === this.x.length) {
      this.x = grown(this.x);
      this.y = grown(this.y);
    }
    this.x[this.length] = x;
    this.y[this.length++] = y;
  }

  /** Push the next point of the path that began at `start`, dropping points inside a vertical line. */
  extend(start: number, x: number, y: number): void {
    const n = this.length;
    if (n > start && this.x[n - 1] === x && this.y[n - 1] === y) return;
    if (n - start > 1 && this.x[n - 1] === x && this.x[n - 2] === x) this.y[n - 1] = y;
    else this.push(x, y);
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2);
  larger.set(values);
  return larger;
}
