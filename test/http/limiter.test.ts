import { describe, expect, it } from "vitest";
import { limiter } from "../../src/http/concurrency.ts";

/** Tasks that end when told to, and the order in which they began. */
function tasks() {
  const begun: string[] = [];
  const end: Record<string, () => void> = {};
  const task = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => {
      end[name] = () => {
        resolve(name);
      };
    });
  };
  return { begun, end, task };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe("limiter", () => {
  it("runs no more than its limit at once, first asked first", async () => {
    const { begun, end, task } = tasks();
    const turns = limiter(2);
    const done = ["a", "b", "c", "d"].map((name) => turns.run(task(name)));
    await soon();
    expect(begun).toEqual(["a", "b"]);
    end["b"]!();
    await soon();
    expect(begun).toEqual(["a", "b", "c"]);
    end["a"]!();
    end["c"]!();
    await soon();
    end["d"]!();
    expect(await Promise.all(done)).toEqual(["a", "b", "c", "d"]);
  });

  it("never runs a task whose wait was aborted, and gives its place to the next", async () => {
    const { begun, end, task } = tasks();
    const turns = limiter(1);
    const first = turns.run(task("a"));
    const abort = new AbortController();
    const second = turns.run(task("b"), abort.signal);
    const third = turns.run(task("c"));
    abort.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    end["a"]!();
    await soon();
    end["c"]!();
    expect(await Promise.all([first, third])).toEqual(["a", "c"]);
    expect(begun).toEqual(["a", "c"]);
  });

  it("gives the place of a failed task to the next", async () => {
    const turns = limiter(1);
    const failed = turns.run(() => Promise.reject(new Error("failed")));
    const next = turns.run(() => Promise.resolve("next"));
    await expect(failed).rejects.toThrow("failed");
    expect(await next).toBe("next");
  });
});
