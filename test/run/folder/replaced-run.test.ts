import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  removeReplaced,
  restoreReplaced,
  setRunAside,
} from "../../../src/run/folder/replaced-run.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();
let count = 0;
let out: string;
const names = (): string[] => readdirSync(out, { recursive: true }).map(String).sort();
const write = (name: string, text: string): void => {
  writeFileSync(join(out, name), text);
};

beforeEach(() => {
  out = join(root, `run-${(count += 1)}`);
  mkdirSync(join(out, "checkpoints", "step-1"), { recursive: true });
  for (const name of ["metrics.jsonl", "manifest.json", "notes.txt"]) write(name, "old");
});

describe("a run that is to be replaced", () => {
  it("comes back whole where the new one did not begin, over what that left", async () => {
    const before = names();
    await setRunAside(out);
    // What is nobody's run stays where it is.
    expect(readdirSync(out).sort()).toEqual(["notes.txt", "replaced"]);
    write("metrics.jsonl", "new");
    mkdirSync(join(out, "checkpoints", "step-9"), { recursive: true });
    expect(await restoreReplaced(out)).toBe(true);
    expect(names()).toEqual(before);
    expect(readFileSync(join(out, "metrics.jsonl"), "utf8")).toBe("old");
    expect(await restoreReplaced(out)).toBe(false);
  });

  it("comes back where it was only half set aside, or only half brought back", async () => {
    const before = names();
    mkdirSync(join(out, "replaced"));
    renameSync(join(out, "checkpoints"), join(out, "replaced", "checkpoints"));
    expect(await restoreReplaced(out)).toBe(true);
    expect(names()).toEqual(before);
    await setRunAside(out);
    renameSync(join(out, "replaced", "checkpoints"), join(out, "checkpoints"));
    expect(await restoreReplaced(out)).toBe(true);
    expect(names()).toEqual(before);
  });

  it("goes once the new one has begun, also where that was killed before", async () => {
    await setRunAside(out);
    write("manifest.json", "new");
    expect(await restoreReplaced(out)).toBe(false);
    expect(names()).toEqual(["manifest.json", "notes.txt"]);
    await setRunAside(out);
    await removeReplaced(out);
    expect(names()).toEqual(["notes.txt"]);
  });
});
