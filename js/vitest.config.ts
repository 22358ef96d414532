/** No test is timed: these limits end one that hangs, on a machine as slow as may be. */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Vitest leaves one core free, but on two cores its tests would run one after another.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    // A browser is started, and what it opens is built.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
