// A process that replaces a dense index is killed at moments spread over its whole time: the index is then as before or as
// after, and the build goes on from what was encoded.
//
//   AGENTRL_KILLS=50 npx vitest run --config vitest.nightly.config.ts test/retrieval/dense/killed.nightly.test.ts     more of them
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { buildDenseIndex } from "../../../src/retrieval/dense/build-dense-index.ts";
import { checkDenseIndex } from "../../../src/retrieval/dense/check-dense-index.ts";
import { openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { openDenseIndex } from "../../../src/retrieval/dense/open-dense-index.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const KILLS = Number(process.env["AGENTRL_KILLS"] ?? 8);

const folder = temporaryFolder();
const out = join(folder, "work/idx");
const words = Array.from({ length: 60 }, (_, i) => `word${i}`);

function corpus(seed: string, count: number) {
  const draw = random(seed);
  return Array.from({ length: count }, (_, i) => ({
    id: `${seed}${i}`,
    title: "",
    text: Array.from({ length: 6 }, () => words[draw.int(60)]).join(" "),
  }));
}

const first = corpus("a", 300);
const second = corpus("b", 1200);

/** Replaces the index in a process of its own. @param delay after which it is killed, in ms. */
async function replaceInProcess(model: string, delay: number | null): Promise<{ ms: number }> {
  const script = `
    import { buildDenseIndex } from "./dist/retrieval/dense/build-dense-index.js";
    import { openEncoder } from "./dist/retrieval/dense/encoder.js";
    const encoder = await openEncoder(${JSON.stringify(model)});
    console.log("begin");
    await buildDenseIndex(${JSON.stringify(second)}, ${JSON.stringify(out)}, { encoder, graph: "hnsw", overwrite: true });
    process.exit();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script]);
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  const begin = performance.now();
  const timer = delay === null ? null : setTimeout(() => child.kill("SIGKILL"), delay);
  await exit;
  if (timer !== null) clearTimeout(timer);
  return { ms: performance.now() - begin };
}

async function answers(): Promise<string> {
  const retriever = await openDenseIndex(out);
  const hits = await retriever.search(["word1 word2", "word7"], 10);
  await retriever.close();
  return JSON.stringify(hits);
}

it("a dense index whose building is killed is as before or as after, and the build goes on", async () => {
  const model = await writeTinyEncoder(join(folder, "model"), words);
  const encoder = await openEncoder(model);
  const pristine = join(folder, "pristine");
  await buildDenseIndex(first, out, { encoder, graph: "hnsw" });
  await cp(out, pristine, { recursive: true });
  const before = await answers();
  const { ms } = await replaceInProcess(model, null);
  const after = await answers();
  expect(after).not.toBe(before);
  const draw = random("kill dense");
  const seen = { before: 0, resumed: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    await rm(join(folder, "work"), { recursive: true, force: true });
    await cp(pristine, out, { recursive: true });
    await replaceInProcess(model, (ms * (kill + draw.next())) / KILLS);
    const found = await answers();
    expect([before, after]).toContain(found);
    if (found === before) seen.before += 1;
    expect((await checkDenseIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
    const encoded: number[] = [];
    await buildDenseIndex(second, out, {
      encoder,
      graph: "hnsw",
      overwrite: true,
      resume: true,
      onProgress: (phase, done) => {
        if (phase === "encoding") encoded.push(done);
      },
    });
    if (encoded[0]! > 0) seen.resumed += 1;
    expect(await answers()).toBe(after);
    expect(await readdir(join(folder, "work"))).toEqual(["idx"]);
  }
  await encoder.close();
  expect(seen.before).toBeGreaterThan(0);
  expect(seen.resumed).toBeGreaterThan(0);
});
