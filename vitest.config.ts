import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Debian's chromium brings a software Vulkan device: tests of the GPU run on it where there is no GPU (see test/helpers/gpu.ts). */
const SOFTWARE_VULKAN = "/usr/lib/chromium/vk_swiftshader_icd.json";
if (existsSync(SOFTWARE_VULKAN)) process.env["VK_ICD_FILENAMES"] ??= SOFTWARE_VULKAN;

// Some tests load the runtime themselves; the program switches its telemetry off without this.
process.env["ORT_DISABLE_TELEMETRY"] = "1";

/** A test file that needs more than five seconds of processor time is named `*.slow.test.ts`: `npm run test:slow` runs it, `npm test` does not. */
const SLOW = "test/**/*.slow.test.ts";
const NIGHTLY = ["test/faults/**", "test/**/*.nightly.test.ts"];

/** Files that run the ONNX runtime in their own thread, which from then on flushes denormal numbers to 0: the next file would compute otherwise. */
const FLUSHING = [
  "test/{autodiff,losses,onnx}/**/*.test.ts",
  "test/algorithms/{own-fields,preference,update}.test.ts",
  "test/engine/local/{cached-model,sampler,shared-prefixes,trainer,worker-failure}.test.ts",
  "test/engine/tinker/{faults,open-rl}.test.ts",
  "test/golden/{decoder,gguf,lora,temperature}.test.ts",
  "test/models/{row-attention,sampling-graph,whole-model-gradient}.test.ts",
];

/** Files that change what is global to a process for good (registered parts), or that would see it changed. */
const ISOLATED = [
  "test/contracts/**/*.test.ts",
  "test/plugins/**/*.test.ts",
  "test/package.test.ts",
  "test/cli/new.test.ts",
  "test/base/registry.test.ts",
  "test/env/tools/sessions.test.ts",
  "test/evaluate/measures.test.ts",
];

export default defineConfig({
  test: {
    // Two cores: engine tests hold a worker thread each, so files run in two forks at most.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A browser on a busy machine takes seconds where it takes milliseconds otherwise.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        // One process runs many files on one copy of the modules: loading them again for each file took three quarters of the time.
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [SLOW, ...NIGHTLY, ...FLUSHING, ...ISOLATED],
          isolate: false,
          setupFiles: ["test/helpers/restore-process.ts"],
        },
      },
      // They flush together: no file sees what another one has changed.
      {
        extends: true,
        test: { name: "runtime", include: FLUSHING, exclude: [SLOW, ...NIGHTLY], isolate: false },
      },
      { extends: true, test: { name: "command", include: ISOLATED, exclude: [SLOW, ...NIGHTLY] } },
      { extends: true, test: { name: "slow", include: [SLOW], testTimeout: 300_000 } },
    ],
  },
});
