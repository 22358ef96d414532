import { expect, test } from "vitest";
import { createLayoutRunner, LayoutCancelled, layoutNested } from "../../src/layout/index.ts";
import { decoder } from "./graphs/nested_corpus.ts";

const { graph } = decoder(4).nested(() => true);

test("without workers the main thread lays out, the same", async () => {
  const runner = createLayoutRunner(layoutNested, null);
  expect(await runner.layout(graph, { nodeGap: 30 })).toEqual(layoutNested(graph, { nodeGap: 30 }));
  runner.dispose();
});

test("a cancelled layout rejects, the next one works", async () => {
  const runner = createLayoutRunner(layoutNested, null);
  const given = runner.layout(graph);
  runner.cancelCurrent();
  await expect(given).rejects.toThrow(LayoutCancelled);
  await expect(runner.layout(graph)).resolves.toBeDefined();
  runner.dispose();
  await expect(runner.layout(graph)).rejects.toThrow(LayoutCancelled);
});
