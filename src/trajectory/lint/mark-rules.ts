/** Rules for the notes on a trajectory: its names, hints and rewards. */
import type { LintRule } from "./lint-rule.ts";

export const names: LintRule = {
  name: "names",
  summary: "The ids of trajectory, question and group are not empty.",
  find: (trajectory) =>
    (["id", "taskId", "groupId"] as const).flatMap((key) =>
      trajectory[key] === "" ? [`${key} is empty.`] : [],
    ),
};

export const hints: LintRule = {
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

export const rewardValues: LintRule = {
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
