import { expect, test } from "vitest";
import { firstView } from "../../../src/views/picture/first_view.ts";
import { BUTTONS, type Camera, toScreen } from "../../../src/views/scene/camera.ts";
import type { Extent } from "../../../src/views/scene/extent.ts";

const VIEW = { width: 800, height: 600 };
/** The smallest text. */
const SMALL_PX = 11;

/** A box of 120 by 28 px. */
function box(x: number, y: number): Extent {
  return { left: x - 60, right: x + 60, top: y - 14, bottom: y + 14 };
}

function cut(camera: Camera, parts: readonly Extent[]): Extent[] {
  return parts.filter(({ left, right, top, bottom }) => {
    const [from, to] = [toScreen(camera, left, top), toScreen(camera, right, bottom)];
    const isSeen = to.x > 0 && from.x < VIEW.width && to.y > 0 && from.y < VIEW.height;
    return isSeen && (from.x < 0 || to.x > VIEW.width || from.y < 0 || to.y > VIEW.height);
  });
}

test("text can be read, whatever the size of the scene", () => {
  for (const width of [10, 500, 780, 900, 2000, 40_000]) {
    for (const height of [10, 500, 640, 900, 50_000]) {
      const { scale } = firstView({ width, height, focusX: width / 2 }, VIEW);
      expect(scale * SMALL_PX).toBeGreaterThanOrEqual(10);
      expect(scale).toBeLessThan(1.1);
    }
  }
});

test("what fits is seen whole, in the middle", () => {
  const camera = firstView({ width: 640, height: 300, focusX: 100 }, VIEW);
  expect(toScreen(camera, 320, 150).x).toBeCloseTo(400);
  expect(toScreen(camera, 320, 150).y).toBeCloseTo(300);
  expect(toScreen(camera, 0, 0).x).toBeGreaterThan(7.9);
});

test("what fits across begins at its top, wherever its main path is", () => {
  for (let width = 600; width < 805; width += 7) {
    const { x, y, scale } = firstView({ width, height: 5000, focusX: 0.2 * width }, VIEW);
    expect(x).toBeGreaterThan(7.9);
    expect(x + width * scale).toBeLessThan(744.1);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(40);
  }
});

test("of what is too wide as much is seen as there is room for, around the main path", () => {
  const [left, middle, right] = [0.1, 0.5, 0.9].map((part) =>
    firstView({ width: 1800, height: 5000, focusX: 1800 * part }, VIEW),
  );
  expect(toScreen(left!, 0, 0).x).toBeCloseTo(8);
  expect(toScreen(middle!, 900, 0).x).toBeCloseTo(400);
  // Beside the buttons.
  expect(toScreen(right!, 1800, 0).x).toBeCloseTo(744);
});

test("the lower edge, and the buttons in the corner, lie on no box", () => {
  for (let pitch = 50; pitch < 75; pitch++) {
    const parts = Array.from({ length: 100 }, (_, row) => box(100, 14 + row * pitch));
    const camera = firstView({ width: 200, height: 100 * pitch, focusX: 100 }, VIEW, parts);
    expect(cut(camera, parts)).toEqual([]);
  }
  // As wide as there is room for.
  const parts = Array.from({ length: 100 }, (_, row) => box(740, 14 + row * 60));
  const { x, y, scale } = firstView({ width: 800, height: 6000, focusX: 100 }, VIEW, parts);
  for (const part of parts) {
    const [top, bottom] = [y + part.top * scale, y + part.bottom * scale];
    const isCovered = top < VIEW.height && bottom > VIEW.height - BUTTONS.height;
    expect(isCovered && x + part.right * scale > VIEW.width - BUTTONS.width).toBe(false);
  }
});

test("of what is too wide a view is looked for whose sides cut nothing", () => {
  // Three columns of which two fit.
  const columns = [70, 500, 945];
  const parts = columns.flatMap((x) => [box(x, 14), box(x, 80), box(x, 150)]);
  for (const focusX of [300, 500, 700]) {
    const camera = firstView({ width: 1005, height: 5000, focusX }, VIEW, parts);
    expect(cut(camera, parts)).toEqual([]);
  }
});

test("words that reach over the scene's sides are seen too", () => {
  const words = { left: -20, right: 830, top: -30, bottom: -14 };
  const camera = firstView({ width: 800, height: 500, focusX: 400 }, VIEW, [words]);
  expect(cut(camera, [words])).toEqual([]);
});

test("of what is too wide that is seen whole which it is about, and beside it nothing in part", () => {
  const main = { left: 300, right: 900 };
  const beside = [box(200, 300), box(1010, 300), box(1010, 400)];
  for (const parts of [beside, beside.slice(0, 1), beside.slice(1)]) {
    const scene = {
      width: 2000,
      height: 5000,
      focusX: 1010,
      mains: [{ left: 0, right: 2000 }, main],
    };
    const camera = firstView(scene, VIEW, [box(600, 300), ...parts]);
    expect(cut(camera, parts)).toEqual([]);
    expect(toScreen(camera, main.left, 0).x).toBeGreaterThan(7);
    expect(toScreen(camera, main.right, 0).x).toBeLessThan(793);
  }
});

test("the upper end is in view, however wide the scene", () => {
  for (let height = 400; height < 700; height += 20) {
    const parts = [box(60, 14), box(500, 14), box(1500, 14), box(60, height - 14)];
    const camera = firstView({ width: 1600, height, focusX: 60 }, VIEW, parts);
    expect(toScreen(camera, 0, 0).y).toBeGreaterThan(3);
  }
});
