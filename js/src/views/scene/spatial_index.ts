/** Which rectangles lie in a part of the world: a grid of cells, each with the keys of what it touches. */

const CELL_PX = 360;
/** What touches more cells than this is kept aside and tested one by one. */
const MOST_CELLS = 48;

export interface Extent {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export class SpatialIndex {
  readonly #extents: readonly Extent[];
  readonly #cells = new Map<number, number[]>();
  readonly #large: number[] = [];
  readonly #columns: number;
  readonly #seen: Uint32Array;
  #query = 0;

  constructor(extents: readonly Extent[]) {
    this.#extents = extents;
    this.#seen = new Uint32Array(extents.length);
    let right = 0;
    for (const extent of extents) {
      right = Math.max(right, extent.right);
    }
    this.#columns = Math.floor(right / CELL_PX) + 2;
    extents.forEach((extent, key) => {
      const [x0, x1] = [cellOf(extent.left), cellOf(extent.right)];
      const [y0, y1] = [cellOf(extent.top), cellOf(extent.bottom)];
      if ((x1 - x0 + 1) * (y1 - y0 + 1) > MOST_CELLS) {
        this.#large.push(key);
        return;
      }
      for (let y = y0; y <= y1; y++) {
        for (let x = x0; x <= x1; x++) {
          const cell = this.#cells.get(y * this.#columns + x);
          if (cell) {
            cell.push(key);
          } else {
            this.#cells.set(y * this.#columns + x, [key]);
          }
        }
      }
    });
  }

  /** Keys of all that touches `area`, ascending. */
  within(area: Extent): number[] {
    const extents = this.#extents;
    const touches = (key: number): boolean => {
      const extent = extents[key]!;
      return (
        extent.left <= area.right &&
        extent.right >= area.left &&
        extent.top <= area.bottom &&
        extent.bottom >= area.top
      );
    };
    const [x0, x1] = [cellOf(area.left), Math.min(cellOf(area.right), this.#columns - 1)];
    const [y0, y1] = [cellOf(area.top), cellOf(area.bottom)];
    if ((x1 - x0 + 1) * (y1 - y0 + 1) > this.#cells.size) {
      return Array.from(extents.keys()).filter(touches);
    }
    this.#query++;
    const found = this.#large.filter(touches);
    for (let y = y0; y <= y1; y++) {
      for (let x = x0; x <= x1; x++) {
        for (const key of this.#cells.get(y * this.#columns + x) ?? []) {
          if (this.#seen[key] !== this.#query) {
            this.#seen[key] = this.#query;
            if (touches(key)) {
              found.push(key);
            }
          }
        }
      }
    }
    return found.sort((a, b) => a - b);
  }
}

function cellOf(position: number): number {
  return Math.max(0, Math.floor(position / CELL_PX));
}
