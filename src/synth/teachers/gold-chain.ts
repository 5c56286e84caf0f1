import { ConfigError, RolloutError } from "../../base/errors.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import type { TextPolicy } from "../../rollout/policy.ts";
import { scriptedText, type ScriptPlace } from "../../rollout/scripted-text.ts";
import { strategies } from "../../rollout/strategies/index.ts";
import { briefForcedAnswer, briefPlan } from "./brief-plan.ts";
import { textAfter } from "./planned-text.ts";
import type { GoldChainSettings } from "./teacher-settings.ts";
import { defaultSearches, tellingPlan } from "./telling-plan.ts";

/**
 * A teacher that follows a dataset's own gold through the real environment, with no model: every query is run, and what it brings
 * decides what comes next. Messages are written in the environment's grammar.
 *
 * The same question, seed and turns give the same message, whatever was written before.
 *
 * A rollout fails with TEACHER_GAVE_UP where its searches do not bring what the answer needs, and with TEACHER_CANNOT_PLAY (a
 * ConfigError: the run stops) where a strategy asks with prompts of its own.
 */
export function goldChainPolicy(settings: GoldChainSettings): TextPolicy {
  return scriptedText((place) => {
    if (place.ownPrompt) throw cannotPlay();
    const turns = place.turns.filter(({ chain }) => chain === undefined);
    const planned = planOf({ ...place, turns }, settings);
    return textAfter(place.opening, planned, place);
  });
}

/** Strategies under which every prompt is the environment's. */
export const GOLD_CHAIN_STRATEGIES: readonly string[] = strategies.parts
  .filter(({ prompts, name }) => prompts !== "own" && name !== "search-o1")
  .map(({ name }) => name);

function cannotPlay(): ConfigError {
  return new ConfigError(
    "TEACHER_CANNOT_PLAY",
    `teacher gold-chain: the strategy asks with prompts of its own, which only a model can answer. It plays ${GOLD_CHAIN_STRATEGIES.join(", ")}; choose one of these, or a teacher with a model.`,
  );
}

function planOf(place: ScriptPlace, settings: GoldChainSettings): PlannedMessage {
  const { task, turns, shown, seed, opening, protocol } = place;
  const isForced = opening.startsWith(protocol.answerOpening);
  const { style, behaviour } = settings;
  if (style === "brief") {
    if (task.annotations.decomposition === undefined) {
      throw gaveUp("style brief needs a decomposition into questions, which this question lacks");
    }
    return isForced
      ? briefForcedAnswer(task, shown[0] ?? "")
      : briefPlan({ task, turns }, behaviour, seed);
  }
  const searches = settings.searches ?? defaultSearches(task);
  const mustAnswer = isForced || turns.length >= place.maxTurns;
  const planned = tellingPlan({ task, turns, shown, seed, mustAnswer }, { behaviour, searches });
  if (planned === null) {
    throw gaveUp(`${turns.length} turns did not bring all that the answer needs`);
  }
  return planned;
}

function gaveUp(why: string): RolloutError {
  return new RolloutError("TEACHER_GAVE_UP", `teacher gold-chain: ${why}.`);
}
