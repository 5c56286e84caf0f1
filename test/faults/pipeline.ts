/** What a user types to get from nothing to a measured policy, at its smallest: about half a minute on two cores. */

/** One command of the pipeline. */
export interface PipelineCommand {
  name: string;
  args: readonly string[];
  /** Added when the command was killed before: how its documentation says to go on. Commands without it are typed again. */
  resume: readonly string[];
  /** Codes of the refusals that mean that nothing is left to do: it was killed between its last write and its end. */
  finished: readonly string[];
  /** Folder that it makes. */
  product: string;
}

const RECIPE = ["--recipe", "search-r1", "--tier", "smoke"];
const FILES = ["dataset={name: files, tasks: world/train.jsonl}"];
const HELD_OUT = ["evaluation.dataset={name: files, tasks: world/test.jsonl}"];
const INDEX = ["retriever={name: bm25, index: idx}"];

const set = (...settings: string[]): string[] => settings.flatMap((each) => ["--set", each]);

/** Steps of the reinforcement learning. */
const TRAIN_STEPS = 4;

export const PIPELINE: readonly PipelineCommand[] = [
  {
    name: "data generate",
    args: [
      ...["data", "generate", "tinyworld", "--out", "world", "--seed", "7"],
      ...["--people", "400", "--questions", "20", "--splits", "train,test"],
    ],
    resume: ["--overwrite"],
    finished: [],
    product: "world",
  },
  {
    name: "index build",
    args: ["index", "build", "world/corpus.jsonl", "--out", "idx"],
    resume: [],
    finished: ["INDEX_EXISTS"],
    product: "idx",
  },
  {
    name: "synth-data",
    args: [
      ...["synth-data", ...RECIPE, "--dataset", "world/train.jsonl", "--index", "idx"],
      ...["--out", "synth", "--seed", "5"],
      ...set("synth.draws=[{name: plain, samples: 3}]", "synth.validation=0.2"),
    ],
    resume: ["--resume"],
    finished: [],
    product: "synth",
  },
  {
    name: "sft",
    args: [
      ...["sft", ...RECIPE, "--data", "synth", "--out", "sft", "--seed", "5"],
      ...set("sft.epochs=2", "sft.batch={size: 12, unit: samples}", "sft.validation.everySteps=3"),
      ...set("checkpoints={every: 2, keep: 2}"),
    ],
    resume: ["--resume"],
    finished: ["RUN_NOTHING_LEFT"],
    product: "sft",
  },
  {
    name: "train",
    args: [
      ...["train", ...RECIPE, "--model", "sft/policy", "--out", "train", "--seed", "5"],
      ...set(...FILES, ...HELD_OUT, ...INDEX, `algorithm.steps=${TRAIN_STEPS}`),
      ...set("algorithm.promptsPerStep=2", "algorithm.groupSize=4", "sampling.temperature=1"),
      ...set("algorithm.optimizer.learningRate=0.0001", "checkpoints={every: 1, keep: 2}"),
    ],
    resume: ["--resume"],
    finished: ["RUN_NOTHING_LEFT"],
    product: "train",
  },
  {
    name: "eval",
    args: [
      ...["eval", ...RECIPE, "--policy", `train/checkpoints/step-${TRAIN_STEPS}`],
      ...["--dataset", "world/test.jsonl", "--index", "idx", "--out", "eval", "--seed", "5"],
      ...["--samples", "2", "--temperature", "1"],
    ],
    resume: ["--resume"],
    finished: [],
    product: "eval",
  },
];
