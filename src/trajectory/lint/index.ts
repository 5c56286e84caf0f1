import { registry } from "../../base/registry.ts";
import type { Call } from "../trajectory.ts";
import type { LintRule } from "./lint-rule.ts";
import {
  endToken,
  logprobCount,
  logprobGreedy,
  logprobPlace,
  logprobValue,
  owners,
  textOrIds,
  tokenIds,
} from "./token-rules.ts";
import { answer, end, shown, turnOrder, turnText } from "./turn-rules.ts";

const names: LintRule = {
  name: "names",
  summary: "The ids of trajectory, question and group are not empty.",
  find: (trajectory) =>
    (["id", "taskId", "groupId"] as const).flatMap((key) =>
      trajectory[key] === "" ? [`${key} is empty.`] : [],
    ),
};

const hints: LintRule = {
  name: "hint",
  summary: "Each hint is an inserted segment of its call; hints are in the order of the calls.",
  find({ calls, hints: noted = [] }, { textOf }) {
    let last = 0;
    return noted.flatMap(({ name, call: number, text }, index) => {
      const call = calls[number];
      const where = `hints[${index}] (${name})`;
      if (call === undefined) return [`${where}: there is no call ${number}.`];
      const found = number < last ? [`${where}: call ${number} follows call ${last}.`] : [];
      last = number;
      const inserted = [...call.prompt, ...call.completion].filter(
        ({ owner }) => owner === "inserted",
      );
      // Without a tokenizer the rule can only check that something was inserted.
      const stands = inserted.some((segment) => textOf(segment)?.includes(text) ?? true);
      return stands
        ? found
        : [...found, `${where}: no inserted segment of call ${number} has this text.`];
    });
  },
};

const rewardValues: LintRule = {
  name: "reward",
  summary:
    "Rewards are numbers, or null if they cannot be scored, and their calls and tokens exist.",
  find({ calls, rewards, reward }) {
    const isScore = (value: unknown): boolean => value === null || Number.isFinite(value);
    const found = isScore(reward)
      ? []
      : [`reward is ${String(reward)}; expected a number or null.`];
    for (const [index, { name, value, at }] of rewards.entries()) {
      const where = `rewards[${index}] (${name})`;
      if (!isScore(value)) found.push(`${where} is ${String(value)}; expected a number or null.`);
      if (at === null) continue;
      const call = calls[at.call];
      if (call === undefined) {
        found.push(`${where} belongs to call ${at.call}; there are ${calls.length} calls.`);
        continue;
      }
      const tokens = call.completion.reduce((sum, { ids }) => sum + ids.length, 0);
      // A server keeps its own tokens, so they cannot be counted here.
      const known = call.completion.every(({ text }) => text === undefined);
      const { token } = at;
      if (token !== undefined && known && !(token >= 0 && token < tokens))
        found.push(
          `${where} belongs to token ${token} of call ${at.call}, which wrote ${tokens} tokens.`,
        );
    }
    return found;
  },
};

const parents: LintRule = {
  name: "parent",
  summary: "A call continues an earlier call, so that there is no circle.",
  find: ({ calls }) =>
    calls.flatMap(({ parent }, index) =>
      parent === null || (Number.isInteger(parent) && parent >= 0 && parent < index)
        ? []
        : [`calls[${index}].parent is ${parent}; expected an earlier call, or null.`],
    ),
};

/** A call holds only the tokens after its parent's sequence; the usual mistake is a prompt that repeats the conversation. */
const prefix: LintRule = {
  name: "prefix",
  summary:
    "A call adds to its parent's sequence: its prompt does not begin with the conversation again.",
  find: ({ calls }) =>
    calls.flatMap((call, index) => {
      const root = rootOf(calls, call);
      if (root === call || root === null) return [];
      const start = contentOf(root.prompt);
      if (start.length === 0 || !startsWith(contentOf(call.prompt), start)) return [];
      return [
        `calls[${index}] continues calls[${call.parent ?? ""}] and repeats the first prompt (${start.length} ${root.prompt.some(({ ids }) => ids.length > 0) ? "ids" : "pieces of text"}).`,
      ];
    }),
};

function rootOf(calls: readonly Call[], call: Call): Call | null {
  let at: Call | undefined = call;
  for (let steps = 0; at !== undefined && steps <= calls.length; steps++) {
    if (at.parent === null) return at;
    at = calls[at.parent];
  }
  return null;
}

function contentOf(segments: Call["prompt"]): (number | string)[] {
  return segments
    .filter(({ owner }) => owner !== "inserted")
    .flatMap(({ ids, text }): (number | string)[] => (text === undefined ? ids : [text]));
}

function startsWith(whole: readonly unknown[], start: readonly unknown[]): boolean {
  return whole.length >= start.length && start.every((each, i) => whole[i] === each);
}

/** All rules for trajectories, in the order in which they run. */
export const lintRules = registry<LintRule>("lint rule", [
  names,
  tokenIds,
  textOrIds,
  logprobCount,
  logprobValue,
  logprobPlace,
  logprobGreedy,
  owners,
  endToken,
  parents,
  prefix,
  turnOrder,
  turnText,
  shown,
  answer,
  end,
  hints,
  rewardValues,
]);
