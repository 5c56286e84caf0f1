import { ConfigError, RolloutError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { type PlannedMessage, textAfter } from "../../env/protocols/protocol.ts";
import { type ScriptPlace, defineTeacher } from "../../env/teacher.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";
import { strategies } from "../../rollout/strategies/index.ts";
import { askedReply } from "./asked-reply.ts";
import { behaviourSchema } from "./behaviour.ts";
import { blocksSchema, withBlocks } from "./blocks.ts";
import {
  briefForcedAnswer,
  briefPlan,
  briefReasoned,
  namedInQuestion,
  stepsReadLast,
  stepsRemembered,
} from "./brief-plan.ts";
import { writeWithSlips } from "./malformed.ts";
import { defaultSearches, tellingPlan } from "./telling-plan.ts";

const options = z.strictObject({
  behaviour: behaviourSchema.prefault({}),
  /**
   * Wording of its messages. telling: a thought for each step, for any dataset. brief: the three thoughts that the base policy knows, for
   * decompositions into whole questions, as worlds give them.
   */
  style: z.enum(["telling", "brief"]).default("telling"),
  /** With style brief: what it writes into which blocks of the grammar; none when absent. */
  blocks: blocksSchema.optional(),
  /** Most searches of a trajectory; default: twice the passages that its question needs, plus two. */
  searches: z.int().min(1).optional(),
});

type GoldChainSettings = z.output<typeof options>;

/**
 * A teacher without a model that follows gold annotations in the real environment: every query is run, and its results decide the next
 * message. Equal question, seed and turns give the same message. With style brief it also answers a strategy's own prompts.
 * @throws TEACHER_GAVE_UP if searches do not find what the answer needs; TEACHER_CANNOT_PLAY (the run stops) for prompts it cannot answer.
 */
export const goldChain = defineTeacher({
  name: "gold-chain",
  summary: "Follows a dataset's gold annotations, search by search.",
  options,
  open: (settings) => (place) => {
    if (place.asked !== undefined && settings.style === "brief") {
      requireSteps(place);
      return askedReply(place.asked, place, settings.behaviour);
    }
    if (place.ownPrompt || place.asked !== undefined) throw cannotPlay();
    const turns = place.turns.filter(({ chain }) => chain === undefined);
    const planned = planOf({ ...place, turns }, settings);
    const { malformed } = settings.behaviour;
    const { prefill } = place;
    if (settings.style === "brief") {
      const draw = random(place.seed).derive("slip", turns.length);
      const written = writeWithSlips(planned, malformed, place, draw);
      if (written.startsWith(prefill)) return written.slice(prefill.length);
    }
    return textAfter(prefill, planned, place);
  },
});

/** Strategies without prompts of their own: for both styles. */
export const goldChainStrategies = (): string[] =>
  strategies.loaded
    .filter(({ prompts, name }) => prompts !== "own" && name !== "search-o1")
    .map(({ name }) => name);

/** Strategies whose own prompts say what they ask for: for the style brief. */
export const askedStrategies = (): string[] =>
  strategies.loaded
    .filter(({ describesPrompts }) => describesPrompts === true)
    .map(({ name }) => name);

function cannotPlay(): ConfigError {
  const message = `teacher gold-chain: the strategy has its own prompts, which gold-chain cannot answer with these settings. It supports ${goldChainStrategies().join(", ")}, and with "style: brief" also ${askedStrategies().join(", ")}; choose one of these, or a teacher with a model.`;
  return new ConfigError("TEACHER_CANNOT_PLAY", message);
}

function planOf(place: ScriptPlace, settings: GoldChainSettings): PlannedMessage {
  const { task, turns, shown, seed, prefill, protocol } = place;
  const isForced = prefill.startsWith(protocol.answerOpening);
  const { style, behaviour } = settings;
  if (style === "brief") {
    requireSteps(place);
    return briefMessage(place, settings, isForced);
  }
  const searches = settings.searches ?? defaultSearches(task);
  const mustAnswer = isForced || turns.length >= place.maxTurns;
  const planned = tellingPlan({ task, turns, shown, seed, mustAnswer }, { behaviour, searches });
  if (planned === null)
    throw gaveUp(`${turns.length} turns did not find all that the answer needs`);
  return planned;
}

function briefMessage(
  { task, turns, shown, seed, tools }: ScriptPlace,
  { behaviour, blocks }: GoldChainSettings,
  isForced: boolean,
): PlannedMessage {
  const [prompt = ""] = shown;
  if (isForced) return briefForcedAnswer(task, prompt);
  const { message, read } =
    tools.length === 0
      ? briefReasoned(task, prompt, behaviour, seed)
      : { message: briefPlan({ task, turns }, behaviour, seed), read: stepsReadLast(task, turns) };
  if (blocks === undefined) return message;
  const draw = random(seed).derive("cite", turns.length);
  const { miscite = 0, forget = 0 } = behaviour;
  const remembered = stepsRemembered({ task, turns }, forget, seed);
  const told = forget > 0 ? fromMemory(message, task, remembered) : message;
  return withBlocks(told, blocks, { task, read, remembered, miscite, draw });
}

/** An answer that needs a forgotten step names the last that it remembers instead: wrong, but copied. */
function fromMemory(
  message: PlannedMessage,
  task: Task,
  remembered: readonly SolutionStep[],
): PlannedMessage {
  const isWhole = remembered[0] === task.annotations.decomposition?.[0];
  if (message.action.tool !== "answer" || isWhole) return message;
  const input = remembered.at(-1)?.answer ?? namedInQuestion(task);
  return { ...message, action: { tool: "answer", input } };
}

/** @throws {RolloutError} TEACHER_GAVE_UP when the question has no decomposition. */
function requireSteps({ task }: ScriptPlace): void {
  if (task.annotations.decomposition !== undefined) return;
  throw gaveUp("style brief needs a decomposition into questions, which this question lacks");
}

function gaveUp(why: string): RolloutError {
  return new RolloutError("TEACHER_GAVE_UP", `teacher gold-chain: ${why}.`);
}
