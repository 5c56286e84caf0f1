import { defineConfig } from "vitest/config";

/** `npm run test:faults`: processes are killed, disks filled, servers taken away. One file at a time: each has the machine for itself. */
export default defineConfig({
  test: {
    include: ["test/faults/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
