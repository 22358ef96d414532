/** Mouse, touch, wheel and keys on the timeline. */

import { listenToPointer } from "../../picture/pointer.ts";

const STEP = 0.01;
const PAGE = 0.1;
export const ZOOM_STEP = 1.5;

/** Actions of pointer and keys. Places are fractions of the frame, from its upper left corner. */
export interface TimelineMoves {
  pick(x: number, y: number): void;
  brush(from: number, to: number): void;
  hover(x: number, y: number, event: PointerEvent): void;
  leave(): void;
  /** Zoom time by `factor` around a place; bytes too if `isBoth`. */
  zoom(x: number, y: number, factor: number, isBoth?: boolean): void;
  zoomBy(factor: number): void;
  /** Move by a fraction of the frame. */
  pan(dx: number, dy?: number): void;
  fit(): void;
  /** Moves the moment, or with `isSpan` the end of the span. */
  step(by: number, isSpan: boolean): void;
  jump(to: "first" | "last" | "peak"): void;
  /** Zoom to the chosen span, or to the selected block if there is no span. */
  zoomToChoice(): boolean;
}

/** @returns a function that stops listening */
export function listenToTimeline(
  target: HTMLElement,
  timeline: TimelineMoves,
  options: { ownsPage: boolean },
): () => void {
  const { width, height } = { width: () => target.clientWidth, height: () => target.clientHeight };
  /** Where the brush began, as a fraction of the width; undefined while nothing is dragged. */
  let from: number | undefined;
  let isMoving = false;
  let pressed = 0;
  const controller = new AbortController();
  const { signal } = controller;
  const fraction = (event: MouseEvent): number => {
    const bounds = target.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - bounds.left) / bounds.width));
  };
  target.addEventListener(
    "pointerdown",
    (event) => {
      pressed++;
      // Two fingers, the middle button or Shift move the window; any other drag brushes.
      isMoving = pressed > 1 || event.button === 1 || event.shiftKey;
      from = fraction(event);
    },
    { signal },
  );
  const release = (): void => {
    pressed = Math.max(0, pressed - 1);
  };
  target.addEventListener("pointerup", release, { signal });
  target.addEventListener("pointercancel", release, { signal });
  target.addEventListener("pointermove", (event) => hover(event), { signal });
  function hover(event: PointerEvent): void {
    if (target.classList.contains("pdl-dragging")) {
      if (!isMoving && from !== undefined) {
        timeline.leave();
        timeline.brush(from, fraction(event));
      }
      return;
    }
    const bounds = target.getBoundingClientRect();
    timeline.hover(fraction(event), (event.clientY - bounds.top) / bounds.height, event);
  }
  const keys: Readonly<Record<string, (isSpan: boolean) => unknown>> = {
    ArrowLeft: (isSpan) => timeline.step(-STEP, isSpan),
    ArrowRight: (isSpan) => timeline.step(STEP, isSpan),
    PageUp: (isSpan) => timeline.step(-PAGE, isSpan),
    PageDown: (isSpan) => timeline.step(PAGE, isSpan),
    Home: () => timeline.jump("first"),
    End: () => timeline.jump("last"),
    m: () => timeline.jump("peak"),
    Enter: () => timeline.zoomToChoice(),
    f: () => timeline.fit(),
    "+": () => timeline.zoomBy(ZOOM_STEP),
    "=": () => timeline.zoomBy(ZOOM_STEP),
    "-": () => timeline.zoomBy(1 / ZOOM_STEP),
  };
  function press(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const act = keys[event.key];
    // If there is nothing to zoom to, other listeners may handle the key.
    if (!act || act(event.shiftKey) === false) return;
    event.preventDefault();
    event.stopPropagation();
  }
  target.addEventListener("keydown", press, { signal });
  const end = listenToPointer(
    target,
    {
      pan(dx, dy) {
        if (isMoving || pressed === 0) {
          timeline.pan(dx / width(), pressed === 0 ? 0 : dy / height());
        }
      },
      zoom: (x, y, factor) => timeline.zoom(x / width(), y / height(), factor),
      click(x, y) {
        target.focus({ preventScroll: true });
        timeline.pick(x / width(), y / height());
      },
      doubleClick: (x, y) => timeline.zoom(x / width(), y / height(), 4, true),
      hover() {},
      leave: () => timeline.leave(),
    },
    options,
  );
  return () => {
    controller.abort();
    end();
  };
}
