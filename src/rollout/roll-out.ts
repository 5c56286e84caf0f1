import { extractAnswer } from "../env/answer-rule.ts";
import { type BudgetNow, budgetOf, budgetsAt } from "../env/budget.ts";
import {
  type Episode,
  requireSearching,
  requireStepResult,
  type StepResult,
} from "../env/environments/environment.ts";
import type { EndReason, InsertedHint, Observation, Trajectory } from "../trajectory/trajectory.ts";
import { agentRunner } from "./agents.ts";
import type { Dialogue, DialogueSetting, Interject, Message, Said } from "./dialogue.ts";
import { firstTokens, takesPrefix } from "./policy.ts";
import { openDialogue } from "./token-dialogue.ts";
import { shortened, spentBudget } from "./spent-budget.ts";
import { record, type RolloutOptions, runTools, timed } from "./record.ts";

/** What a strategy changes about a plain rollout. */
export interface RolloutVariant {
  /** Search with the question and show what was found in the prompt. */
  searchFirst?: boolean;
  /** Prefill of every completion of the first turn. */
  forcedPrefix?: string;
  /** Instruction for a policy without prefill; default: the protocol's request for an answer. */
  prefixRequest?: string;
  /** Turns in which tools run, instead of the environment's budget; 0: only the final turn. */
  maxTurns?: number;
  /** Plays a turn, if that needs more than one message. */
  playTurn?: (place: TurnPlace) => Promise<PlayedTurn | null>;
  /** Rewrites the observations for the policy; the record keeps the originals. */
  readObservations?: (
    observations: readonly Observation[],
    trajectory: Trajectory,
  ) => Promise<readonly Observation[]>;
}

/** State of a rollout before a turn. */
export interface TurnPlace {
  options: RolloutOptions;
  trajectory: Trajectory;
  /** State after the last turn; a caller that plays several messages forks both. */
  dialogue: Dialogue;
  episode: Episode;
  /** Next input of the policy. */
  said: readonly Said[];
  /** Prefill of its message; also in `said`. */
  opening: string;
  /** May insert text into its message while it is written; sees the message with its opening. */
  interject?: Interject;
  /** Hints in `said`, for the record. */
  hints?: readonly Omit<InsertedHint, "call">[];
  /** Number of the turn, from 0. */
  turn: number;
  /** Whether tools no longer run. */
  final: boolean;
}

/** Result of a turn: the rollout continues with its dialogue and episode. */
export interface PlayedTurn {
  dialogue: Dialogue;
  episode: Episode;
  result: StepResult;
}

/** One trajectory: the policy writes a message, the environment answers, until it ends. */
export function rollOut(
  options: RolloutOptions,
  variant: RolloutVariant = {},
): Promise<Trajectory> {
  return record(options, (trajectory) => rollOutOn(options, trajectory, variant));
}

/** The same on an existing trajectory, after other work of a strategy. */
export async function rollOutOn(
  options: RolloutOptions,
  trajectory: Trajectory,
  variant: RolloutVariant,
): Promise<EndReason> {
  const game: Play = { ...options, variant, trajectory, prompt: "" };
  const standing = begin(game);
  try {
    if (variant.searchFirst === true) {
      const searched = await promptAfterSearch(options, trajectory);
      game.prompt = searched.prompt;
      (trajectory.given ??= []).push(...searched.given);
    }
    return (await playPrefix(game, standing)) ?? (await playOut(game, standing));
  } finally {
    conclude(game, standing);
  }
}

/** Opens a trajectory's episode and dialogue, before its first turn; the game's prompt is the episode's. */
export function begin(game: Play): Standing {
  const { environment, task, policy, id, seed, progress, trajectory, variant } = game;
  const episode = environment.start(task, { trajectoryId: id, seed, progress });
  game.prompt = episode.prompt;
  const setting = dialogueSetting(game, trajectory);
  // A server gets no tools that would never run.
  const offered = variant.maxTurns === 0 ? { ...setting, tools: [] } : setting;
  return { episode, dialogue: openDialogue(policy, offered), said: [], opening: "", turn: 0 };
}

/** Closes the dialogue and reads the answer out of the main line's messages. */
export function conclude({ environment, trajectory, prompt }: Play, { dialogue }: Standing): void {
  dialogue.end();
  const main = trajectory.turns.filter(({ chain }) => chain === undefined);
  const messages = main.map(({ text }) => text);
  trajectory.answer = environment.answers
    ? extractAnswer(environment.protocol.answer, { prompt, messages })
    : null;
}

/** Settings of a trajectory's dialogue, with the environment's own protocol and budgets. */
export function dialogueSetting(options: RolloutOptions, trajectory: Trajectory): DialogueSetting {
  const { environment, task, id, seed, sampling, clock } = options;
  const { protocol, toolSchemas: tools } = environment;
  const budgets = budgetsNow(options);
  const { calls, turns } = trajectory;
  const onFirstToken = (ms: number): void => {
    (trajectory.timings ??= {}).firstTokenMs ??= ms;
  };
  return {
    ...{ id, seed, sampling, budgets, ending: protocol, protocol, tools, task, calls, turns },
    ...(clock === undefined ? {} : { onFirstToken }),
  };
}

/** The prompt with the passages found by the question itself, and the passages. */
async function promptAfterSearch(
  options: RolloutOptions,
  trajectory: Trajectory,
): Promise<SearchedPrompt> {
  const { environment, policy, task, progress, signal } = options;
  const searchContext = { task, ...(progress === undefined ? {} : { progress }) };
  const searching = requireSearching(environment);
  const search = () => searching.search(task.question, searchContext, signal);
  const found = await timed(options, trajectory, "searchMs", () => runTools(signal, search));
  // Passages up to the limit of one observation.
  const text = firstTokens(policy, found.text, observationLimit(options));
  const context = environment.protocol.renderContext({ ...found, text });
  return { prompt: searching.renderPrompt(task, context), given: [found] };
}

interface SearchedPrompt {
  prompt: string;
  given: Observation[];
}

/** Most tokens of an observation that a policy sees. */
export function observationLimit(options: InEnvironment): number {
  return budgetOf(budgetsNow(options), "observation")?.limit ?? Infinity;
}

type InEnvironment = Pick<RolloutOptions, "environment" | "progress">;

function budgetsNow({ environment, progress }: InEnvironment): readonly BudgetNow[] {
  return budgetsAt(environment.budgets, progress);
}

/** A rollout under way. */
export interface Play extends RolloutOptions {
  variant: RolloutVariant;
  trajectory: Trajectory;
  prompt: string;
}

/** Where a trajectory stands between two turns. */
export type Standing = Pick<TurnPlace, "dialogue" | "episode" | "said" | "opening" | "turn">;

/** @param standing at the first turn: changed from turn to turn. */
export async function playOut(game: Play, standing: Standing): Promise<EndReason> {
  for (;;) {
    const end = await advance(game, standing);
    if (end !== null) return end;
  }
}

/**
 * Plays a turn.
 * @param standing before it, and afterwards before the next.
 * @returns how the trajectory ended with it; null: it has not.
 */
export async function advance(game: Play, standing: Standing): Promise<EndReason | null> {
  const { trajectory, variant } = game;
  const budgets = budgetsNow(game);
  const playTurn = variant.playTurn ?? ((at: TurnPlace) => playMessage(at));
  const { turn } = standing;
  const spent = spentBudget(budgets, trajectory, { turn, maxTurns: variant.maxTurns });
  if (spent?.onExhausted === "end") return spent.unit === "turns" ? "turn-limit" : "budget-limit";
  if (spent?.onExhausted === "forced-answer" && standing.opening === "")
    Object.assign(standing, withForcedAnswer(game, standing.said));
  const played = await playTurn({
    ...{ options: game, trajectory, final: spent !== null },
    ...standing,
  });
  if (played === null) return "context-limit";
  const { result, dialogue, episode } = played;
  if (dialogue !== standing.dialogue) standing.dialogue.end();
  Object.assign(standing, { dialogue, episode });
  const { observations, end, reply } = result;
  if (end !== null || reply === null) return end ?? "no-answer";
  // A reader of observations has dialogues of its own, which must not wait for the place that this one holds.
  if (variant.readObservations !== undefined) dialogue.end();
  const short = shortened(observations, budgets, game.policy);
  const asShown =
    short === observations ? reply : game.environment.protocol.renderObservations(short);
  const shown = await shownReply(game, short, asShown);
  standing.said = [{ owner: "environment", ...shown, maxTokens: observationLimit(game) }];
  standing.opening = "";
  standing.turn += 1;
  return null;
}

/**
 * Sets what the policy reads first; of a task that begins with messages, replays them.
 * @returns how the trajectory ended with them; null: it has not.
 */
export async function playPrefix(game: Play, standing: Standing): Promise<EndReason | null> {
  const { prefix = [] } = game.task;
  Object.assign(standing, beginning(game));
  for (const message of prefix) {
    const { trajectory } = game;
    const call = standing.dialogue.give(standing.said, message);
    const at = { options: game, trajectory, ...standing, final: false };
    const { result } = await playWritten(at, { text: message.text, call });
    const { end, reply, observations } = result;
    if (end !== null || reply === null) return end ?? "no-answer";
    const maxTokens = observationLimit(game);
    standing.said = [{ owner: "environment", text: reply, observations, maxTokens }];
    standing.turn += 1;
  }
  return null;
}

/** What the policy reads, with the beginning of an answer as a prefill or, where it takes none, a request for one. */
function withForcedAnswer(
  { policy, environment: { protocol } }: Play,
  said: readonly Said[],
): { said: Said[]; opening: string } {
  if (takesPrefix(policy)) {
    const opening = protocol.answerOpening;
    return { said: [...said, { owner: "inserted", text: opening }], opening };
  }
  const asked = said.map((each, i) =>
    i === said.length - 1 ? { ...each, text: each.text + protocol.answerRequest } : each,
  );
  return { said: asked, opening: "" };
}

/** The policy's first input, and the prefill of its first message. */
function beginning({ policy, environment, variant, prompt, task }: Play): {
  said: Said[];
  opening: string;
} {
  const { forcedPrefix, prefixRequest = environment.protocol.answerRequest } = variant;
  // A first message that is given is not forced to begin with anything.
  if (forcedPrefix === undefined || task.prefix !== undefined)
    return { said: [{ owner: "template", text: prompt }], opening: "" };
  // Without prefill the policy gets an instruction.
  if (!takesPrefix(policy))
    return { said: [{ owner: "template", text: prompt + prefixRequest }], opening: "" };
  const said: Said[] = [
    { owner: "template", text: prompt },
    { owner: "inserted", text: forcedPrefix },
  ];
  return { said, opening: forcedPrefix };
}

async function shownReply(
  { variant, environment, trajectory }: Play,
  observations: readonly Observation[],
  reply: string,
): Promise<{ text: string; observations: readonly Observation[] }> {
  if (variant.readObservations === undefined || observations.length === 0)
    return { text: reply, observations };
  const read = await variant.readObservations(observations, trajectory);
  return { text: environment.protocol.renderObservations(read), observations: read };
}

/**
 * One message and the environment's reaction, recorded as a turn.
 * @param chain its chain, if not the main line.
 * @returns null when the context is full.
 */
export async function playMessage(place: TurnPlace, chain?: string): Promise<PlayedTurn | null> {
  const message = await askForMessage(place);
  return message === null ? null : playWritten(place, message, chain);
}

/** A message with its prefill, recorded as a call. @returns null when the context is full. */
export async function askForMessage(place: TurnPlace): Promise<Message | null> {
  const { options, trajectory, dialogue, said, opening, interject, hints = [] } = place;
  const within = interject === undefined ? undefined : afterOpening(opening, interject);
  const write = () => dialogue.write(said, options.signal, within);
  const message = await timed(options, trajectory, "modelMs", write);
  if (message === null) return null;
  const { call, put } = message;
  const inIt = put.map(({ name, text }) => ({ name, text }));
  for (const hint of [...hints, ...inIt]) (trajectory.hints ??= []).push({ ...hint, call });
  return { ...message, text: opening + message.text };
}

/** The environment's reaction to a message, recorded with it as a turn. */
export async function playWritten(
  { options, trajectory, dialogue, episode, final, opening }: TurnPlace,
  { text, call }: Pick<Message, "text" | "call">,
  chain?: string,
): Promise<PlayedTurn> {
  const { signal } = options;
  const runAgent = agentRunner(options, trajectory);
  const step = () => episode.step(text, { final, signal, runAgent });
  const result = await timed(options, trajectory, "searchMs", () => runTools(signal, step));
  requireStepResult(options.environment.name, result);
  const { actions, problems, observations, reward, status, canonical = text } = result;
  // A prefill stands in the prompt, so only a message without one can be rewritten as a whole.
  const isRewritten = canonical !== text && opening === "" && dialogue.rewrite !== undefined;
  if (isRewritten) dialogue.rewrite?.(canonical);
  trajectory.turns.push({
    ...{ call, text: isRewritten ? canonical : text, actions, problems, observations },
    ...(reward === undefined ? {} : { reward }),
    ...(status === undefined ? {} : { status }),
    ...(chain === undefined ? {} : { chain }),
  });
  return { dialogue, episode, result };
}

/** Adapts an `Interject` that sees the opening to a dialogue without it: an opening is never removed. */
function afterOpening(opening: string, interject: Interject): Interject {
  const { length } = opening;
  return (message, put) => {
    const there = put.map((each) => ({ ...each, at: each.at + length }));
    const found = interject(opening + message, there);
    return found && { ...found, keep: Math.max(0, found.keep - length) };
  };
}
