import { afterEach, expect, test } from "vitest";
import { t } from "../../src/words/page.ts";
import { speak } from "../../src/words/say.ts";

afterEach(() => speak("en"));

test("numbers, and the words that follow them", () => {
  expect(t("count.op", { n: 1 })).toBe("1 op");
  expect(t("count.op", { n: 12345 })).toBe("12\u202f345 ops");
});

test("the page speaks the language of what it draws, and English where that is none", () => {
  speak("zh");
  expect(t("count.op", { n: 2 })).toBe("2 个算子");
  expect(t("outline.layer", { layer: "头部" })).toBe("层头部");
  expect(t("severity_in_text.error")).toBe("错误");
  speak("fr");
  expect(t("count.op", { n: 2 })).toBe("2 ops");
});
