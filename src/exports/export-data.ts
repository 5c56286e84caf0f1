import { join } from "node:path";
import type { Dataset } from "../data/dataset.ts";
import { writeJsonl } from "../data/write-jsonl.ts";
import { writeParquet } from "../data/write-parquet.ts";
import { type Environment, requirePrompt } from "../env/environments/environment.ts";
import { openNamedDataset } from "../run/assemble.ts";
import { setsOf } from "../run/evaluation-sets.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ExportFacts } from "./rule.ts";
import type { ExportTarget } from "./targets.ts";
import { exportedSets } from "./translated-rules.ts";

interface Writing {
  settings: Settings;
  environment: Environment;
  to: ExportTarget;
  out: string;
  signal: AbortSignal | undefined;
}

/** Writes questions of training and evaluation, and the corpus of a retriever that has no passages of its own. */
export async function writeData(
  writing: Writing,
): Promise<ExportFacts["rows"] & { corpus: number }> {
  const { settings, to, out, signal } = writing;
  const training = await openNamedDataset(settings.dataset, settings.environment);
  const held: Dataset[] = [];
  for (const setting of [settings.evaluation.dataset, ...furtherDatasets(writing)])
    held.push(await openNamedDataset(setting, settings.environment));
  const train = await writeSplit(writing, [training], "train");
  const validation = await writeSplit(writing, held, "validation");
  const hasOwn = ["index", "url", "baseUrl"].some((key) => key in settings.retriever);
  const corpus =
    hasOwn || to.plays === "agentrl"
      ? 0
      : (await writeJsonl(join(out, "data", "corpus.jsonl"), training.passages(), signal)).records;
  const longestPrompt = Math.max(train.longest, validation.longest);
  return { train: train.rows, validation: validation.rows, longestPrompt, corpus };
}

/** Datasets of the further evaluations whose questions are validation rows too. */
function furtherDatasets({ settings, to }: Writing): Settings["dataset"][] {
  return to.plays === "agentrl"
    ? setsOf(settings).map(({ settings: { evaluation } }) => evaluation.dataset)
    : [...exportedSets(settings).values()];
}

async function writeSplit(
  { settings, environment, to, out, signal }: Writing,
  datasets: readonly Dataset[],
  split: "train" | "validation",
): Promise<{ rows: number; longest: number }> {
  const render = requirePrompt(environment);
  const system = settings.policy.chat?.system;
  let longest = 0;
  async function* rows(): AsyncGenerator<object> {
    let index = 0;
    for (const dataset of datasets) {
      for await (const task of dataset.stream()) {
        const prompt = render(task, "");
        longest = Math.max(longest, Buffer.byteLength(prompt));
        yield to.row(task, { index, split, prompt, system });
        index += 1;
      }
    }
  }
  const file = join(out, "data", `${split}.${to.rows}`);
  const { records } =
    to.rows === "parquet"
      ? await writeParquet(file, rows, signal)
      : await writeJsonl(file, rows(), signal);
  return { rows: records, longest };
}
