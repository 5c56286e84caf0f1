import { z } from "../../base/schema.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { promptSession, type PromptSession } from "../prompt-session.ts";
import { record } from "../record.ts";
import { rollOutOn } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Most tokens of the condensed passages. */
  condensedTokens: z.int().min(1).default(256),
});

/** The line before the kept information, as in the released prompts. */
const MARK = "Final Information";
const NOTHING = "No helpful information found.";

/** The agent's loop, but the policy reads passages in a separate prompt, and only its summary enters the chain; the record keeps them. */
export const searchO1 = defineStrategy({
  name: "search-o1",
  summary: "Search-o1: an agent that condenses passages before they enter its chain.",
  source:
    "Li et al., arXiv 2501.05366. Different here: searches and answers are written in the environment's own protocol; passages are the environment's, not fetched pages",
  prompts: "grows",
  searches: true,
  needs: ["searching"],
  options,
  run: (rollout, { condensedTokens }) =>
    record(rollout, (trajectory) => {
      const session = promptSession(rollout, trajectory);
      return rollOutOn(rollout, trajectory, {
        async readObservations(observations) {
          const read: Observation[] = [];
          for (const [i, each] of observations.entries()) {
            const isEmpty = each.problem !== undefined || each.passageIds?.length === 0;
            if (each.tool !== "search" || isEmpty) read.push(each);
            else read.push(await condense(session, each, { action: i, condensedTokens }));
          }
          return read;
        },
      });
    }),
});

async function condense(
  session: PromptSession,
  observation: Observation,
  { action, condensedTokens }: { action: number; condensedTokens: number },
): Promise<Observation> {
  const { trajectory } = session;
  const main = trajectory.turns.filter(({ chain }) => chain === undefined);
  const query = main.at(-1)?.actions[action]?.input ?? "";
  const prompt = [
    "Someone reasons about a question and has searched for something. Read what was found and write down what of it helps their next step, given their reasoning so far: facts only, without an answer to the whole question.",
    `If nothing helps, write: ${NOTHING}`,
    `Reasoning so far: ${main.map(({ text }) => text).join("\n")}`,
    `Query: ${query}`,
    `Found: ${observation.text.trim()}`,
    `${MARK}:`,
  ].join("\n");
  const how = { maxTokens: condensedTokens, chain: "documents" };
  const message = await session.ask(prompt, how);
  if (message === null) return observation;
  const text = message.text.slice(afterMark(message.text)).trim();
  return { ...observation, text: text === "" ? NOTHING : text };
}

function afterMark(text: string): number {
  const last = [...text.matchAll(/Final Information\W*/g)].at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}
