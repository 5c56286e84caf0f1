import { extractAnswer } from "../env/answer-rule.ts";
import { budgetOf } from "../env/budget.ts";
import type { Environment, Episode } from "../env/environments/environment.ts";
import type { EndReason, Observation, Trajectory } from "../trajectory/trajectory.ts";
import type { Dialogue, DialogueSetting, Said } from "./dialogue.ts";
import { firstTokens, openDialogue, takesPrefix } from "./policy.ts";
import { record, type RolloutOptions, runTools, timed } from "./record.ts";

/** What a strategy changes about a plain rollout. */
export interface RolloutVariant {
  /** Search with the question and show what was found in the prompt. */
  searchFirst?: boolean;
  /** Text that every completion of the first turn is made to begin with. */
  forcedPrefix?: string;
  /** Turns in which tools run, instead of the environment's budget; 0 goes to the final turn at once. */
  maxTurns?: number;
}

/** One trajectory: the policy writes a message, the environment answers, until it ends. */
export function rollOut(
  options: RolloutOptions,
  variant: RolloutVariant = {},
): Promise<Trajectory> {
  const { environment, task, policy, id, seed, progress } = options;
  return record(options, async (trajectory) => {
    const episode = environment.start(task, { trajectoryId: id, seed, progress });
    const dialogue = openDialogue(policy, dialogueSetting(options, trajectory));
    let { prompt } = episode;
    try {
      if (variant.searchFirst === true) {
        const searched = await promptAfterSearch(options, trajectory);
        prompt = searched.prompt;
        trajectory.given = searched.given;
      }
      return await play({ ...options, variant, trajectory, episode, prompt, dialogue });
    } finally {
      dialogue.end();
      const messages = trajectory.turns.map(({ text }) => text);
      trajectory.answer = extractAnswer(environment.protocol.answer, { prompt, messages });
    }
  });
}

/** What a dialogue of a trajectory is opened with, under the environment's own protocol and budgets. */
export function dialogueSetting(
  { environment, task, id, seed, sampling, clock }: RolloutOptions,
  trajectory: Trajectory,
): DialogueSetting {
  const { protocol, budgets, toolSchemas: tools } = environment;
  const { calls, turns } = trajectory;
  const onFirstToken = (ms: number): void => {
    (trajectory.timings ??= {}).firstTokenMs ??= ms;
  };
  return {
    ...{ id, seed, sampling, budgets, ending: protocol, protocol, tools, task, calls, turns },
    ...(clock === undefined ? {} : { onFirstToken }),
  };
}

/** The prompt with the passages that the question itself finds, and what it found. */
async function promptAfterSearch(
  options: RolloutOptions,
  trajectory: Trajectory,
): Promise<SearchedPrompt> {
  const { environment, policy, task, progress, signal } = options;
  const asker = { task, ...(progress === undefined ? {} : { progress }) };
  const search = () => environment.search(task.question, asker, signal);
  const found = await timed(options, trajectory, "searchMs", () => runTools(signal, search));
  // As much of the passages as one observation may show.
  const text = firstTokens(policy, found.text, observationLimit(environment));
  const context = environment.protocol.renderContext({ ...found, text });
  return { prompt: environment.renderPrompt(task, context), given: [found] };
}

interface SearchedPrompt {
  prompt: string;
  given: Observation[];
}

/** Tokens of an observation that a policy is shown at most. */
export function observationLimit({ budgets }: Environment): number {
  return budgetOf(budgets, "observation")?.limit ?? Infinity;
}

interface Play extends RolloutOptions {
  variant: RolloutVariant;
  trajectory: Trajectory;
  episode: Episode;
  prompt: string;
  dialogue: Dialogue;
}

async function play(game: Play): Promise<EndReason> {
  const { environment, policy, trajectory, variant, episode, dialogue, signal } = game;
  const turns = budgetOf(environment.budgets, "trajectory");
  const maxTurns = variant.maxTurns ?? turns?.limit ?? Infinity;
  const hasFinalTurn = variant.maxTurns !== undefined || turns?.onExhausted !== "end";
  const forced = takesPrefix(policy) ? variant.forcedPrefix : undefined;
  // What cannot be begun for the policy is asked of it.
  const asked = forced === variant.forcedPrefix ? "" : environment.protocol.answerRequest;
  let next: Said[] = [{ owner: "template", text: game.prompt + asked }];
  if (forced !== undefined) next.push({ owner: "inserted", text: forced });
  for (let turn = 0; ; turn++) {
    const final = turn >= maxTurns;
    if (final && !hasFinalTurn) return "turn-limit";
    const write = () => dialogue.write(next, signal);
    const message = await timed(game, trajectory, "modelMs", write);
    if (message === null) return "context-limit";
    const text = turn === 0 ? (forced ?? "") + message.text : message.text;
    const step = () => episode.step(text, { final, signal });
    const result = await timed(game, trajectory, "searchMs", () => runTools(signal, step));
    const { actions, problems, observations, end, reply } = result;
    trajectory.turns.push({ call: message.call, text, actions, problems, observations });
    if (end !== null || reply === null) return end ?? "no-answer";
    const maxTokens = observationLimit(environment);
    next = [{ owner: "environment", text: reply, maxTokens, observations }];
  }
}
