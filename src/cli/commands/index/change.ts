import { readText } from "../../../base/files.ts";
import { formatBytes, formatCount, plural } from "../../../base/format.ts";
import type { IndexManifest } from "../../../retrieval/bm25/index-manifest.ts";
import { claimWriting } from "../../claim-output.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { openCorpus, PASSAGE_OPTIONS } from "../../data-flags.ts";
import { withProgress } from "../../model-download.ts";
import { type Flags, jsonFlag, options, pluginFlag, wholeNumber } from "../../options.ts";
import { usage } from "../../usage.ts";
import { checkChangeable, CORPUS, INDEX, sizesOf } from "./index-flags.ts";

/** Adds `add`. */
export const indexAdd = defineCommand({
  name: "add",
  summary: "add passages to an index",
  description:
    "Add the passages of a corpus to a BM25 index, as a segment of their own. Hits and scores are those of an index of all of them.",
  args: [
    ["<index>", INDEX],
    ["<corpus>", CORPUS],
  ],
  options: {
    ...PASSAGE_OPTIONS,
    plugin: pluginFlag(),
    threads: ["<n>", "worker threads (default: number of cores minus one)", wholeNumber(0)],
    json: jsonFlag(),
  },
  async run(flags, context, folder, path) {
    const { json, textField, titleField, idField, ...options } = flags;
    await checkChangeable(folder);
    claimWriting(folder);
    const corpus = await openCorpus(path, { textField, titleField, idField }, context);
    const { addToIndex } = await import("../../../retrieval/bm25/change-index.ts");
    const bar = { label: "adding", total: 0, unit: "passages" };
    const given = { ...options, source: path, signal: context.signal };
    const manifest = await withProgress(context, bar, (onProgress) =>
      addToIndex(folder, corpus.passages(), { ...given, onProgress }),
    );
    const added = manifest.segments.at(-1)?.passages ?? 0;
    if (json === true) context.out(JSON.stringify({ index: folder, added, ...sizesOf(manifest) }));
    else context.out(`${folder}: ${formatCount(added)} passages added; ${stateText(manifest)}`);
  },
});

const DELETE_OPTIONS = options({
  ids: ["<list>", "ids, comma-separated"],
  idsFile: ["<file>", "file with one id per line"],
  compact: [
    "",
    "write all segments as one, without deleted passages: searches get faster; needs the disk space of the result while it works; without ids it does only this",
  ],
  json: jsonFlag(),
});

type DeleteFlags = Flags<typeof DELETE_OPTIONS>;

/** Adds `delete`. */
export const indexDelete = defineCommand({
  name: "delete",
  summary: "delete passages from an index, and compact it",
  description:
    "Delete passages from a BM25 index by their ids. Hits and scores are those of an index without them; their text leaves the disk with --compact.",
  args: [["<index>", INDEX]],
  options: DELETE_OPTIONS,
  run: (flags, context, folder) => change(folder, flags, context),
});

/** `compact`, the earlier name of `delete --compact` without ids. */
export const indexCompact = defineCommand({
  name: "compact",
  hidden: true,
  description: "The same as `index delete INDEX --compact`.",
  args: [["<index>", INDEX]],
  options: { json: jsonFlag() },
  run: ({ json }, context, folder) => change(folder, { compact: true, json }, context),
});

async function change(
  folder: string,
  { json, compact, ...flags }: DeleteFlags,
  context: CliContext,
): Promise<void> {
  const isGiven = flags.ids !== undefined || flags.idsFile !== undefined;
  const ids = isGiven || compact === undefined ? await idsOf(flags) : [];
  await checkChangeable(folder);
  claimWriting(folder);
  const { compactIndex, deleteFromIndex } = await import("../../../retrieval/bm25/change-index.ts");
  const removed = ids.length === 0 ? null : await deleteFromIndex(folder, ids);
  const { readBm25Manifest } = await import("../../../retrieval/bm25/index-manifest.ts");
  const before = sizesOf(removed?.manifest ?? (await readBm25Manifest(folder)));
  const { signal } = context;
  const manifest = compact === true ? await compactIndex(folder, { signal }) : removed?.manifest;
  if (manifest === undefined) return;
  const sizes = sizesOf(manifest);
  if (json === true) {
    const { deleted, unknown } = removed ?? {};
    const ofDelete = removed === null ? {} : { deleted, unknown, stillOnDisk: sizes.deleted };
    const ofCompact = compact === true ? { before } : {};
    context.out(JSON.stringify({ index: folder, ...sizes, ...ofDelete, ...ofCompact }));
    return;
  }
  const done = removed === null ? "" : `${formatCount(removed.deleted)} passages deleted; `;
  const was =
    compact === true
      ? `; before, ${plural(before.segments, "segment")}, ${formatBytes(before.bytesOnDisk)}`
      : "";
  context.out(`${folder}: ${done}${stateText(manifest)}${was}`);
  if (removed !== null && removed.unknown.length > 0) context.note(unknownText(removed.unknown));
}

const UNKNOWN_SHOWN = 5;

function unknownText(ids: readonly string[]): string {
  const shown = ids.slice(0, UNKNOWN_SHOWN).map((id) => `"${id}"`);
  const more = ids.length > shown.length ? ", …" : "";
  return `Not in the index: ${formatCount(ids.length)} of the ids (${shown.join(", ")}${more}).`;
}

async function idsOf({ ids, idsFile }: DeleteFlags): Promise<string[]> {
  const listed = ids === undefined ? [] : ids.split(",");
  const lines = idsFile === undefined ? [] : (await readText(idsFile)).split(/\r?\n/);
  const all = [...listed, ...lines].map((id) => id.trim()).filter((id) => id !== "");
  if (all.length > 0) return all;
  throw usage("index delete needs ids: --ids a,b or --ids-file FILE.");
}

function stateText(manifest: IndexManifest): string {
  const { passages, deleted, segments, bytesOnDisk } = sizesOf(manifest);
  const dead = deleted === 0 ? "" : ` and ${formatCount(deleted)} deleted`;
  return `${formatCount(passages)} passages${dead} in ${plural(segments, "segment")}, ${formatBytes(bytesOnDisk)}`;
}
