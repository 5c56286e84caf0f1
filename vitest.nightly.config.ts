import { defineConfig } from "vitest/config";

/**
 * What takes too long for every change (`npm run test:nightly`). `faults`: processes are killed, disks filled, servers taken away. `sdk`:
 * other people's programs over ours, such as the SDKs of OpenAI and Tinker, TRL, verl, OpenEnv and transformers; what needs a Python that is
 * not here is skipped by name. One file at a time: each has the machine for itself.
 */
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: "faults", include: ["test/faults/**/*.test.ts"] } },
      { extends: true, test: { name: "sdk", include: ["test/**/*.nightly.test.ts"] } },
    ],
  },
});
