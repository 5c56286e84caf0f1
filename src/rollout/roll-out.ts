import { deferring, type Undo } from "../base/deferring.ts";
import { answerIn } from "../env/protocols/protocol.ts";
import { seedFrom } from "../base/random.ts";
import { type BudgetNow, budgetOf, budgetsAt } from "../env/budget.ts";
import { requirePrompt, requireSearching } from "../env/environments/environment.ts";
import {
  answerOfCalls,
  type EndReason,
  type Observation,
  type Trajectory,
} from "../trajectory/trajectory.ts";
import type { DialogueSetting, Input } from "./dialogue.ts";
import {
  playMessage,
  type PlayedTurn,
  playWritten,
  type TurnPlace,
  type UnfinishedTurn,
} from "./play-message.ts";
import { firstTokens, type Policy, takesPrefill } from "./policy.ts";
import { openDialogue } from "./token-dialogue.ts";
import { shortened, spentBudget } from "./spent-budget.ts";
import { record, type RolloutOptions, runTools, timed } from "./record.ts";

/** Changes of a strategy to a plain rollout. */
export interface RolloutVariant {
  /** Search with the question and put the passages into the prompt. */
  searchFirst?: boolean;
  /** Passages that the prompt shows. */
  shownFirst?: Observation;
  prefill?: string;
  /** Instruction instead of the prefill for servers that cannot prefill; default: the protocol's request for an answer. */
  prefillRequest?: string;
  /** Turns in which tools run, instead of the environment's budget; 0: only the final turn. */
  maxTurns?: number;
  /** Writes and plays a turn; default: one message. */
  playTurn?: (place: TurnPlace) => Promise<PlayedTurn | UnfinishedTurn | null>;
  /** Changes the observations that the policy reads; the record keeps the originals. */
  readObservations?: (
    observations: readonly Observation[],
    trajectory: Trajectory,
  ) => Promise<readonly Observation[]>;
}

/** One trajectory: the policy writes a message, the environment answers, until it ends. */
export function rollOut(
  options: RolloutOptions,
  variant: RolloutVariant = {},
): Promise<Trajectory> {
  return record(options, (trajectory) => rollOutOn(options, trajectory, variant));
}

/** As `rollOut`, on a trajectory that a strategy has begun. */
export function rollOutOn(
  options: RolloutOptions,
  trajectory: Trajectory,
  variant: RolloutVariant,
): Promise<EndReason> {
  return deferring(async (defer) => {
    const game: Play = { ...options, variant, trajectory, prompt: "" };
    const standing = begin(game, defer);
    defer(() => {
      conclude(game, standing);
    });
    const { searchFirst = false } = variant;
    const shown = searchFirst ? await searchedFirst(options, trajectory) : variant.shownFirst;
    if (shown !== undefined) {
      game.prompt = promptWith(options, shown);
      (trajectory.given ??= []).push(shown);
    }
    return (await playPrefix(game, standing)) ?? (await playOut(game, standing));
  });
}

/** Opens the episode, which is closed at the end, and the dialogue; sets the game's prompt to the episode's. */
export function begin(game: Play, defer: (undo: Undo) => void): Standing {
  const { environment, task, policy, id, seed, progress, trajectory, variant } = game;
  const episode = environment.start(task, { trajectoryId: id, seed, progress });
  defer(() => runTools(game.signal, () => Promise.resolve(episode.close?.())));
  game.prompt = episode.prompt;
  const setting = dialogueSetting(game, trajectory);
  // Tools that never run are not sent to a server.
  const offered = variant.maxTurns === 0 ? { ...setting, tools: [] } : setting;
  return { episode, dialogue: openDialogue(policy, offered), inputs: [], prefill: "", turn: 0 };
}

/** Closes the dialogue and extracts the answer from the main line's messages. */
export function conclude({ environment, trajectory, prompt }: Play, { dialogue }: Standing): void {
  dialogue.end();
  const main = trajectory.turns.filter(({ chain }) => chain === undefined);
  const messages = main.map(({ text }) => text);
  const written = environment.answers ? answerIn(environment.protocol, { prompt, messages }) : null;
  trajectory.answer = answerOfCalls(main) ?? written;
}

/** Settings of a trajectory's dialogue, with the environment's protocol and budgets. */
export function dialogueSetting(options: RolloutOptions, trajectory: Trajectory): DialogueSetting {
  const { environment, task, id, seed, sampling, clock } = options;
  const { protocol, toolSchemas: tools } = environment;
  const budgets = budgetsNow(options);
  const { calls, turns } = trajectory;
  const onFirstToken = (ms: number): void => {
    (trajectory.timings ??= {}).firstTokenMs ??= ms;
  };
  return {
    id,
    seed,
    sampling,
    budgets,
    ending: protocol,
    protocol,
    tools,
    task,
    calls,
    turns,
    onFirstToken: clock === undefined ? undefined : onFirstToken,
  };
}

async function searchedFirst(
  options: RolloutOptions,
  trajectory: Trajectory,
): Promise<Observation> {
  const { environment, task, progress, signal } = options;
  const searchContext = { task, progress };
  const searching = requireSearching(environment);
  const search = () => searching.search(task.question, searchContext, signal);
  return timed(options, trajectory, "searchMs", () => runTools(signal, search));
}

/** The prompt with passages; they are marked if they do not fit. */
function promptWith(options: RolloutOptions, shown: Observation): string {
  const { environment, task } = options;
  const text = shownPart(options, shown);
  const context = environment.protocol.renderContext({ ...shown, text });
  return requirePrompt(environment)(task, context);
}

/** The part of an observation that the policy reads; a cut one is marked. */
export function shownPart(
  options: Pick<RolloutOptions, "environment" | "progress" | "policy">,
  observation: Observation,
): string {
  const text = firstTokens(options.policy, observation.text, observationLimit(options));
  if (text.length < observation.text.length) observation.cut = true;
  return text;
}

/** Most tokens of an observation that the policy reads. */
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

/** State of a trajectory between two turns. */
export type Standing = Pick<
  TurnPlace,
  "dialogue" | "episode" | "inputs" | "prefill" | "partTokens" | "turn"
>;

/** @param standing at the first turn; updated after each turn. */
export async function playOut(game: Play, standing: Standing): Promise<EndReason> {
  for (;;) {
    const end = await advance(game, standing);
    if (end !== null) return end;
  }
}

/** Plays a turn and updates `standing`. @returns how the trajectory ended; null: it continues. */
export async function advance(game: Play, standing: Standing): Promise<EndReason | null> {
  const { trajectory, variant } = game;
  const budgets = budgetsNow(game);
  const playTurn = variant.playTurn ?? ((at: TurnPlace) => playMessage(at));
  const { turn } = standing;
  const spent = spentBudget(budgets, trajectory, { turn, maxTurns: variant.maxTurns });
  if (spent?.onExhausted === "end") return spent.unit === "turns" ? "turn-limit" : "budget-limit";
  if (spent?.onExhausted === "forced-answer" && standing.prefill === "")
    Object.assign(standing, withForcedAnswer(game, standing.inputs));
  if (turn > 0 && standing.prefill === "") Object.assign(standing, opened(game, standing.inputs));
  const played = await playTurn({ options: game, trajectory, final: spent !== null, ...standing });
  if (played === null) return "context-limit";
  if ("unfinished" in played) {
    const partTokens = (standing.partTokens ?? 0) + played.tokens;
    Object.assign(standing, { inputs: [], prefill: played.unfinished, partTokens });
    return null;
  }
  const { result, dialogue, episode } = played;
  if (dialogue !== standing.dialogue) standing.dialogue.end();
  Object.assign(standing, { dialogue, episode });
  const { observations, end, reply } = result;
  if (end !== null || reply === null) return end ?? "no-answer";
  // The reader of observations opens dialogues of its own; they may need this one's place in the engine.
  if (variant.readObservations !== undefined) dialogue.end();
  const short = shortened(observations, budgets, game.policy);
  const asShown =
    short === observations ? reply : game.environment.protocol.renderObservations(short);
  const shown = await shownReply(game, short, asShown);
  const maxTokens = observationLimit(game);
  // Encoded once: whether it is cut is known before the policy reads it.
  const ids = "open" in game.policy ? undefined : game.policy.tokenizer.encode(shown.text);
  markCuts(observations, short, isWhole(game.policy, { ...shown, ids, maxTokens }));
  standing.inputs = [{ owner: "environment", ...shown, ids, maxTokens }];
  Object.assign(standing, { prefill: "", partTokens: 0 });
  standing.turn += 1;
  const { reissues = false } = game.environment;
  if (reissues !== false)
    reissue(game, standing, reissues === "memory" ? lastTurn(game, shown.text) : allResults(game));
  return null;
}

/** Replaces the dialogue by a fresh prompt with a context. */
function reissue(game: Play, standing: Standing, context: string): void {
  const { policy, environment, task, trajectory } = game;
  standing.dialogue.end();
  const seed = seedFrom(game.seed, "reissue", standing.turn);
  standing.dialogue = openDialogue(policy, { ...dialogueSetting(game, trajectory), seed });
  standing.inputs = [{ owner: "template", text: requirePrompt(environment)(task, context) }];
}

function allResults(game: Play): string {
  const { trajectory, environment } = game;
  return trajectory.turns
    .flatMap(({ observations }) => observations)
    .map((each) => environment.protocol.renderContext({ ...each, text: shownPart(game, each) }))
    .join("");
}

/** The last message and what the policy reads of its reply: what it does not write again is forgotten. Source: MEM1, arXiv 2506.15841. */
function lastTurn(game: Play, reply: string): string {
  const last = game.trajectory.turns.findLast(({ chain }) => chain === undefined);
  return `${last?.text ?? ""}${firstTokens(game.policy, reply, observationLimit(game))}`;
}

/** Sets the policy's first inputs; replays a task's prefix. @returns how the trajectory ended with it; null: it continues. */
export async function playPrefix(game: Play, standing: Standing): Promise<EndReason | null> {
  const { prefix = [] } = game.task;
  Object.assign(standing, beginning(game));
  for (const message of prefix) {
    const { trajectory } = game;
    const call = standing.dialogue.give(standing.inputs, message);
    const at = { options: game, trajectory, ...standing, final: false };
    const { result } = await playWritten(at, { text: message.text, call });
    const { end, reply, observations } = result;
    if (end !== null || reply === null) return end ?? "no-answer";
    const maxTokens = observationLimit(game);
    standing.inputs = [{ owner: "environment", text: reply, observations, maxTokens }];
    standing.turn += 1;
  }
  return null;
}

/** The inputs with the protocol's answer prefill or, for a server that cannot prefill, with a request for an answer. */
function withForcedAnswer(
  { policy, environment: { protocol } }: Play,
  inputs: readonly Input[],
): { inputs: Input[]; prefill: string } {
  if (takesPrefill(policy)) {
    const prefill = protocol.answerOpening;
    return { inputs: [...inputs, { owner: "inserted", text: prefill }], prefill };
  }
  const asked = inputs.map((each, i) =>
    i === inputs.length - 1 ? { ...each, text: each.text + protocol.answerRequest } : each,
  );
  return { inputs: asked, prefill: "" };
}

/** The inputs with what the protocol puts before a message after a reply; a server that cannot prefill is not asked for it. */
function opened(
  { policy, environment: { protocol } }: Play,
  inputs: readonly Input[],
): { inputs: readonly Input[]; prefill: string } {
  const { messageOpening: prefill = "" } = protocol;
  if (prefill === "" || !takesPrefill(policy)) return { inputs, prefill: "" };
  return { inputs: [...inputs, { owner: "inserted", text: prefill }], prefill };
}

function beginning({ policy, environment, variant, prompt, task }: Play): {
  inputs: Input[];
  prefill: string;
} {
  const { prefill, prefillRequest = environment.protocol.answerRequest } = variant;
  // A task's own first message takes no prefill.
  if (prefill === undefined || task.prefix !== undefined)
    return { inputs: [{ owner: "template", text: prompt }], prefill: "" };
  // The server cannot prefill, so it gets an instruction.
  if (!takesPrefill(policy))
    return { inputs: [{ owner: "template", text: prompt + prefillRequest }], prefill: "" };
  const inputs: Input[] = [
    { owner: "template", text: prompt },
    { owner: "inserted", text: prefill },
  ];
  return { inputs, prefill };
}

/** Marks observations that the policy reads only in part. All observations of a turn share one limit, which cuts the last ones. */
function markCuts(
  observations: readonly Observation[],
  short: readonly Observation[],
  whole: boolean,
): void {
  for (const [i, observation] of observations.entries())
    if (short[i] !== observation) observation.cut = true;
  const last = observations.at(-1);
  if (last !== undefined && !whole) last.cut = true;
}

/** Whether the policy reads all of an input. */
function isWhole(
  policy: Policy,
  { text, ids, maxTokens = Infinity }: Omit<Input, "owner">,
): boolean {
  if (ids !== undefined && ids.length <= maxTokens) return true;
  return firstTokens(policy, text, maxTokens).length === text.length;
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
