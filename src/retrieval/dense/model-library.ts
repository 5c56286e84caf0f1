import { pathToFileURL } from "node:url";
import type * as Transformers from "@huggingface/transformers";
import { errorMessage, ExternalError } from "../../base/errors.ts";
import { fetchFile } from "../../http/transfer.ts";

/** The library that runs embedding and reranking models; types only, so that nothing is loaded. */
export type ModelLibrary = typeof Transformers;

/**
 * Loads `@huggingface/transformers`, an optional peer dependency: its 190 MB are of use only to who embeds text.
 *
 * @throws {ExternalError} ENCODER_LIBRARY_MISSING when it is not installed or does not load.
 */
export async function modelLibrary(): Promise<ModelLibrary> {
  try {
    const library = await import("@huggingface/transformers");
    library.env.logLevel = library.LogLevel.ERROR;
    library.env.fetch = fetchFile;
    const endpoint = process.env["HF_ENDPOINT"];
    if (endpoint !== undefined && endpoint !== "")
      library.env.remoteHost = `${endpoint.replace(/\/$/, "")}/`;
    return library;
  } catch (error) {
    throw new ExternalError(
      "ENCODER_LIBRARY_MISSING",
      `@huggingface/transformers does not load (${firstLine(error)}). Dense retrieval and reranking run their models with it: npm install @huggingface/transformers@4`,
      { cause: error },
    );
  }
}

function firstLine(error: unknown): string {
  return errorMessage(error).split("\n")[0]!.replace(pathToFileURL(process.cwd()).href, ".");
}
