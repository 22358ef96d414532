/** The camera: converts world px to screen px by one scale and one shift. */

export interface Camera {
  /** Screen position of the world's origin, in CSS px. */
  readonly x: number;
  readonly y: number;
  /** Screen px per world px. */
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends Size {
  /** Centre. */
  readonly x: number;
  readonly y: number;
}

const LARGEST_SCALE = 3;
/** Text is easy to read down to this scale. */
const READABLE_SCALE = 0.8;
const MARGIN_PX = 28;
/** Size of the corner at the lower right that the zoom buttons cover. */
export const BUTTONS = { width: 56, height: 116 };

export function toScreen(camera: Camera, x: number, y: number): { x: number; y: number } {
  return { x: camera.x + x * camera.scale, y: camera.y + y * camera.scale };
}

export function toWorld(camera: Camera, x: number, y: number): { x: number; y: number } {
  return { x: (x - camera.x) / camera.scale, y: (y - camera.y) / camera.scale };
}

export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x + dx, y: camera.y + dy };
}

/** Zoom by `factor`; the world point under (x, y) keeps its place. */
export function zoomedAt(
  camera: Camera,
  x: number,
  y: number,
  factor: number,
  smallest: number,
): Camera {
  const scale = Math.min(LARGEST_SCALE, Math.max(smallest, camera.scale * factor));
  const ratio = scale / camera.scale;
  return { scale, x: x - (x - camera.x) * ratio, y: y - (y - camera.y) * ratio };
}

/** Scale at which a scene fits the view, at most 1. */
export function fittingScale(scene: Size, view: Size): number {
  const across = (view.width - MARGIN_PX - BUTTONS.width) / Math.max(1, scene.width);
  const down = (view.height - 2 * MARGIN_PX) / Math.max(1, scene.height);
  return Math.max(1e-4, Math.min(1, across, down));
}

/** Show the whole scene: centred, unless the buttons would cover its right side. */
export function fitted(scene: Size, view: Size): Camera {
  const scale = fittingScale(scene, view);
  const width = scene.width * scale;
  return {
    scale,
    x: Math.min((view.width - width) / 2, view.width - BUTTONS.width - width),
    y: (view.height - scene.height * scale) / 2,
  };
}

/** Show a rectangle with the least move; zoom in if the text is too small. */
export function revealing(camera: Camera, target: Rectangle, view: Size): Camera {
  const scale = Math.max(camera.scale, READABLE_SCALE);
  const grown =
    scale === camera.scale
      ? camera
      : zoomedAt(camera, view.width / 2, view.height / 2, scale / camera.scale, 0);
  const at = toScreen(grown, target.x, target.y);
  const isFar =
    at.x < -view.width || at.x > 2 * view.width || at.y < -view.height || at.y > 2 * view.height;
  const reach = (size: number, available: number): number =>
    Math.min(available / 2, (size * scale) / 2 + MARGIN_PX);
  const [rx, ry] = isFar
    ? [view.width / 2, view.height / 2]
    : [reach(target.width, view.width), reach(target.height, view.height)];
  const x = Math.min(Math.max(at.x, rx), view.width - rx);
  const isBesideButtons = x + (target.width * scale) / 2 <= view.width - BUTTONS.width;
  const bottom = view.height - (isBesideButtons || isFar ? 0 : BUTTONS.height);
  const y = Math.min(Math.max(at.y, ry), Math.max(view.height / 2, bottom - ry));
  return panned(grown, x - at.x, y - at.y);
}

/** By how many px a rectangle, with the margin below it, extends below the view. */
export function coveredBelow(camera: Camera, target: Rectangle, view: Size): number {
  const { y } = toScreen(camera, target.x, target.y);
  return Math.max(0, y + (target.height * camera.scale) / 2 + MARGIN_PX - view.height);
}

/** Keep some of the scene in view. */
export function kept(camera: Camera, scene: Size, view: Size): Camera {
  const keep = 60;
  const clamp = (shift: number, size: number, available: number): number =>
    Math.min(available - keep, Math.max(keep - size * camera.scale, shift));
  return {
    scale: camera.scale,
    x: clamp(camera.x, scene.width, view.width),
    y: clamp(camera.y, scene.height, view.height),
  };
}
