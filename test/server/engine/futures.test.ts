import { expect, it } from "vitest";
import { admission } from "../../../src/server/admission.ts";
import { openFutures } from "../../../src/server/engine/futures.ts";

it("bodies of waiting work are bounded, and their place is free once the work has ended, well or not", async () => {
  const futures = openFutures(() => undefined, admission(Infinity, 100));
  let end: () => void = () => undefined;
  const waits = (): Promise<{ json: object }> =>
    new Promise((resolve) => {
      end = () => {
        resolve({ json: {} });
      };
    });
  const first = futures.begin(waits, 60);
  expect(() => futures.begin(waits, 60)).toThrow("Try again later");
  end();
  await futures.result(first, 1000);
  const failed = futures.begin(() => Promise.reject(new Error("no")), 60);
  await expect(futures.result(failed, 1000)).rejects.toThrow("no");
  expect(futures.begin(() => Promise.resolve({ json: {} }), 60)).toBeTypeOf("string");
});
