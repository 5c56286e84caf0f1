// A whole GRPO step through the loop that `agentrl train` runs, with messages of a fixed length: nothing ends one early.
import { readFile } from "node:fs/promises";
import { enginePolicy } from "../../dist/rollout/policy.js";
import { withNamedParts } from "../../dist/base/define-part.js";
import { grpo } from "../../dist/algorithms/grpo.js";
import { trainOnPolicy } from "../../dist/algorithms/on-policy.js";

/** @param settings.prompts file of [{prompt, references}]; as many as a step takes. */
export async function grpoTurn({ prompts: path, groupSize, newTokens, learningRate }, engine) {
  const prompts = JSON.parse(await readFile(path, "utf8"));
  const tasks = prompts.map(({ prompt, references }, i) => ({
    ...{ id: String(i), question: prompt, references, source: "bench", annotations: {} },
  }));
  const algorithm = {
    ...{ steps: 1, promptsPerStep: prompts.length, groupSize, klCoef: 0 },
    optimizer: { learningRate },
  };
  // Parts are loaded when a recipe names them, and here is none.
  const rewards = [{ name: "token-f1", weight: 1, options: {} }];
  const options = await withNamedParts([algorithm, rewards], () => grpo.options.parse(algorithm));
  let seed = 0;
  const turn = async () => {
    let done;
    await trainOnPolicy({
      algorithm: grpo,
      options,
      ...{ engine, policy: unending(enginePolicy(engine, engine.tokenizer)), tasks },
      ...{ environment: oneMessage(newTokens), strategy: "agent" },
      rewards,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      ...{ seed: seed++, firstStep: 0, signal: new AbortController().signal },
      onStep: (step) => {
        done = step;
        return Promise.resolve();
      },
    });
    const { timings, tokens, trajectories } = done;
    const rollout = timings.rollout / 1000;
    const update = timings.update / 1000;
    const reward = trajectories.reduce((sum, each) => sum + each.reward, 0) / trajectories.length;
    const computed = tokens.trained + trajectories.length;
    return { rollout, update, sampled: tokens.sampled, computed, reward };
  };
  const first = await turn();
  return { ready: { threads: engine.workers, sampled: first.sampled }, turn };
}

/** The same policy without end tokens. */
function unending(policy) {
  return {
    ...{ role: policy.role, tokenizer: policy.tokenizer, maxPositions: policy.maxPositions },
    version: 0,
    complete: (request) => policy.complete({ ...request, stopIds: [] }),
    end: (sequence) => policy.end(sequence),
  };
}

/** The prompt as it is, one message of so many tokens, and all of it is the answer. */
function oneMessage(newTokens) {
  const protocol = {
    ...{ tags: [], stopStrings: [], findCut: () => null, answerOpening: "" },
    parse: () => ({ actions: [], problems: [] }),
    answer: { scope: "response", pattern: "(.*)", pick: "first", atLeast: 1 },
  };
  const step = () =>
    Promise.resolve({ actions: [], problems: [], observations: [], reply: null, end: "answered" });
  return {
    ...{ protocol, readsGold: false },
    budgets: [{ scope: "turn", unit: "tokens", limit: newTokens, onExhausted: "cut" }],
    start: (task) => ({ prompt: task.question, step }),
  };
}
