/** Which rectangles lie in a part of the world: a grid of cells, each with the keys of what it touches. */

const CELL_PX = 360;
/** What touches more cells than this is kept aside and tested one by one. */
const MOST_CELLS = 48;
/** So many cells there may always be; in a larger world of few rectangles they are larger. */
const FEW_CELLS = 4096;
const CELLS_A_RECTANGLE = 4;

export interface Extent {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Rectangles as columns: left, top, right and bottom of each, one after the other. */
export class Extents {
  readonly length: number;
  readonly sides: Float64Array;

  constructor(length: number) {
    this.length = length;
    this.sides = new Float64Array(4 * length);
  }

  static of(extents: readonly Extent[]): Extents {
    const made = new Extents(extents.length);
    extents.forEach(({ left, top, right, bottom }, key) => {
      made.set(key, left, top, right, bottom);
    });
    return made;
  }

  set(key: number, left: number, top: number, right: number, bottom: number): void {
    const at = 4 * key;
    this.sides[at] = left;
    this.sides[at + 1] = top;
    this.sides[at + 2] = right;
    this.sides[at + 3] = bottom;
  }
}

export class SpatialIndex {
  readonly #sides: Float64Array;
  readonly #length: number;
  readonly #cell_px: number;
  readonly #columns: number;
  readonly #rows: number;
  /** Keys by cell, those of cell c from `#starts[c]` on. */
  readonly #starts: Int32Array;
  readonly #keys: Int32Array;
  readonly #large: number[] = [];
  readonly #seen: Uint32Array;
  #query = 0;

  constructor(extents: Extents) {
    const { length, sides } = extents;
    this.#sides = sides;
    this.#length = length;
    this.#seen = new Uint32Array(length);
    let right = 0;
    let bottom = 0;
    for (let at = 0; at < sides.length; at += 4) {
      right = Math.max(right, sides[at + 2]!);
      bottom = Math.max(bottom, sides[at + 3]!);
    }
    const most = Math.max(FEW_CELLS, CELLS_A_RECTANGLE * length);
    const crowd = (right / CELL_PX + 1) * (bottom / CELL_PX + 1);
    const scale = crowd > most ? Math.sqrt(crowd / most) : 1;
    this.#cell_px = CELL_PX * scale;
    this.#columns = Math.floor(right / this.#cell_px) + 1;
    this.#rows = Math.floor(bottom / this.#cell_px) + 1;
    this.#starts = new Int32Array(this.#columns * this.#rows + 2);
    this.#keys = this.#fill();
  }

  /** Keys of all that touches `area`, ascending. */
  within(area: Extent): number[] {
    const sides = this.#sides;
    const touches = (key: number): boolean => {
      const at = 4 * key;
      return (
        sides[at]! <= area.right &&
        sides[at + 2]! >= area.left &&
        sides[at + 1]! <= area.bottom &&
        sides[at + 3]! >= area.top
      );
    };
    const [x0, x1] = [this.#column(area.left), this.#column(area.right)];
    const [y0, y1] = [this.#row(area.top), this.#row(area.bottom)];
    this.#query++;
    const found = this.#large.filter(touches);
    for (let y = y0; y <= y1; y++) {
      // The cells of a row follow each other.
      const first = this.#starts[y * this.#columns + x0]!;
      const end = this.#starts[y * this.#columns + x1 + 1]!;
      for (let i = first; i < end; i++) {
        const key = this.#keys[i]!;
        if (this.#seen[key] !== this.#query) {
          this.#seen[key] = this.#query;
          if (touches(key)) {
            found.push(key);
          }
        }
      }
    }
    return found.sort((a, b) => a - b);
  }

  /** Counts what each cell holds, and then fills them. */
  #fill(): Int32Array {
    const sides = this.#sides;
    const columns = this.#columns;
    // Counted one cell further on, so that filling moves each start to where it belongs.
    const starts = this.#starts;
    let keys = new Int32Array(0);
    for (let pass = 0; pass < 2; pass++) {
      for (let key = 0; key < this.#length; key++) {
        const at = 4 * key;
        const x0 = this.#column(sides[at]!);
        const y0 = this.#row(sides[at + 1]!);
        const x1 = this.#column(sides[at + 2]!);
        const y1 = this.#row(sides[at + 3]!);
        if ((x1 - x0 + 1) * (y1 - y0 + 1) > MOST_CELLS) {
          if (pass === 0) {
            this.#large.push(key);
          }
          continue;
        }
        for (let y = y0; y <= y1; y++) {
          for (let x = x0; x <= x1; x++) {
            const cell = y * columns + x;
            if (pass === 0) {
              starts[cell + 2]!++;
            } else {
              keys[starts[cell + 1]!++] = key;
            }
          }
        }
      }
      if (pass === 0) {
        for (let cell = 2; cell < starts.length; cell++) {
          starts[cell]! += starts[cell - 1]!;
        }
        keys = new Int32Array(starts[starts.length - 1]!);
      }
    }
    return keys;
  }

  #column(x: number): number {
    return clamped(Math.floor(x / this.#cell_px), this.#columns);
  }

  #row(y: number): number {
    return clamped(Math.floor(y / this.#cell_px), this.#rows);
  }
}

function clamped(cell: number, count: number): number {
  return cell > 0 ? (cell < count ? cell : count - 1) : 0;
}
