import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Two cores: engine tests hold a worker thread each, so files run in two forks at most.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
