/** No test is timed: these limits end one that hangs, on a machine as slow as may be. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    testTimeout: 30_000,
    // A browser is started, and what it opens is built.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
