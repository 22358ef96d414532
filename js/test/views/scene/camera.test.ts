import { expect, test } from "vitest";
import {
  fitted,
  kept,
  revealing,
  toScreen,
  toWorld,
  zoomedAt,
} from "../../../src/views/scene/camera.ts";

const VIEW = { width: 800, height: 600 };

test("zooming keeps the point under the pointer, and stops at its limits", () => {
  const camera = { x: 30, y: -40, scale: 0.8 };
  const under = toWorld(camera, 300, 200);
  const zoomed = zoomedAt(camera, 300, 200, 1.7, 0.02);
  expect(toScreen(zoomed, under.x, under.y).x).toBeCloseTo(300);
  expect(toScreen(zoomed, under.x, under.y).y).toBeCloseTo(200);
  expect(zoomedAt(camera, 0, 0, 1000, 0.02).scale).toBe(3);
  expect(zoomedAt(camera, 0, 0, 1e-6, 0.02).scale).toBe(0.02);
});

test("a small scene is not blown up, a large one fits", () => {
  expect(fitted({ width: 100, height: 100 }, VIEW)).toEqual({ scale: 1, x: 350, y: 250 });
  const { scale, x, y } = fitted({ width: 4000, height: 1000 }, VIEW);
  expect(x).toBeGreaterThan(0);
  expect(x + 4000 * scale).toBeLessThan(800);
  expect(y + 1000 * scale).toBeLessThan(600);
});

test("revealing moves as little as it must, and makes small text readable", () => {
  const camera = { x: 0, y: 0, scale: 1 };
  const box = (x: number, y: number) => ({ x, y, width: 120, height: 28 });
  expect(revealing(camera, box(400, 300), VIEW)).toEqual(camera);
  const below = revealing(camera, box(400, 700), VIEW);
  expect(below.x).toBe(0);
  expect(toScreen(below, 400, 714).y).toBeLessThan(600);
  expect(below.y).toBeGreaterThan(-200);
  // The buttons in the corner cover nothing that is revealed.
  const corner = revealing(camera, box(720, 580), VIEW);
  expect(toScreen(corner, 720, 594).y).toBeLessThan(560);
  expect(revealing(camera, box(400, 550), VIEW)).toEqual(camera);
  const far = revealing(camera, box(400, 90_000), VIEW);
  expect(toScreen(far, 400, 90_000)).toEqual({ x: 400, y: 300 });
  expect(revealing({ ...camera, scale: 0.1 }, box(400, 300), VIEW).scale).toBeGreaterThan(0.7);
});

test("the scene cannot be lost out of sight", () => {
  const camera = kept({ x: 1e6, y: -1e6, scale: 1 }, { width: 300, height: 300 }, VIEW);
  expect(camera.x).toBeLessThan(800);
  expect(camera.y + 300).toBeGreaterThan(0);
});
