import { type Part, registry } from "../base/registry.ts";
import type { Budget } from "../env/budget.ts";
import { trl as trlRows, verl as verlRows } from "../data/layouts/trainers.ts";
import type { Task } from "../trajectory/task.ts";
import { type ExportFacts, type Rule, rule, type TrainerKeys } from "./rule.ts";
import { algorithmOf, responseTokens, updatesPerStep } from "./shared-rules.ts";
import { skyrlRules } from "./skyrl-rules.ts";
import { TRAINERS } from "./trainers.ts";
import { trlRules } from "./trl-rules.ts";
import { verlRules } from "./verl-rules.ts";

/** A trainer that a recipe can be exported to. */
export interface ExportTarget extends Part {
  /** The release that the rules are made for. */
  readonly version: string;
  /** What plays the episodes: `agentrl serve env`, or the exported Python. */
  readonly plays: "agentrl" | "python";
  readonly rules: readonly Rule[];
  /** Keys that the trainer needs and no recipe has. */
  chosen(facts: ExportFacts, name: string): TrainerKeys;
  /** Tokens that a card computes at once in an update; absent: it trains on one card alone. */
  passTokens?(facts: ExportFacts): number;
  /** A row of data. */
  row(task: Task, place: RowPlace): object;
  /** The data files' extension. */
  readonly rows: "parquet" | "jsonl";
  /** Keys of the YAML configuration that are no settings. */
  readonly top?: object;
  /** How to start the training in the exported folder. */
  readonly run: string;
}

interface RowPlace {
  index: number;
  split: "train" | "validation";
  prompt: string;
  /** The policy's system message, where the trainer renders the prompt. */
  system: string | undefined;
}

/** A prompt of so many tokens holds the longest question, in its chat template. */
function promptTokens({ rows, settings }: ExportFacts): number {
  const template = settings.policy.chat === undefined ? 0 : 512;
  return Math.ceil((rows.longestPrompt + template) / 64) * 64;
}

const ROOT = "${agentrl.root}";

/** Processes that play episodes. */
const WORKERS = 8;

/** Sessions that all of them hold at once; played.py has the number of one. */
export const SESSIONS = WORKERS * 400;

/** Most tokens of a sequence. */
const sequenceTokens = (facts: ExportFacts): number =>
  promptTokens(facts) + responseTokens(facts.settings);

const verlPass = (facts: ExportFacts): number => Math.max(16_384, sequenceTokens(facts));

const verl: ExportTarget = {
  name: "verl",
  summary: "hydra configuration, Parquet, and an agent loop whose episodes agentrl plays",
  version: TRAINERS.verl,
  plays: "agentrl",
  rules: [
    ...verlRules,
    rule("dataset", {
      file: "data",
      to: (_, facts) => ({ "data.max_prompt_length": promptTokens(facts) }),
    }),
    rule("budgets", {
      ...verlRules.find(({ from }) => from === "budgets"),
      to: (_, { settings }) => ({ "data.max_response_length": responseTokens(settings) }),
    }),
  ],
  top: {
    hydra: { searchpath: ["pkg://verl.trainer.config"] },
    defaults: ["ppo_trainer", "_self_"],
  },
  chosen: (facts, name) => ({
    "agentrl.root": ".",
    "data.train_files": `${ROOT}/data/train.parquet`,
    "data.val_files": `${ROOT}/data/validation.parquet`,
    "data.shuffle": true,
    "data.filter_overlong_prompts": false,
    "actor_rollout_ref.rollout.name": "vllm",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
    "actor_rollout_ref.rollout.calculate_log_probs": true,
    "actor_rollout_ref.rollout.agent.num_workers": WORKERS,
    "actor_rollout_ref.rollout.agent.default_agent_loop": "agentrl",
    "actor_rollout_ref.rollout.agent.agent_loop_config_path": `${ROOT}/agentrl_loop.yaml`,
    "actor_rollout_ref.actor.use_dynamic_bsz": true,
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": verlPass(facts),
    "trainer.nnodes": 1,
    "trainer.n_gpus_per_node": facts.gpus,
    // Between rollouts and updates the states are in host memory, so that each has the card.
    ...(facts.gpus === 1
      ? {}
      : {
          "actor_rollout_ref.actor.fsdp_config.param_offload": true,
          "actor_rollout_ref.actor.fsdp_config.optimizer_offload": true,
          "actor_rollout_ref.ref.fsdp_config.param_offload": true,
          ...(facts.settings.algorithm?.name === "ppo"
            ? { "critic.fsdp.param_offload": true, "critic.fsdp.optimizer_offload": true }
            : {}),
          "actor_rollout_ref.model.enable_gradient_checkpointing": true,
        }),
    "trainer.logger": ["console"],
    "trainer.project_name": "agentrl",
    "trainer.experiment_name": name,
    "trainer.default_local_dir": `${ROOT}/checkpoints`,
    "trainer.val_before_train": true,
    "trainer.test_freq": algorithmOf(facts.settings).steps,
    "ray_kwargs.ray_init.runtime_env.env_vars.PYTHONPATH": ROOT,
  }),
  passTokens: verlPass,
  row: (task, place) => verlRows.write?.record(task, place) ?? {},
  rows: "parquet",
  run: "./run.sh",
};

const skyrl: ExportTarget = {
  name: "skyrl",
  summary: "configuration, Parquet, and a generator whose episodes agentrl plays",
  version: TRAINERS.skyrl,
  plays: "agentrl",
  rules: [
    ...skyrlRules,
    rule("dataset", {
      file: "data",
      to: (_, facts) => ({ "trainer.max_prompt_length": promptTokens(facts) }),
    }),
    rule<readonly Budget[]>("budgets", {
      ...skyrlRules.find(({ from }) => from === "budgets"),
      to: (_, facts) => {
        const tokens = sequenceTokens(facts);
        return { "agentrl.max_positions": tokens, "generator.max_input_length": tokens };
      },
    }),
  ],
  chosen: ({ settings, gpus }, name) => ({
    "agentrl.root": ".",
    "data.train_data": [`${ROOT}/data/train.parquet`],
    "data.val_data": [`${ROOT}/data/validation.parquet`],
    "environment.env_class": "search",
    // agentrl counts the turns; one would demand that prompts fill the context.
    "generator.max_turns": 2,
    "generator.inference_engine.num_engines": gpus,
    "generator.inference_engine.tensor_parallel_size": 1,
    "trainer.placement.policy_num_gpus_per_node": gpus,
    "trainer.placement.ref_num_gpus_per_node": gpus,
    "trainer.logger": "console",
    "trainer.project_name": "agentrl",
    "trainer.run_name": name,
    "trainer.ckpt_path": `${ROOT}/checkpoints`,
    "trainer.export_path": `${ROOT}/exports`,
    "trainer.eval_before_train": true,
    "trainer.eval_interval": algorithmOf(settings).steps,
  }),
  // One sequence is a micro-batch, unless the user says otherwise.
  passTokens: sequenceTokens,
  row: ({ id, question, references, source }, { index, split, prompt, system }) => ({
    data_source: source,
    prompt: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    env_class: "search",
    reward_spec: { method: "rule", ground_truth: { target: references } },
    extra_info: { index, split, id, question },
  }),
  rows: "parquet",
  run: "python main.py",
};

const trl: ExportTarget = {
  name: "trl",
  summary: "train.py with GRPOConfig, rewards and rollouts that search, JSON lines",
  version: TRAINERS.trl,
  plays: "python",
  rules: trlRules,
  chosen: ({ settings }) => {
    const updates = algorithmOf(settings).steps * updatesPerStep(settings);
    return {
      output_dir: "checkpoints",
      report_to: "none",
      logging_steps: 1,
      bf16: false,
      remove_unused_columns: false,
      eval_strategy: "steps",
      eval_steps: updates,
      eval_on_start: true,
    };
  },
  row: (task, place) => trlRows.write?.record(task, place) ?? {},
  rows: "jsonl",
  run: "python train.py",
};

/** Trainers that recipes can be exported to. */
export const exportTargets = registry<ExportTarget>("trainer", [verl, skyrl, trl]);
