/**
 * Decides which data of a trace the page keeps, and which data the notebook saves.
 *
 * A notebook is saved with the state of its widgets in the page. If the data to draw is too large,
 * the page replaces it in this state by a smaller copy from the kernel. The page changes the
 * objects of the traits in place. A new value would be sent to the kernel, which must keep all data
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
  /** The data that a notebook stores while a view shows the trace. */
  stored: DataView | undefined;
  views: number;
}

/** Keyed by the object of the trait `_data`. Each model has one such object for all its views. */
const keptOf = new WeakMap<DataTraits["_data"], Kept>();
const NOTHING = new DataView(new ArrayBuffer(0));

/** Begin to keep a model's data. Call this again when the data or the stored copy has changed. */
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
 * Let the notebook store the data only while a view shows it. A cell that runs repeatedly leaves a
 * model each time.
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

/** Release the data of a closed widget, because other code may still refer to its model. */
export function dropData(model: AnyModel<DataTraits>): void {
  const data = model.get("_data");
  keptOf.delete(data);
  data.payload = NOTHING;
  model.get("_stored").payload = NOTHING;
}
