import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { userCache } from "../base/user-cache.ts";
import { convertGguf } from "../models/gguf/convert-gguf.ts";
import { sha256Once } from "../models/recorded-files.ts";
import { madeOnce, type MadeOnce } from "./made-once.ts";

/** Raised when conversions write something else, so that old ones are made again. */
const CONVERSION = 1;

/** Whether a policy is named by a GGUF file; a folder may have such a name. */
export function isGgufName(from: string): boolean {
  return /\.gguf$/i.test(from) && statSync(from, { throwIfNoEntry: false })?.isDirectory() !== true;
}

/** Whether a policy is a GGUF file that exists. */
export function isGgufFile(from: string): boolean {
  return isGgufName(from) && existsSync(from);
}

/** The folder of a GGUF file's conversion, whether or not it is there. @throws {DataError} FILE_MISSING */
export async function ggufPlace(path: string): Promise<string> {
  return placeOfConversion(basename(path).replace(/\.gguf$/i, ""), await sha256Once(path));
}

/** Where the conversion of content with this checksum is kept. */
export function placeOfConversion(name: string, checksum: string): string {
  return join(placeOfModels(), `${name}-${checksum.slice(0, 12)}-${CONVERSION}`);
}

/** Where converted models are kept. */
export function placeOfModels(): string {
  return join(userCache(), "models");
}

/**
 * The Hugging Face folder of a GGUF file: a conversion in the cache, which is made at the first use.
 * @throws {DataError} FILE_MISSING; as `convertGguf`.
 * @throws {ExternalError} as `madeOnce`.
 */
export async function ggufFolder(
  path: string,
  { onNotice, signal }: Pick<MadeOnce, "onNotice" | "signal"> = {},
): Promise<string> {
  const folder = await ggufPlace(path);
  return madeOnce({
    folder,
    what: path,
    verb: "converts",
    onNotice,
    signal,
    notice: `converts ${path} first, once; kept in ${folder}`,
    make: async (out) => {
      await convertGguf(path, out, { signal });
      return out;
    },
  });
}
