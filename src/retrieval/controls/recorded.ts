import { ConfigError, DataError } from "../../base/errors.ts";
import { parseOptions, quote, z } from "../../base/schema.ts";
import type { Hit, Retriever } from "../retriever.ts";
import type {
  InnerRetriever,
  RetrieverContext,
  RetrieverPart,
  RetrieverSettings,
} from "../retriever-part.ts";
import { growRecording, readRecording } from "./recording.ts";

/**
 * Another retriever's searches kept in a file, or answered from it. It has the fingerprint of the retriever that was recorded:
 * results measured on a recording are that retriever's. One file may hold searches of several retrievers.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when `of` is missing or superfluous, when a recording holds several retrievers and
 *   none is named, or when the retriever looks at more than the query: one recording cannot answer for every asker.
 * @throws {DataError} SEARCH_NOT_RECORDED from a search that a replayed recording lacks; what `readRecording` throws;
 *   DATA_EMPTY when there is nothing to replay.
 */
export function recorded(inner: InnerRetriever): RetrieverPart {
  const options = z
    .strictObject({
      /** JSON lines: fingerprint, query, k, hits. */
      file: z
        .string()
        .refine((path) => !path.endsWith(".gz"), "expected a file that is not packed"),
      /** Ask and keep what is found; answer from the file alone; or ask only what the file does not hold. */
      mode: z.enum(["record", "replay", "record-missing"]).default("record-missing"),
      /** The retriever that is recorded; absent when replaying. */
      of: inner.optional(),
      /** When replaying a file of several retrievers: which. */
      fingerprint: z.string().optional(),
    })
    .refine(({ mode, of }) => (mode === "replay") === (of === undefined), {
      message: "expected a retriever to record, and none with `mode: replay`",
      path: ["of"],
    })
    .refine(({ mode, fingerprint }) => mode === "replay" || fingerprint === undefined, {
      message: "only `mode: replay` chooses a retriever by fingerprint",
      path: ["fingerprint"],
    });
  return {
    name: "recorded",
    summary: "Another retriever's searches kept in a file, or answered from it.",
    readsGold: false,
    options,
    create: async (given, context) => {
      const { file, mode, of, fingerprint } = parseOptions(options, given, "recorded");
      if (of === undefined) return replay(file, fingerprint);
      return record(file, { of, context, askAgain: mode === "record" });
    },
  };
}

async function replay(file: string, wanted: string | undefined): Promise<Retriever> {
  const recording = await readRecording(file);
  const fingerprint = wanted ?? recording.fingerprints[0];
  if (fingerprint === undefined) {
    throw new DataError("DATA_EMPTY", `${file}: holds no recorded search. Record some first.`);
  }
  const known = recording.fingerprints;
  if (!known.includes(fingerprint) || (wanted === undefined && known.length > 1)) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `recorded.fingerprint is ${quote(wanted)}: ${file} holds searches of ${known.join(", ")}. Name one of them.`,
    );
  }
  return {
    name: "recorded",
    fingerprint,
    // eslint-disable-next-line @typescript-eslint/require-await -- an abort must reject, not throw
    search: async (queries, k, { signal } = {}) => {
      signal?.throwIfAborted();
      return queries.map((query) => {
        const hits = recording.find(fingerprint, query, k);
        if (hits !== undefined) return copied(hits);
        throw new DataError(
          "SEARCH_NOT_RECORDED",
          `${file}: holds no search for ${quote(query)} with ${k} hits by ${fingerprint}. Record it with \`mode: record-missing\`.`,
        );
      });
    },
    close: () => Promise.resolve(),
  };
}

async function record(
  file: string,
  {
    of,
    context,
    askAgain,
  }: { of: RetrieverSettings; context: RetrieverContext; askAgain: boolean },
): Promise<Retriever> {
  const asked = await context.open(of);
  try {
    if (asked.reads !== undefined) {
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `recorded.of is "${of.name}", which looks at the asker's ${asked.reads.join(", ")}: equal queries may have unlike hits, so a recording cannot stand for it. Record the retriever inside it.`,
      );
    }
    const recording = await growRecording(file);
    const { fingerprint } = asked;
    return {
      name: "recorded",
      fingerprint,
      search: async (queries, k, options = {}) => {
        options.signal?.throwIfAborted();
        const lookUp = (query: string): Hit[] | undefined => recording.find(fingerprint, query, k);
        const found = new Map(
          queries.map((query) => [query, askAgain ? undefined : lookUp(query)]),
        );
        const missing = [...found].flatMap(([query, hits]) => (hits === undefined ? [query] : []));
        const { signal } = options;
        const answers = await asked.search(missing, k, signal === undefined ? {} : { signal });
        await Promise.all(
          missing.map(async (query, i) => {
            const hits = answers[i]!;
            found.set(query, hits);
            if (JSON.stringify(lookUp(query)) === JSON.stringify(hits)) return;
            await recording.add({ fingerprint, query, k, hits: copied(hits) });
          }),
        );
        return queries.map((query) => copied(found.get(query)!));
      },
      close: async () => {
        await asked.close();
        await recording.close();
      },
    };
  } catch (error) {
    await asked.close();
    throw error;
  }
}

/** What a caller does to its hits stays with it. */
function copied(hits: readonly Hit[]): Hit[] {
  return hits.map((hit) => ({ ...hit }));
}
