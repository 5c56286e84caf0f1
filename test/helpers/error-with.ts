import { expect } from "vitest";
import type { ErrorCode } from "../../src/base/errors.ts";

/** For `toThrow`: an error of this code, whose message holds the text or matches the pattern. */
export function errorWith(code: ErrorCode, message: string | RegExp = ""): Error {
  const said: unknown =
    typeof message === "string" ? expect.stringContaining(message) : expect.stringMatching(message);
  return expect.objectContaining({ code, message: said }) as Error;
}
