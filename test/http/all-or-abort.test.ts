import { describe, expect, it } from "vitest";
import { allOrAbort } from "../../src/http/concurrency.ts";

/** Ends only when aborted. */
function hang(signal: AbortSignal, ended: string[], name: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      ended.push(name);
      reject(signal.reason as Error);
    });
  });
}

describe("together", () => {
  it("gives results in the order of the items", async () => {
    const ask = async (n: number) => {
      await new Promise((resolve) => setTimeout(resolve, 10 - n));
      return n * n;
    };
    expect(await allOrAbort([1, 2, 3], ask)).toEqual([1, 4, 9]);
    expect(await allOrAbort([], ask)).toEqual([]);
  });

  it("aborts the others when one fails, waits for them and throws the first failure", async () => {
    const ended: string[] = [];
    const ask = (name: string, signal: AbortSignal) =>
      name === "bad" ? Promise.reject(new Error("bad failed")) : hang(signal, ended, name);
    await expect(allOrAbort(["a", "bad", "b"], ask)).rejects.toThrow("bad failed");
    expect(ended).toEqual(["a", "b"]);
  });

  it("aborts all when the caller does, with the caller's reason", async () => {
    const ended: string[] = [];
    const abort = new AbortController();
    const all = allOrAbort(["a", "b"], (name, signal) => hang(signal, ended, name), abort.signal);
    abort.abort(new Error("stop"));
    await expect(all).rejects.toThrow("stop");
    expect(ended).toEqual(["a", "b"]);
  });
});
