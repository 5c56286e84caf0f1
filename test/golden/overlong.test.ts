import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NO_HISTORY } from "../../src/rewards/context.ts";
import { rewardExpression } from "../../src/rewards/expression/expression.ts";
import { answered } from "../helpers/search-world.ts";

interface Golden {
  longest: number;
  buffer: number;
  tokens: number;
  penalty: number;
}

const { cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, "overlong.json"), "utf8"),
) as { cases: Golden[] };

it.each(cases)(
  "DAPO's shaping as an expression equals TRL's: $tokens of $longest tokens, buffer $buffer",
  ({ longest, buffer, tokens, penalty }) => {
    const ids = Array.from({ length: tokens }, () => 0);
    const call = { parent: null, role: "policy", policyVersion: 0, prompt: [], finish: "length" as const,
      completion: [{ owner: "policy" as const, ids, logprobs: null }],
    };
    const row = { trajectory: answered("x", { calls: [call] }), values: new Map() };
    const text = `max(-1, min(0, (${longest - buffer} - tokens) / ${buffer}))`;
    const time = { step: 0, totalSteps: 1, history: NO_HISTORY };
    expect(rewardExpression(text, []).combine([row], time)[0]).toBeCloseTo(penalty, 12);
  },
);
