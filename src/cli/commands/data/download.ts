import { formatBytes, formatCount } from "../../../base/format.ts";
import { renderText } from "../../../base/table.ts";
import { readCard } from "../../../data/cards/card.ts";
import { downloadDataset } from "../../../data/cards/download-dataset.ts";
import { claimWriting } from "../../claim-output.ts";
import { type CliContext, defineCommand } from "../../command.ts";
import { jsonFlag } from "../../options.ts";
import { type Progress, startProgress } from "../../progress.ts";

/** `agentrl data download NAME` */
export const dataDownload = defineCommand({
  name: "download",
  summary: "fetch a dataset that has a card",
  description:
    "Download a dataset. An interrupted download resumes, also in the next run; checksum, layout and published size are checked.",
  args: [["<name>", "dataset; `agentrl data list` names them"]],
  options: {
    split: [
      "<names>",
      "splits to download, comma-separated; repeatable (default: all splits of the source)",
      (text: string, before: string[] | undefined) => [...(before ?? []), ...text.split(",")],
    ],
    source: [
      "<name>",
      "where to download from; `agentrl data list NAME` lists the sources (default: the first)",
    ],
    out: [
      "<folder>",
      "folder for the files (default: AGENTRL_DATA or ~/.cache/agentrl/datasets, where --dataset NAME finds them)",
    ],
    json: jsonFlag(),
  },
  more: (command) => command.addHelpText("after", MIRRORS),
  async run({ split, source, out, json }, context, name) {
    const card = readCard(name, "name");
    context.note(`${name}: licence ${card.license} (${card.homepage})`);
    if (out !== undefined) claimWriting(out);
    const watch = watchBytes(context);
    try {
      const files = await downloadDataset(card, {
        splits: split === undefined ? undefined : split.map((each) => each.trim()),
        source,
        out,
        onProgress: watch.onProgress,
        signal: context.signal,
        onNotice: (notice) => {
          watch.stop();
          context.note(notice);
        },
      });
      watch.stop();
      const unit = card.kind === "corpus" ? "passages" : "questions";
      if (json === true) {
        context.out(JSON.stringify({ name, license: card.license, files }));
        return;
      }
      const rows = files.map(({ split: of, records, bytes, path, wasHere }) => [
        ...[of, `${formatCount(records)} ${unit}`, bytes],
        wasHere ? `${path} (was here)` : path,
      ]);
      const columns = [
        "",
        { label: "", align: "right" as const },
        { label: "", format: formatBytes },
      ];
      context.out(renderText({ columns, rows }));
    } finally {
      watch.stop();
    }
  },
});

const MIRRORS = `
Mirrors: HF_ENDPOINT for files of the hub (HF_TOKEN is sent there alone);
AGENTRL_DATA_URL for all others, which holds each file under its host and path,
as \`wget --force-directories\` lays them down.`;

function watchBytes(context: CliContext): {
  onProgress: (progress: { file: string; bytes: number; totalBytes: number | null }) => void;
  stop: () => void;
} {
  let bar: Progress | null = null;
  return {
    onProgress: ({ file, bytes, totalBytes }) => {
      const total = totalBytes === null ? 0 : Math.max(1, Math.round(totalBytes / 1e6));
      bar ??= startProgress(context, { label: "downloading", total, unit: "MB" });
      bar.update(Math.floor(bytes / 1e6), file);
    },
    stop: () => {
      bar?.stop();
      bar = null;
    },
  };
}
