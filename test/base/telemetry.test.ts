import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const built = (path: string): string => pathToFileURL(join(packageRoot, "dist", path)).href;

/** Makes a session of the runtime, as the engine does. */
const SESSION = `
  const { Graph } = await import("${built("autodiff/graph.js")}");
  const { reduceSum } = await import("${built("autodiff/ops/reduce.js")}");
  const { createSession } = await import("${built("onnx/session.js")}");
  const graph = new Graph();
  const sum = reduceSum(graph.input("x", "float32", [2]), [0]);
  const session = await createSession(graph, { sum }, { threads: 1 }).catch((error) => error);
  process.stdout.write(session.code ?? "made");
  await session.release?.();`;

const inWorker = (before: string): string => `
  import { Worker } from "node:worker_threads";
  ${before}
  new Worker(${JSON.stringify(`import("node:worker_threads").then(async () => {${SESSION}})`)}, { eval: true });`;

let count = 0;

/** Runs a script with an environment of nothing but a home; the runtime would send nothing in continuous integration either. */
function run(
  script: string,
  variables: Record<string, string> = {},
): { out: string; home: string } {
  const home = join(folder, String(count++));
  mkdirSync(home);
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: home, TMPDIR: home, ...variables };
  const args = ["--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    env,
    cwd: home,
    encoding: "utf8",
  });
  return { out: stdout + stderr, home };
}

describe("the runtime's telemetry", () => {
  it.each([
    ["the engine", SESSION],
    [
      "a worker thread of a script that imports the package",
      inWorker(`import "${built("index.js")}";`),
    ],
  ])("writes nothing from %s", (_, script) => {
    const { out, home } = run(script);
    expect(out).toBe("made");
    expect(readdirSync(home)).toEqual([]);
  });

  it("does not start in a worker thread that cannot switch it off: the session is refused", () => {
    const { out, home } = run(inWorker(""));
    expect(out).toBe("RUNTIME_TELEMETRY");
    expect(readdirSync(home)).toEqual([]);
    expect(run(inWorker(""), { ORT_DISABLE_TELEMETRY: "1" }).out).toBe("made");
  });

  it.skipIf(process.platform === "win32")(
    "is what the runtime would start, so that the tests above can fail",
    () => {
      const runtime = pathToFileURL(join(packageRoot, "node_modules", "onnxruntime-node")).href;
      const { home } = run(`
        import ort from "${runtime}/dist/index.js";
        await ort.InferenceSession.create(new Uint8Array(3)).catch(() => {});`);
      expect(readdirSync(home)).toContain(process.platform === "linux" ? ".cache" : "Library");
    },
  );
});
