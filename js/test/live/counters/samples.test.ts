import { expect, test } from "vitest";
import { Samples } from "../../../src/live/counters/samples.ts";

const row = (...numbers: number[]): Float64Array => Float64Array.from(numbers);

/** A sample each 20 ms from `start_ms` on, whose value is its time. */
function samplesFrom(start_ms: number, count: number): Float64Array[] {
  return Array.from({ length: count }, (_, index) => {
    const time_ms = start_ms + 20 * index;
    return row(time_ms, time_ms);
  });
}

test("a series holds the row before its start and ends at its end", () => {
  const samples = new Samples();
  samples.append([samplesFrom(0, 100), [], []]);

  const { times_ms, values, gaps } = samples.series(1010, 1100, 1);

  expect(times_ms).toEqual([1000, 1020, 1040, 1060, 1080, 1100]);
  expect(values[0]).toEqual(times_ms);
  expect(gaps).toEqual([]);
});

test("a time without samples is a gap and has no value", () => {
  const samples = new Samples();
  samples.append([[...samplesFrom(0, 3), ...samplesFrom(1000, 2)], [], []]);

  const { times_ms, values, gaps } = samples.series(0, 2000, 1);

  expect(gaps).toEqual([{ start_ms: 40, end_ms: 1000 }]);
  expect(times_ms).toEqual([0, 20, 40, 40, 1000, 1020]);
  expect(values[0]).toEqual([0, 20, 40, Number.NaN, 1000, 1020]);
});

test("a long span is drawn from bins, by their largest values, and ends with samples", () => {
  const samples = new Samples();
  const bins = Array.from({ length: 600 }, (_, second) => row(1000 * second, 1, second));
  samples.append([samplesFrom(500_000, 5003), bins, []]);

  const { times_ms, values } = samples.series(0, 600_100, 1);

  expect(times_ms.slice(0, 3)).toEqual([0, 1000, 2000]);
  expect(values[0]!.slice(0, 3)).toEqual([0, 1, 2]);
  expect(times_ms.slice(-3)).toEqual([600_000, 600_020, 600_040]);
  expect(times_ms.length).toBe(603);
});

test("an absent value is none, also of a counter that came later", () => {
  const samples = new Samples();
  samples.append([[row(0, 5), row(20, -1, 7)], [], []]);

  expect(samples.series(0, 20, 2).values).toEqual([
    [5, Number.NaN],
    [Number.NaN, 7],
  ]);
  expect(samples.latest(2)).toEqual([Number.NaN, 7]);
  expect(samples.at(10, 2)).toEqual([5, Number.NaN]);
});

test("a history neither doubles rows nor drops newer ones", () => {
  const samples = new Samples();
  samples.append([samplesFrom(100, 5), [], []]);

  samples.replace([samplesFrom(0, 8), [], []]);

  expect(samples.series(0, 1000, 1).times_ms).toEqual(
    Array.from({ length: 10 }, (_, index) => 20 * index),
  );
});

test("the page keeps as much as it said", () => {
  const samples = new Samples();
  for (let lot = 0; lot < 40; lot++) samples.append([samplesFrom(lot * 10_000, 500), [], []]);

  const kept = samples.series(0, 500_000, 1).times_ms.length;

  expect(kept).toBeLessThanOrEqual(6600);
  expect(samples.last_ms).toBe(40 * 10_000 - 20);
});
