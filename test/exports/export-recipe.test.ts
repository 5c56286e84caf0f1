import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { parseYaml } from "../../src/base/yaml.ts";
import { exportRecipe } from "../../src/exports/export-recipe.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import type { Override } from "../../src/run/settings/settings.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
let count = 0;

const set = (settings: Record<string, unknown>): Override[] =>
  Object.entries(settings).map(([key, value]) => ({ key, value, origin: "--set" }));

/** The message of a refusal. */
async function refusalOf(exporting: Promise<unknown>): Promise<string> {
  const error: unknown = await exporting.then(
    () => null,
    (failed: unknown) => failed,
  );
  expect(error).toEqual(errorWith("EXPORT_UNFIT"));
  return (error as Error).message;
}

/** A rate that every trainer can have. */
const RATE = { "algorithm.optimizer.learningRate": 1e-4 };
const HALF_COSINE = { schedule: "cosine", from: 1e-4, to: 5e-5 };

async function exported(to: string, settings: Record<string, unknown> = RATE, gpus?: number) {
  const overrides = set(settings);
  const resolved = await resolveRecipe("search-r1", { tier: "smoke", overrides });
  const out = join(folder, String(count++));
  const written = await exportRecipe(resolved, to, { out, gpus });
  const config = Object.fromEntries(written.config.map(({ key, value }) => [key, value]));
  const text = (name: string): string => readFileSync(join(out, name), "utf8");
  return { written, config, text, out };
}

describe("exportRecipe", () => {
  it("writes verl's configuration over its own, with what each value comes from", async () => {
    const { config, text, written } = await exported("verl");
    expect(written.files).toEqual([
      ...["README.md", "agentrl_loop.py", "agentrl_loop.yaml", "config.yaml"],
      ...["data/train.parquet", "data/validation.parquet", "origins.json", "played.py"],
      ...["policy/README.md", "policy/config.json", "policy/model.safetensors"],
      ...["policy/recipe.resolved.yaml", "policy/tokenizer.json", "policy/tokenizer_config.json"],
      ...["policy/training-log.jsonl", "recipe.resolved.yaml", "run.sh"],
    ]);
    expect(config).toMatchObject({
      "algorithm.adv_estimator": "grpo",
      "algorithm.norm_adv_by_std_in_grpo": true,
      "actor_rollout_ref.actor.use_kl_loss": true,
      "actor_rollout_ref.actor.kl_loss_coef": 0.001,
      "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
      "actor_rollout_ref.actor.ppo_mini_batch_size": 2,
      "actor_rollout_ref.actor.optim.lr": 1e-4,
      "actor_rollout_ref.actor.optim.betas": [0.9, 0.999],
      "actor_rollout_ref.rollout.n": 4,
      "actor_rollout_ref.model.path": "${agentrl.root}/policy",
      "algorithm.rollout_correction.bypass_mode": true,
      "data.train_batch_size": 4,
      "data.max_response_length": 500,
      "trainer.total_training_steps": 2,
    });
    const yaml = text("config.yaml");
    expect(yaml).toMatch(/kl_loss_coef: 0\.001 # algorithm\.klCoef \(.*search-r1\.yaml:\d+\)/);
    expect(yaml).toMatch(/lr: 0\.0001 # algorithm\.optimizer\.learningRate \(--set\)/);
    expect(yaml).toMatch(/name: vllm # chosen by the export/);
    expect(parseYaml(yaml, "config.yaml").value).toMatchObject({
      defaults: ["ppo_trainer", "_self_"],
      actor_rollout_ref: { actor: { kl_loss_coef: 0.001 } },
    });
  });

  it("writes SkyRL's configuration, with room for the longest sequence", async () => {
    const { config } = await exported("skyrl");
    expect(config).toMatchObject({
      "trainer.algorithm.advantage_estimator": "grpo",
      "trainer.algorithm.kl_loss_coef": 0.001,
      "trainer.policy_mini_batch_size": 2,
      "trainer.train_batch_size": 4,
      "agentrl.max_positions": 628,
      "generator.max_input_length": 628,
      "generator.n_samples_per_prompt": 4,
      "generator.eval_sampling_params.temperature": 0,
      "environment.env_class": "search",
    });
  });

  it("writes TRL's settings as Python, and its rows as JSON lines", async () => {
    const { text, config, written } = await exported("trl");
    expect(config).toMatchObject({
      beta: 0.001,
      use_bias_correction_kl: false,
      epsilon: 0.2,
      epsilon_high: 0.2,
      delta: null,
      loss_type: "dapo",
      num_generations: 4,
      per_device_train_batch_size: 8,
      gradient_accumulation_steps: 1,
      steps_per_generation: 2,
      max_steps: 4,
      num_iterations: 1,
      scale_rewards: "group",
    });
    expect(text("config.py")).toMatch(/"delta": None, {2}# algorithm\.dualClip \(default\)/);
    const [row] = text("data/train.jsonl").split("\n");
    expect(JSON.parse(row ?? "")).toMatchObject({
      prompt: [{ role: "user", content: expect.stringMatching(/^Question: /) as string }],
      references: [expect.any(String)],
    });
    expect(written.rows).toEqual({ train: 16, validation: 16 });
  });

  it("names what TRL computes otherwise, and not the limit of k3 that verl and SkyRL share", async () => {
    const differing = async (to: string, settings: Record<string, unknown>): Promise<string[]> => {
      const { written } = await exported(to, { ...RATE, ...settings });
      return written.keys.flatMap(({ from, differs }) => (differs === undefined ? [] : [from]));
    };
    const asked = { "algorithm.entropyCoef": 0.01 };
    const trl = await differing("trl", asked);
    expect(trl).toEqual(expect.arrayContaining(["algorithm.klEstimator", "algorithm.entropyCoef"]));
    expect(await differing("trl", { "algorithm.klCoef": 0 })).not.toContain(
      "algorithm.klEstimator",
    );
    for (const to of ["verl", "skyrl"])
      expect(await differing(to, asked)).not.toContain("algorithm.klEstimator");
  });

  it("writes the protocol, budgets and rewards that the episodes are played and scored by", async () => {
    const { text } = await exported("trl");
    expect(JSON.parse(text("experiment.json"))).toMatchObject({
      policy: { path: "policy", chat: null, lora: null },
      protocol: {
        call: ["<search>", "</search>"],
        answer: ["<answer>", "</answer>"],
        result: ["\n\n<information>", "</information>\n\n"],
        callsFirst: true,
        stop: ["</search>"],
        onInvalid: "retry",
      },
      tool: { topK: 2, show: "plain" },
      budgets: {
        turns: { limit: 4, onExhausted: "final-turn" },
        turnTokens: 48,
        observationTokens: 120,
        contextTokens: 500,
      },
      rewards: [{ name: "exact-match", as: "exact-match", weight: 1, options: {} }],
      reward: null,
      learningRates: [1e-4, 1e-4, 1e-4, 1e-4],
    });
  });

  it("tells how to start the server with the recipe's retriever, and what the trainer does otherwise", async () => {
    const { text } = await exported("trl", { retriever: { name: "bm25", k1: 1.2 } });
    const readme = text("README.md");
    expect(readme).toMatch(
      /agentrl serve --retriever '\{"name":"bm25","k1":1\.2.*\}' --corpus data\/corpus\.jsonl/,
    );
    expect(readme).toMatch(/- algorithm\.oldLogprobs: TRL computes old log-probabilities again/);
  });

  it.each([
    ["verl", "data.train_batch_size", "actor_rollout_ref.actor.ppo_mini_batch_size"],
    ["skyrl", "trainer.train_batch_size", "trainer.policy_mini_batch_size"],
  ])(
    "%s trains on as many prompts as minibatches of whole groups divide, and says so",
    async (to, step, minibatch) => {
      const settings = { ...RATE, "algorithm.promptsPerStep": 8, "algorithm.minibatches": 3 };
      const { config, text } = await exported(to, settings);
      expect([config[step], config[minibatch]]).toEqual([6, 2]);
      expect(text("README.md")).toContain(
        "- algorithm.promptsPerStep: 6 in place of 8, which 3 minibatches of whole groups divide.",
      );
    },
  );

  it.each(["verl", "skyrl", "trl"])(
    "%s has room for all turns where the recipe forgets the oldest",
    async (to) => {
      const { text, config } = await exported(to, {
        ...RATE,
        "budgets.3.onExhausted": "drop-oldest",
      });
      // Five turns of 48 tokens, and four observations of 120.
      const tokens = 5 * 48 + 4 * 120;
      if (to !== "trl") expect(text("recipe.resolved.yaml")).not.toContain("scope: context");
      else
        expect(JSON.parse(text("experiment.json"))).toMatchObject({
          budgets: { contextTokens: null },
        });
      expect(text("README.md")).toContain(
        `nothing is dropped: the context has room for ${tokens} tokens`,
      );
      expect(config).not.toHaveProperty("generator.max_input_length", 499);
      if (to === "verl") expect(config["data.max_response_length"]).toBe(tokens);
      if (to === "trl") expect(config["max_completion_length"]).toBe(tokens);
    },
  );

  it("has sets that differ in their questions alone among the validation rows, and names the others", async () => {
    const more = { name: "tinyworld", split: "test", people: 60, questions: 5 };
    const sets = {
      more: { dataset: more },
      greedy: { dataset: more, sampling: { temperature: 1 } },
    };
    const alone = await exported("trl");
    const { written, text } = await exported("trl", { ...RATE, "evaluation.sets": sets });
    expect(written.rows.validation).toBe(alone.written.rows.validation + 5);
    expect(text("README.md")).toContain(
      "- evaluation.sets: greedy not exported, since more than the questions is otherwise there.",
    );
  });

  it("asks the recipe's own retrieval server", async () => {
    const retriever = { name: "search-r1-server", url: "http://retrieval:8000/retrieve" };
    const { text, written } = await exported("trl", { ...RATE, retriever });
    expect(JSON.parse(text("experiment.json"))).toMatchObject({
      searchUrl: "http://retrieval:8000/retrieve",
    });
    expect(text("README.md")).toContain("server that answers at http://retrieval:8000/retrieve.");
    expect(written.files).not.toContain("data/corpus.jsonl");
  });

  it("lets agentrl play verl's episodes: any protocol, tool and reward of one trajectory", async () => {
    const retriever = { name: "search-r1-server", url: "http://retrieval:8000" };
    const { text, out } = await exported("verl", {
      ...RATE,
      retriever,
      "environment.protocol": "hermes",
      rewards: [
        { name: "exact-match", as: "em" },
        { name: "retrieval-hit", as: "hit" },
      ],
      reward: "em + 0.1 * hit / max(searches, 1)",
    });
    expect(text("README.md")).toMatch(/searches go to http:\/\/retrieval:8000\/retrieve/);
    expect(text("README.md")).toContain(
      "agentrl serve env recipe.resolved.yaml --tier smoke --port 8002 --tokenizer policy --max-sessions 3200",
    );
    const { settings } = await resolveRecipe(join(out, "recipe.resolved.yaml"), { tier: "smoke" });
    expect(settings).toMatchObject({
      retriever,
      environment: { protocol: { name: "hermes" } },
      reward: "em + 0.1 * hit / max(searches, 1)",
    });
  });

  it("exports one training of several, the last unless another is named, and says what comes before", async () => {
    const stages = [
      { do: "train", name: "first", set: { "algorithm.steps": 3, reward: "0.5 * turns" } },
      { do: "train", name: "second" },
    ];
    const overrides = set({ ...RATE, stages });
    const resolved = await resolveRecipe("search-r1", { tier: "smoke", overrides });
    const [first, last] = [join(folder, "first"), join(folder, "last")];
    const steps = async (out: string, stage?: string) => {
      const { config, keys } = await exportRecipe(resolved, "verl", { out, stage });
      const differs = keys.find(({ from }) => from === "stages")?.differs;
      const found = config.find(({ key }) => key === "trainer.total_training_steps");
      return { steps: found?.value, differs };
    };
    expect(await steps(first, "first")).toEqual({ steps: 3, differs: undefined });
    expect(readFileSync(join(first, "recipe.resolved.yaml"), "utf8")).toMatch(
      /reward: 0\.5 \* turns/,
    );
    expect(await steps(last)).toEqual({
      steps: 2,
      differs:
        "this is the training after first: export them too (`agentrl recipes export search-r1 --stage first`), and start it from the policy that they leave",
    });
    await expect(steps(join(folder, "none"), "secnd")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /--stage is "secnd".*Did you mean "second"/),
    );
  });

  it("uses as many cards as it is told", async () => {
    const [one, eight] = [await exported("verl", RATE), await exported("verl", RATE, 8)];
    const cards = "trainer.n_gpus_per_node";
    const offload = "actor_rollout_ref.actor.fsdp_config.optimizer_offload";
    expect([one.config[cards], one.config[offload]]).toEqual([1, undefined]);
    expect([eight.config[cards], eight.config[offload]]).toEqual([8, true]);
    // 3 prompts of 4 trajectories are 12, which 8 cards do not share evenly; 2 are 8.
    const skyrl = (await exported("skyrl", { ...RATE, "algorithm.promptsPerStep": 6 }, 8)).config;
    expect(skyrl).toMatchObject({
      "generator.inference_engine.num_engines": 8,
      "trainer.placement.policy_num_gpus_per_node": 8,
      "trainer.policy_mini_batch_size": 2,
      "trainer.train_batch_size": 4,
    });
  });

  it("trains a critic with SkyRL where gamma and lambda are 1, and a cosine that ends at nothing", async () => {
    const rate = { ...HALF_COSINE, to: 1e-7 };
    const critic = { "algorithm.name": "ppo", "algorithm.optimizer.learningRate": rate };
    const { config, text } = await exported("skyrl", critic, 8);
    expect(config).toMatchObject({
      "trainer.algorithm.advantage_estimator": "gae",
      "trainer.algorithm.gamma": 1,
      "trainer.algorithm.lambd": 1,
      "trainer.algorithm.value_clip": 0.5,
      "trainer.critic.model.path": "${agentrl.root}/policy",
      "trainer.critic.optimizer_config.lr": 1e-3,
      "trainer.critic.optimizer_config.scheduler": "cosine",
      "trainer.policy.optimizer_config.lr": 1e-4,
      "trainer.policy.optimizer_config.scheduler": "cosine",
      "trainer.placement.critic_num_gpus_per_node": 8,
    });
    expect(config["trainer.critic_mini_batch_size"]).toBe(config["trainer.policy_mini_batch_size"]);
    expect(text("README.md")).toContain(
      "- algorithm.optimizer.learningRate: the cosine ends at 0.",
    );
  });

  it.each([
    ["verl", "trainer.logger", ["console", "wandb", "mlflow"], null],
    ["skyrl", "trainer.logger", "wandb", "; not logged: mlflow"],
    ["trl", "report_to", ["wandb", "mlflow"], null],
  ])("lets %s log to the recipe's reporters", async (to, key, logger, left) => {
    const reporters = ["wandb", { name: "mlflow", url: "http://127.0.0.1:5000" }];
    const { config, text } = await exported(to, { ...RATE, reporters });
    expect(config[key]).toEqual(logger);
    const says = "the trainer logs its own metrics, to where its environment variables say";
    expect(text("README.md")).toContain(`- reporters: ${says}${left ?? ""}.`);
  });

  it("leaves nothing behind when it fails on the way", async () => {
    const out = join(folder, "failed");
    const file = join(folder, "bad.jsonl");
    writeFileSync(
      file,
      '{"question": "Who?", "golden_answers": ["Ada"], "id": "1"}\n{"question": 1}\n',
    );
    const dataset = { name: "files", tasks: file };
    const overrides = set({ ...RATE, dataset, retriever: { name: "bm25" } });
    const resolved = await resolveRecipe("search-r1", { tier: "smoke", overrides });
    await expect(exportRecipe(resolved, "trl", { out })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD"),
    );
    expect(existsSync(out)).toBe(false);
  });

  it("refuses everything that a trainer cannot have, all at once, and writes nothing", async () => {
    const settings = {
      "budgets.3.scope": "response",
      "algorithm.minibatches": 5,
      "rewards.0.name": "cover-em",
      "algorithm.optimizer.learningRate": { schedule: "linear", from: 1e-4, to: 1e-5 },
    };
    const lines = (await refusalOf(exported("trl", settings))).split("\n").slice(1);
    expect(lines).toEqual([
      expect.stringMatching(
        /^ {2}budgets\.3 is \{"scope":"response".*\} \(.*\); allowed: .*context, tokens: end/,
      ),
      expect.stringMatching(
        /^ {2}rewards\.0 is \{"name":"cover-em".*; allowed: exact-match, token/,
      ),
      "  algorithm.minibatches is 5 (--set); allowed: a divisor of algorithm.promptsPerStep · algorithm.groupSize",
    ]);
  });

  it.each([
    ["skyrl", { ...RATE, "algorithm.name": "ppo", "algorithm.gamma": 0.99 }, "algorithm.gamma"],
    [
      "skyrl",
      { ...RATE, "algorithm.name": "ppo", "algorithm.critic.warmup": 2 },
      "algorithm.critic",
    ],
    [
      "skyrl",
      { "algorithm.optimizer.learningRate": HALF_COSINE },
      "algorithm.optimizer.learningRate",
    ],
    ["verl", { ...RATE, "sampling.minP": 0.1 }, "sampling.minP"],
    ["verl", { ...RATE, strategy: "tree-rollout" }, "strategy"],
    ["verl", { ...RATE, reward: "group_mean(turns)" }, "reward"],
    ["verl", { ...RATE, "rewards.0": { name: "retrieval-hit", per: "turn" } }, "algorithm.name"],
    ["trl", { "algorithm.klEstimator": "k1" }, "algorithm.klEstimator"],
    ["trl", { strategy: "rag" }, "strategy"],
    ["trl", { retriever: { name: "noisy", of: "bm25", rate: 0.2 } }, "retriever"],
    ["trl", { "environment.protocol": "hermes" }, "environment.protocol"],
    ["trl", { "algorithm.lossOn": ["policy", "environment"] }, "algorithm.lossOn"],
  ])("to %s refuses %j", async (to, settings, key) => {
    const message = await refusalOf(exported(to, settings));
    expect(message).toMatch(new RegExp(`\\n {2}${key.replaceAll(".", "\\.")} is `));
  });

  it("refuses a folder that holds something, and a recipe without an algorithm", async () => {
    const resolved = await resolveRecipe("search-r1", { tier: "smoke" });
    const again = exportRecipe(resolved, "trl", { out: packageRoot });
    await expect(again).rejects.toEqual(errorWith("OUTPUT_EXISTS"));
    const bare = await resolveRecipe("corag", { tier: "smoke" });
    const out = join(folder, "bare");
    expect(await refusalOf(exportRecipe(bare, "trl", { out }))).toMatch(
      /algorithm is null .*allowed: grpo, ppo/,
    );
  });
});
