import { describe, expect, it } from "vitest";
import { compiled, keptGraphs } from "../../../src/engine/local/compiled.ts";
import type { Session } from "../../../src/onnx/session.ts";

/** A cache with the keys that it compiled and released, in order. */
function watched(most: number) {
  const log: string[] = [];
  const once = compiled(most);
  const get = (key: string, nodes: number): Promise<Session> =>
    once(key, () => {
      log.push(key);
      const release = (): Promise<void> => {
        log.push(`-${key}`);
        return Promise.resolve();
      };
      return Promise.resolve({
        inputNames: [],
        nodes,
        release,
        run: () => Promise.reject(new Error()),
      });
    });
  return { get, log };
}

describe("compiled graphs", () => {
  it("are kept up to their number, those used last", async () => {
    const { get, log } = watched(2);
    for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key, 10);
    expect(log).toEqual(["a", "b", "c", "-b", "b", "-c"]);
  });

  it("are kept up to 130 000 nodes, and the newest one always", async () => {
    const { get, log } = watched(64);
    await get("a", 60_000);
    await get("b", 60_000);
    await get("c", 20_000);
    expect(log).toEqual(["a", "b", "c", "-a"]);
    await get("d", 500_000);
    expect(log.slice(4).toSorted()).toEqual(["-b", "-c", "d"]);
    await get("d", 500_000);
    expect(log).toHaveLength(7);
    expect([10_000, 2_000, 200_000].map((nodes) => keptGraphs(64, nodes))).toEqual([13, 64, 1]);
  });

  it("that failed are compiled again", async () => {
    const once = compiled(2);
    await expect(once("a", () => Promise.reject(new Error("no memory")))).rejects.toThrow(
      "no memory",
    );
    const session = {
      inputNames: [],
      nodes: 1,
      release: () => Promise.resolve(),
    } as unknown as Session;
    expect(await once("a", () => Promise.resolve(session))).toBe(session);
  });
});
