import type { AnyModel } from "@anywidget/types";
import { expect, test } from "vitest";
import {
  type DataTraits,
  keepData,
  payloadOf,
  storeWhileShown,
} from "../../src/jupyter/kept_data.ts";

const bytes = (...values: number[]): DataView => new DataView(Uint8Array.from(values).buffer);

/** A model whose traits are what its kernel sent; whatever is set would go back there. */
function modelOf(traits: DataTraits): AnyModel<DataTraits> {
  return {
    get: (name: keyof DataTraits) => traits[name],
    set: () => expect.unreachable("the kernel keeps its own"),
  } as unknown as AnyModel<DataTraits>;
}

/** What a notebook would store of it. */
const stored = (traits: DataTraits): number =>
  (traits._data.payload?.byteLength ?? 0) + (traits._stored.payload?.byteLength ?? 0);

test("a large trace is drawn whole and stored reduced, in every view", () => {
  const traits: DataTraits = { _data: { payload: bytes(1, 2, 3) }, _stored: {} };
  const model = modelOf(traits);
  keepData(model);
  traits._stored = { payload: bytes(9) };
  keepData(model);
  expect([...payloadOf(model)]).toEqual([1, 2, 3]);
  expect(stored(traits)).toBe(1);
  const [one, other] = [new AbortController(), new AbortController()];
  storeWhileShown(model, one.signal);
  storeWhileShown(model, other.signal);
  one.abort();
  expect(stored(traits)).toBe(1);
  expect([...payloadOf(model)]).toEqual([1, 2, 3]);
});

test("what no view shows any more is not stored, and comes back with a view", () => {
  const traits: DataTraits = { _data: { payload: bytes(1, 2, 3) }, _stored: {} };
  const model = modelOf(traits);
  keepData(model);
  expect(stored(traits)).toBe(3);
  const shown = new AbortController();
  storeWhileShown(model, shown.signal);
  shown.abort();
  expect(stored(traits)).toBe(0);
  storeWhileShown(model, new AbortController().signal);
  expect(stored(traits)).toBe(3);
  expect([...payloadOf(model)]).toEqual([1, 2, 3]);
});

test("data that arrives anew, after the connection was lost, is reduced again", () => {
  const traits: DataTraits = { _data: { payload: bytes(1, 2) }, _stored: { payload: bytes(9) } };
  const model = modelOf(traits);
  keepData(model);
  expect(stored(traits)).toBe(1);
  traits._data = { payload: bytes(1, 2) };
  traits._stored = { payload: bytes(9) };
  keepData(model);
  expect(stored(traits)).toBe(1);
  expect([...payloadOf(model)]).toEqual([1, 2]);
});
