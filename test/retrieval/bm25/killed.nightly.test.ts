// A process that changes an index is killed at random moments: the index is then as before or as after, and whole.
//
//   AGENTRL_KILLS=50 npx vitest run --config vitest.nightly.config.ts test/retrieval/bm25/killed.nightly.test.ts     more of them
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import {
  addToIndex,
  compactIndex,
  deleteFromIndex,
} from "../../../src/retrieval/bm25/change-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { readBm25Manifest, SEGMENT_FILES } from "../../../src/retrieval/bm25/index-manifest.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import type { Passage } from "../../../src/trajectory/task.ts";
import { filesUnder } from "../../helpers/index-files.ts";
import { madeCorpus, madeQueries } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const KILLS = Number(process.env["AGENTRL_KILLS"] ?? 10);

const folder = temporaryFolder();
const out = join(folder, "work/idx");
const script = fileURLToPath(new URL("../../helpers/change-process.mjs", import.meta.url));
const queries = madeQueries(20, { seed: "killed" });

const first = madeCorpus({ count: 1000, seed: "first", prefix: "a" });
const second = madeCorpus({ count: 800, seed: "second", prefix: "b" });
const doomed = first.filter((_, i) => i % 3 === 0).map(({ id }) => id);

interface Change {
  operation: "build" | "add" | "delete" | "compact";
  corpus?: string;
  ids?: string[];
}

interface Scenario extends Change {
  /** Makes the index that is changed. */
  prepare: () => Promise<unknown>;
  /** The same change in this process. */
  again: () => Promise<unknown>;
}

const file = join(folder, "second.jsonl");
const prepareSegments = async (): Promise<void> => {
  await buildIndex(first, out, { threads: 0 });
  await addToIndex(out, second, { threads: 0 });
  await deleteFromIndex(out, doomed);
};
const scenarios: Scenario[] = [
  {
    operation: "build",
    corpus: file,
    prepare: () => buildIndex(first, out, { threads: 0 }),
    again: () => buildIndex(second, out, { threads: 0, overwrite: true }),
  },
  {
    operation: "add",
    corpus: file,
    prepare: () => buildIndex(first, out, { threads: 0 }),
    again: () => addToIndex(out, second, { threads: 0 }),
  },
  {
    operation: "delete",
    ids: doomed,
    prepare: () => buildIndex(first, out, { threads: 0 }),
    again: () => deleteFromIndex(out, doomed),
  },
  { operation: "compact", prepare: prepareSegments, again: () => compactIndex(out) },
];

/** What the index answers, as text. */
async function answers(): Promise<string> {
  const index = await openIndex(out);
  try {
    const hits = await index.search(queries, 10);
    // Compaction changes no answer; how many segments there are tells its states apart.
    return JSON.stringify([index.segments.length, hits]);
  } finally {
    await index.close();
  }
}

/** Changes the index in a process of its own. @param delay after which it is killed, in ms. */
async function changeInProcess(change: Change, delay: number | null): Promise<{ ms: number }> {
  const child = spawn(process.execPath, [script, JSON.stringify({ out, ...change })]);
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  const begin = performance.now();
  const timer = delay === null ? null : setTimeout(() => child.kill("SIGKILL"), delay);
  await exit;
  if (timer !== null) clearTimeout(timer);
  return { ms: performance.now() - begin };
}

/** Nothing lies beside the index, and in it what its manifest names. */
async function expectNoLeftovers(): Promise<void> {
  expect(await readdir(join(folder, "work"))).toEqual(["idx"]);
  const { segments } = await readBm25Manifest(out);
  const named = segments.flatMap(({ name, dead }) => [
    ...Object.values(SEGMENT_FILES).map((each) => `segments/${name}/${each}`),
    ...(dead === undefined ? [] : [`segments/${name}/${dead.file}`]),
  ]);
  expect(await filesUnder(out)).toEqual(["manifest.json", ...named.sort()]);
}

beforeAll(() => {
  const lines = second.map((passage: Passage) => `${JSON.stringify(passage)}\n`);
  writeFileSync(file, lines.join(""));
});

describe("an index whose change is killed", () => {
  it.each(scenarios)(
    "is as before or as after, and whole ($operation)",
    async ({ prepare, again, ...change }) => {
      const pristine = join(folder, `${change.operation}-pristine`);
      const reset = async (): Promise<void> => {
        await rm(join(folder, "work"), { recursive: true, force: true });
        await cp(pristine, out, { recursive: true });
      };
      await rm(join(folder, "work"), { recursive: true, force: true });
      await prepare();
      await cp(out, pristine, { recursive: true });
      const before = await answers();
      const { ms } = await changeInProcess(change, null);
      const after = await answers();
      expect(after).not.toBe(before);
      const draw = random(`kill ${change.operation}`);
      const seen = { before: 0, after: 0 };
      for (let kill = 0; kill < KILLS; kill++) {
        await reset();
        // One after the other through the whole time that it takes, each a little off.
        await changeInProcess(change, (ms * (kill + draw.next())) / KILLS);
        const found = await answers();
        expect([before, after]).toContain(found);
        seen[found === before ? "before" : "after"] += 1;
        expect((await checkIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
        if (found === before || change.operation === "build") await again();
        // Whatever changes next removes what was left.
        else await deleteFromIndex(out, ["nobody"]);
        expect(await answers()).toBe(after);
        await expectNoLeftovers();
      }
      if (process.env["AGENTRL_KILLS"] !== undefined) {
        process.stdout.write(
          `${change.operation}: ${ms.toFixed(0)} ms, after the kill ${JSON.stringify(seen)}\n`,
        );
      }
      expect(seen.before).toBeGreaterThan(0);
    },
  );
});
