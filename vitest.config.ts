import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Where Debian's chromium keeps its software Vulkan device: tests of the GPU's path run on it where there is no GPU. */
const SOFTWARE_VULKAN = "/usr/lib/chromium/vk_swiftshader_icd.json";
if (existsSync(SOFTWARE_VULKAN)) process.env["VK_ICD_FILENAMES"] ??= SOFTWARE_VULKAN;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Of the fault suite (`npm run test:faults`) a few kills alone, which take a minute.
    exclude: ["test/faults/**/!(kills).test.ts"],
    // Two cores: engine tests hold a worker thread each, so files run in two forks at most.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    // A browser on a busy machine takes seconds where it takes milliseconds otherwise.
    expect: { poll: { timeout: 20_000 } },
  },
});
