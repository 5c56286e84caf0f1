import type { Task } from "../../trajectory/task.ts";
import type { Action, Call, Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { mainTurns } from "./main-line.ts";
import { defineRepair, unsampled } from "./repairs.ts";
import type { StepResources } from "./step.ts";

/**
 * Takes the passages out of the first prompt that a strategy showed there (`given`, `rag`), so that training sees the same messages without what they were
 * drawn from. A trajectory whose prompt cannot be separated from them is dropped.
 */
export const dropPassages = defineRepair(
  {
    name: "drop-passages",
    summary: "Takes the passages that a strategy showed out of the first prompt.",
    source: "RARE, arXiv 2503.23513: fine-tuning with and without retrieved knowledge",
  },
  withoutPassages,
);

function withoutPassages(
  trajectory: Trajectory,
  { protocol, textOf }: StepResources,
): Trajectory | string {
  const { given = [], ...rest } = trajectory;
  const [first, ...later] = trajectory.calls;
  if (given.length === 0 || first === undefined) return trajectory;
  let prompt = first.prompt.map(textOf).join("");
  for (const shown of given) {
    const context = protocol.renderContext(shown);
    if (!prompt.includes(context)) return "passages stay";
    prompt = prompt.replace(context, () => "");
  }
  const bare: Segment = { owner: "template", ids: [], logprobs: null, text: prompt };
  return {
    ...rest,
    calls: [
      { ...first, prompt: [bare], completion: first.completion.map(unsampled) },
      ...later.map((call) => ({ ...call, completion: call.completion.map(unsampled) })),
    ],
  };
}

/**
 * Writes the question's first reference in place of the drawn answer, so that training learns the right answer after the searches that were drawn.
 * Trajectories without an answer are dropped. The answer's tokens are encoded anew; no log-probability stays with them.
 * Hints in the last message become its own text: `drop-hints` comes before.
 *
 * @example "<think> so</think><answer> Bergen</answer>", reference "Oslo" → "<think> so</think><answer> Oslo</answer>"
 */
export const referenceAnswer = defineRepair(
  {
    name: "reference-answer",
    summary: "Writes the reference in place of the drawn answer.",
    source: "EXSEARCH, arXiv 2505.20128: fine-tuning maximises p(y, z | x); mangopy/SearchLM",
  },
  withReference,
);

function withReference(
  trajectory: Trajectory,
  { protocol, tools, textOf }: StepResources,
  { references: [reference] }: Task,
): Trajectory | string {
  const last = mainTurns(trajectory).at(-1);
  const at = last?.text.lastIndexOf(protocol.answerOpening) ?? -1;
  const answers = last?.actions.at(-1)?.tool === "answer";
  if (last === undefined || reference === undefined || !answers || at < 0) return "no answer";
  const action: Action = { tool: "answer", input: reference };
  const text = last.text.slice(0, at) + protocol.write({ thought: "", action }, tools);
  if (text === last.text) return trajectory;
  const rewritten = (call: Call): Call => {
    const isForced = ({ owner }: Segment): boolean => owner === "inserted";
    const own = call.completion.findIndex((segment) => !isForced(segment));
    const opening = call.completion.slice(0, Math.max(0, own));
    const forced = [...call.prompt.filter(isForced), ...opening].map(textOf).join("");
    const written = text.slice(forced.length);
    const completion: Segment = { owner: "policy", ids: [], logprobs: null, text: written };
    return { ...call, completion: [...opening, completion] };
  };
  return {
    ...trajectory,
    answer: reference,
    calls: trajectory.calls.map((call, i) => (i === last.call ? rewritten(call) : call)),
    turns: trajectory.turns.map((turn) =>
      turn === last ? { ...turn, text, actions: [...turn.actions.slice(0, -1), action] } : turn,
    ),
  };
}
