/** Turns events of mouse, touch and wheel on the picture into actions. */

export interface PointerActions {
  pan(dx: number, dy: number): void;
  /** Zoom by `factor` around a point of the element. */
  zoom(x: number, y: number, factor: number): void;
  click(x: number, y: number, event: PointerEvent): void;
  doubleClick(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
}

/** A press that moves farther than this is a drag. */
const DRAG_PX = 4;
const DOUBLE_CLICK_MS = 350;
const LINE_PX = 30;

/** @returns a function that stops listening */
export function listenToPointer(
  target: HTMLElement,
  actions: PointerActions,
  options: { ownsPage: boolean },
): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const pressed = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  let lastClick = { time_ms: -Infinity, x: 0, y: 0 };
  /** Whether the press has already had an effect. If so, the release does nothing. */
  let isDone = false;
  // Scrolling a page must not stop when a picture moves under the pointer. So the wheel zooms only
  // after the pointer has moved or pressed on the picture.
  let isWheelOurs = options.ownsPage;

  const place = (event: MouseEvent): { x: number; y: number } => {
    const bounds = target.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };

  const isSecond = (event: PointerEvent, at: { x: number; y: number }): boolean =>
    event.timeStamp - lastClick.time_ms < DOUBLE_CLICK_MS &&
    Math.hypot(at.x - lastClick.x, at.y - lastClick.y) < 2 * DRAG_PX;
  const doubleClick = (at: { x: number; y: number }): void => {
    lastClick = { ...at, time_ms: -Infinity };
    actions.doubleClick(at.x, at.y);
  };

  target.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button > 1) {
        return;
      }
      const at = place(event);
      isWheelOurs = true;
      travelled = pressed.size ? Infinity : 0;
      pressed.set(event.pointerId, at);
      target.setPointerCapture(event.pointerId);
      // A finger's second press may become a pinch; a mouse's second press is a double click.
      isDone = event.pointerType === "mouse" && event.button === 0 && isSecond(event, at);
      if (isDone) {
        doubleClick(at);
      }
    },
    { signal },
  );
  target.addEventListener(
    "pointermove",
    (event) => {
      const to = place(event);
      isWheelOurs ||= event.movementX !== 0 || event.movementY !== 0;
      const from = pressed.get(event.pointerId);
      if (!from) {
        actions.hover(to.x, to.y);
        return;
      }
      travelled += Math.hypot(to.x - from.x, to.y - from.y);
      if (pressed.size === 2) {
        pinch(event.pointerId, from, to);
      } else if (travelled > DRAG_PX) {
        target.classList.add("pdl-dragging");
        actions.pan(to.x - from.x, to.y - from.y);
      } else {
        // A drag begins after the threshold. It then includes the movement up to the threshold.
        return;
      }
      pressed.set(event.pointerId, to);
    },
    { signal },
  );
  const pinch = (
    pointer: number,
    from: { x: number; y: number },
    to: { x: number; y: number },
  ): void => {
    const other = [...pressed].find(([id]) => id !== pointer)![1];
    const before = Math.hypot(from.x - other.x, from.y - other.y);
    const after = Math.hypot(to.x - other.x, to.y - other.y);
    actions.pan((to.x - from.x) / 2, (to.y - from.y) / 2);
    actions.zoom((to.x + other.x) / 2, (to.y + other.y) / 2, after / Math.max(1, before));
  };
  const release = (event: PointerEvent): void => {
    const wasPressed = pressed.delete(event.pointerId);
    target.classList.remove("pdl-dragging");
    const isMoved = travelled > DRAG_PX || event.type === "pointercancel";
    if (!wasPressed || isDone || isMoved || event.button > 0) {
      return;
    }
    const at = place(event);
    if (isSecond(event, at)) {
      doubleClick(at);
    } else {
      lastClick = { ...at, time_ms: event.timeStamp };
      actions.click(at.x, at.y, event);
    }
  };
  target.addEventListener("pointerup", release, { signal });
  target.addEventListener("pointercancel", release, { signal });
  target.addEventListener(
    "pointerleave",
    () => {
      isWheelOurs = options.ownsPage;
      actions.leave();
    },
    { signal },
  );
  target.addEventListener(
    "wheel",
    (event) => {
      if (!isWheelOurs && !event.ctrlKey) {
        return;
      }
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
      const at = place(event);
      if (event.shiftKey) {
        actions.pan(-(event.deltaX || event.deltaY) * unit, 0);
        return;
      }
      // Pinching a trackpad sends small steps with ctrl held.
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      const step = Math.max(-240, Math.min(240, event.deltaY * unit));
      actions.zoom(at.x, at.y, Math.exp(-step * speed));
    },
    { signal, passive: false },
  );
  return () => controller.abort();
}
