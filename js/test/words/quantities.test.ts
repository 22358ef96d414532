import { expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
  formatShortCount,
} from "../../src/words/quantities.ts";

test.each([
  [0, "0 B"],
  [96, "96 B"],
  [1023, "1023 B"],
  [1024, "1 KiB"],
  [1536, "1.5 KiB"],
  [10_240, "10 KiB"],
  [12_595, "12.3 KiB"],
  [1024 * 1024 - 1, "1 MiB"],
  [412 * 1024 ** 2, "412 MiB"],
  [1_121_976, "1.07 MiB"],
  [3.25 * 1024 ** 4, "3.25 TiB"],
  [5000 * 1024 ** 4, "5000 TiB"],
])("%d bytes read %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [640, "640 ns"],
  [11_000, "11 µs"],
  [1234, "1.2 µs"],
  [15_600, "15.6 µs"],
  [999_499, "999 µs"],
  [999_500, "1 ms"],
  [38_000_000, "38 ms"],
  [2_340_000_000, "2.3 s"],
])("%d ns read %s", (duration_ns, text) => {
  expect(formatDuration(duration_ns)).toBe(text);
});

test("a share of nothing says nothing", () => {
  expect(formatShare(1, 0)).toBe("");
  expect(formatShare(0, 10)).toBe("");
  expect(formatShare(1, 3000)).toBe("< 0.1 %");
  expect(formatShare(4, 100)).toBe("4 %");
  expect(formatShare(1, 3)).toBe("33 %");
});

test("counts get thin spaces", () => {
  expect(formatCount(999)).toBe("999");
  expect(formatCount(1_234_567)).toBe("1\u202f234\u202f567");
  expect(formatShortCount(99_999)).toBe("99\u202f999");
  expect(formatShortCount(115_393)).toBe("115k");
});
