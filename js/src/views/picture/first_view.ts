/** The first position of the camera: text is readable, and the view cuts no box if possible. */
import { BUTTONS, type Camera, type Size } from "../scene/camera.ts";
import type { Extent } from "../scene/extent.ts";
import type { Reach } from "../scene/scene.ts";

/** At this scale the smallest text, of 11 px, is 10 px high. */
export const LEGIBLE_SCALE = 0.91;
const MARGIN_PX = 28;
const LEAST_MARGIN_PX = 8;
/** The width at the right side that the zoom buttons cover. */
const LEAST_RIGHT_PX = BUTTONS.width;
const OUTLINE_PX = 2;
const SCALE_STEP = 0.01;
/**
 * The largest scale for a scene that is too wide. The view cuts such a scene at any scale. At a
 * slightly larger scale, the cut may fall between two boxes.
 */
const LARGEST_WIDE_SCALE = 1.06;
const WIDE_SCALE_STEP = 0.03;
/**
 * The largest number of shifts that are compared for a scene that is too wide. Each shift cuts the
 * scene at other places.
 */
const MOST_SHIFTS = 40;
/** If there are more parts than this, the first shift is used without a comparison. */
const MOST_PARTS = 600;
/**
 * The positions of the top that are tried for a scene that is too high, best first. Each position
 * cuts other boxes.
 */
const TOPS_PX = [28, 24, 20, 16, 12, 8, 4, 32, 36, 40, 44, 48, 52];

/** The scene's size, and the parts that matter for the first view. */
export interface Sights extends Size {
  /** The x for the middle of the view, if the whole scene is too wide for the view. */
  readonly focusX: number;
  /** The main parts of the scene, outermost first. The view shows the first that fits, uncut. */
  readonly mains?: readonly Reach[];
}

/** The y below which the first view shows nothing, in world px. */
export function deepestInFirstView(view: Size): number {
  return view.height / LEGIBLE_SCALE;
}

/** The largest width of a scene with readable text and both sides visible, in world px. */
export function roomFor(viewWidth: number): number {
  return (viewWidth - LEAST_MARGIN_PX - LEAST_RIGHT_PX) / LEGIBLE_SCALE;
}

/** Whether a scene is wider than `roomFor` allows. */
export function isTooWide(scene: Size, viewWidth: number, parts: readonly Extent[] = []): boolean {
  const { left, right } = boundsOf(scene, parts);
  return right - left > roomFor(viewWidth);
}

/**
 * Show the whole scene if its text is readable then, else its upper part: at full width if that
 * fits, else the part around the focus that cuts the fewest boxes.
 *
 * @param parts parts that should not be cut
 */
export function firstView(scene: Sights, view: Size, parts: readonly Extent[] = []): Camera {
  const bounds = boundsOf(scene, parts);
  const size = { width: bounds.right - bounds.left, height: bounds.bottom - bounds.top };
  const isWide = size.width > roomFor(view.width);
  const across = scaleFor(view.width, size.width, LEAST_MARGIN_PX + LEAST_RIGHT_PX);
  const down = scaleFor(view.height, size.height, 2 * LEAST_MARGIN_PX);
  const isHigh = down < LEGIBLE_SCALE;
  const main = isWide ? mainIn(scene, view) : undefined;
  const largest = isWide ? largestWide(view, main) : isHigh ? across : Math.min(across, down);
  const isSearched = parts.length <= MOST_PARTS;
  const stepBy = isWide ? WIDE_SCALE_STEP : SCALE_STEP;
  const steps = isSearched ? Math.ceil((largest - LEGIBLE_SCALE) / stepBy) : 0;
  let best: Camera | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (let step = 0; step <= steps && fewest > 0; step++) {
    const scale = Math.max(LEGIBLE_SCALE, largest - step * stepBy);
    const spare = view.height - size.height * scale;
    const tops = isHigh ? TOPS_PX : [Math.max(LEAST_MARGIN_PX, spare / 2), LEAST_MARGIN_PX];
    const xs = isWide
      ? shiftsAcross({ scene, view, parts, bounds, main }, scale)
      : [shiftWhole(size.width * scale, view.width) - bounds.left * scale];
    for (const x of xs) {
      for (const top of tops) {
        const camera = { scale, x, y: top - bounds.top * scale };
        const cuts = isSearched ? cutsIn(camera, view, parts) : 0;
        if (cuts < fewest) {
          [best, fewest] = [camera, cuts];
        }
      }
    }
  }
  return withParts(best!, view, parts);
}

/** Move the parts in these columns up, if the upper half of the view would be empty. */
function withParts(camera: Camera, view: Size, parts: readonly Extent[]): Camera {
  const { scale, x } = camera;
  let top = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (x + part.right * scale > 0 && x + part.left * scale < view.width)
      top = Math.min(top, part.top);
  }
  const isEmpty = Number.isFinite(top) && camera.y + top * scale > view.height / 2;
  return isEmpty ? { ...camera, y: MARGIN_PX - top * scale } : camera;
}

/** Return a scale of at most 1, with wide margins if the text stays readable. */
function scaleFor(has: number, wants: number, margins: number): number {
  const roomy = (has - Math.max(margins, 2 * MARGIN_PX)) / Math.max(1, wants);
  const tight = (has - margins) / Math.max(1, wants);
  return Math.min(1, roomy >= LEGIBLE_SCALE ? roomy : Math.min(LEGIBLE_SCALE, tight));
}

/** Centre the scene, unless the buttons would cover its right side. */
function shiftWhole(width: number, viewWidth: number): number {
  const middle = (viewWidth - width) / 2;
  return Math.max(LEAST_MARGIN_PX, Math.min(middle, viewWidth - LEAST_RIGHT_PX - width));
}

function boundsOf(scene: Size, parts: readonly Extent[]): Extent {
  const bounds = { left: 0, top: 0, right: scene.width, bottom: scene.height };
  for (const { left, top, right, bottom } of parts) {
    bounds.left = Math.min(bounds.left, left);
    bounds.top = Math.min(bounds.top, top);
    bounds.right = Math.max(bounds.right, right);
    bounds.bottom = Math.max(bounds.bottom, bottom);
  }
  return bounds;
}

/** How many parts are only partly visible: cut by the view's edges or under the zoom buttons. */
function cutsIn({ scale, x, y }: Camera, view: Size, parts: readonly Extent[]): number {
  let cuts = 0;
  for (const part of parts) {
    const [left, right] = [x + part.left * scale, x + part.right * scale];
    const [top, bottom] = [y + part.top * scale, y + part.bottom * scale];
    if (top < view.height && left < view.width && right > 0) {
      const isCut = bottom > view.height - 1 || left < 0 || right > view.width;
      const isCovered = bottom > view.height - BUTTONS.height && right > view.width - BUTTONS.width;
      cuts += isCut || isCovered ? 1 : 0;
    }
  }
  return cuts;
}

/** Return the outermost main part that fits into the view, for a scene that is too wide. */
function mainIn({ mains = [] }: Sights, view: Size): Reach | undefined {
  const room = roomForMain(view) / LEGIBLE_SCALE;
  return mains.find(({ left, right }) => right - left <= room);
}

/** The buttons may cover the frame of the main part, but not its content. */
function roomForMain(view: Size): number {
  return view.width - 2 * LEAST_MARGIN_PX;
}

function largestWide(view: Size, main: Reach | undefined): number {
  const most = main ? roomForMain(view) / (main.right - main.left) : LARGEST_WIDE_SCALE;
  return Math.min(LARGEST_WIDE_SCALE, most);
}

interface Wide {
  readonly scene: Sights;
  readonly view: Size;
  readonly parts: readonly Extent[];
  readonly bounds: Extent;
  readonly main: Reach | undefined;
}

/**
 * The horizontal shifts to try if the scene is too wide. Each shift shows the main part of the
 * scene. The shift that centres the main part comes first.
 */
function shiftsAcross({ scene, view, parts, bounds, main }: Wide, scale: number): number[] {
  const focus = main ? (main.left + main.right) / 2 : scene.focusX;
  const within = (x: number, least: number, most: number): number =>
    Math.round(Math.min(most, Math.max(least, x)));
  // Leave no empty space beside a scene that is cut, unless the main part needs it.
  const middle = within(
    view.width / 2 - focus * scale,
    view.width - LEAST_RIGHT_PX - bounds.right * scale,
    LEAST_MARGIN_PX - bounds.left * scale,
  );
  const reach = view.width / 3;
  const [least, most] = main
    ? [LEAST_MARGIN_PX - main.left * scale, view.width - LEAST_MARGIN_PX - main.right * scale]
    : [middle - reach, middle + reach];
  const shifts = new Set([within(middle, least, most)]);
  for (const { left, right, top } of parts) {
    if ((top - bounds.top) * scale < view.height) {
      shifts.add(Math.round(LEAST_MARGIN_PX - left * scale));
      shifts.add(Math.round(view.width - LEAST_MARGIN_PX - right * scale));
      // This shift places the part, with its outline, just outside of the view.
      shifts.add(Math.ceil(view.width - left * scale) + OUTLINE_PX);
      shifts.add(Math.floor(-right * scale) - OUTLINE_PX);
    }
  }
  return [...shifts]
    .filter((x) => x >= least - 1 && x <= most + 1)
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
    .slice(0, MOST_SHIFTS);
}
