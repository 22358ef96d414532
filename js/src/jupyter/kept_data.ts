/**
 * Which data of a kernel's trace a page keeps, and which data a notebook saves.
 *
 * A notebook is saved with the page's state of its widgets. If the data to draw is too large, the
 * page takes it out of that state and puts the kernel's smaller copy in its place. The page changes
 * the traits' objects in place: a new value would be sent to the kernel, which must keep all data
 * for the next page.
 */
import type { AnyModel } from "@anywidget/types";

export interface DataTraits {
  _data: { payload?: DataView };
  /** The data to save instead of `_data.payload`; empty if the payload is small. */
  _stored: { payload?: DataView };
}

interface Kept {
  /** The data that the page draws. */
  readonly payload: DataView | undefined;
  /** What a notebook stores while a view shows the data. */
  stored: DataView | undefined;
  views: number;
}

/** The keys are the objects of the trait `_data`: each model has one, which all its views share. */
const keptOf = new WeakMap<DataTraits["_data"], Kept>();
const NOTHING = new DataView(new ArrayBuffer(0));

/** Begin to keep a model's data. Call it again when the data, or the stored copy, has changed. */
export function keepData(model: AnyModel<DataTraits>): void {
  const data = model.get("_data");
  let kept = keptOf.get(data);
  if (!kept) {
    kept = { payload: data.payload, stored: data.payload, views: 0 };
    keptOf.set(data, kept);
  }
  const stored = model.get("_stored")?.payload;
  if (stored?.byteLength) {
    kept.stored = stored;
    model.get("_stored").payload = NOTHING;
    if (data.payload?.byteLength) {
      data.payload = stored;
    }
  }
}

/** The data that the page draws, even if the notebook stores less. */
export function payloadOf(model: AnyModel<DataTraits>): Uint8Array {
  const data = model.get("_data");
  const { buffer, byteOffset, byteLength } = keptOf.get(data)?.payload ?? data.payload ?? NOTHING;
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/**
 * Let the notebook store the data only as long as a view shows it: a cell that runs repeatedly
 * leaves one model each time.
 */
export function storeWhileShown(model: AnyModel<DataTraits>, signal: AbortSignal): void {
  const data = model.get("_data");
  const kept = keptOf.get(data);
  if (!kept) {
    return;
  }
  kept.views++;
  data.payload = kept.stored ?? NOTHING;
  signal.addEventListener("abort", () => {
    kept.views--;
    if (kept.views === 0) {
      data.payload = NOTHING;
    }
  });
}

/** Release a closed widget's data, because something may still refer to the widget's model. */
export function dropData(model: AnyModel<DataTraits>): void {
  const data = model.get("_data");
  keptOf.delete(data);
  data.payload = NOTHING;
  model.get("_stored").payload = NOTHING;
}
