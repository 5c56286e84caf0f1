import { z } from "../../base/schema.ts";
import { wordsOf } from "../../text/words.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Action, Call, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { pairedTags } from "./paired-tags.ts";
import { type StepResources, type SynthStep, callsOf, defineStep, mainTurns } from "./step.ts";

/** A step that changes trajectories. @param repair returns the same trajectory if nothing is wrong, or the reason why it cannot repair. */
function defineRepair(
  part: Pick<SynthStep, "name" | "summary" | "source">,
  repair: (trajectory: Trajectory, resources: StepResources, task: Task) => Trajectory | string,
): SynthStep {
  return defineStep({
    ...part,
    kind: "repair",
    options: z.strictObject({}),
    open: (_settings, resources) => ({
      apply({ task, candidates }) {
        const kept: Candidate[] = [];
        const dropped: { id: string; reason: string }[] = [];
        const mended: string[] = [];
        for (const candidate of candidates) {
          const { id } = candidate;
          const trajectory = repair(candidate.trajectory, resources, task);
          if (typeof trajectory === "string") dropped.push({ id, reason: trajectory });
          else if (trajectory === candidate.trajectory) kept.push(candidate);
          else {
            kept.push({ ...candidate, trajectory });
            mended.push(id);
          }
        }
        return { kept, dropped, mended };
      },
    }),
  });
}

/** Removes hints, and log-probabilities after them; drops a trajectory whose action or tag partner is in one. Gates for hints come before. */
export const dropHints = defineRepair(
  {
    name: "drop-hints",
    summary: "Removes the hints from trajectories, so that training sees only their effect.",
    source: "START, arXiv 2503.04625, modifies hinted trajectories without details",
  },
  withoutHints,
);

function withoutHints(
  trajectory: Trajectory,
  { textOf, protocol }: StepResources,
): Trajectory | string {
  const { hints = [], ...rest } = trajectory;
  if (hints.length === 0) return trajectory;
  const calls = [...trajectory.calls];
  const turns = [...trajectory.turns];
  const stale = new Set<number>();
  for (const { call: index, text } of hints) {
    const call = calls[index];
    const at = call && findHint(call, text, textOf);
    if (call === undefined || at == null) return "hint stays";
    calls[index] = { ...call, [at.part]: call[at.part].toSpliced(at.segment, 1) };
    for (const each of descendants(calls, index)) stale.add(each);
    if (at.part === "prompt") continue;
    const before = call.completion.slice(0, at.segment).map(textOf).join("").length;
    turns.forEach((turn, i) => {
      if (turn.call === index) turns[i] = { ...turn, text: cutOut(turn.text, text, before) };
    });
  }
  const acts = (text: string): string => JSON.stringify(protocol.parse(text).actions);
  const hangs = turns.some(({ text }, i) => acts(text) !== acts(trajectory.turns[i]?.text ?? ""));
  if (hangs) return "action in hint";
  const isPaired = (text: string): boolean => typeof pairedTags(text, protocol.tags) !== "string";
  if (turns.some(({ text }, i) => !isPaired(text) && isPaired(trajectory.turns[i]?.text ?? "")))
    return "tag in hint";
  const resampled = calls.map((call, i) =>
    stale.has(i) ? { ...call, completion: call.completion.map(unsampled) } : call,
  );
  return { ...rest, calls: resampled, turns };
}

function findHint(
  call: Call,
  hint: string,
  textOf: StepResources["textOf"],
): { part: "completion" | "prompt"; segment: number } | null {
  for (const part of ["completion", "prompt"] as const) {
    const segment = call[part].findIndex(
      (each) => each.owner === "inserted" && textOf(each).trim() === hint.trim(),
    );
    if (segment >= 0) return { part, segment };
  }
  return null;
}

function cutOut(message: string, hint: string, place: number): string {
  const at = message.indexOf(hint, Math.max(0, place));
  return at < 0 ? message : message.slice(0, at) + message.slice(at + hint.length);
}

/** Removes a message whose calls all repeat earlier ones, with its observations; drops the trajectory where that is impossible. */
export const dropRepeatedCalls = defineRepair(
  {
    name: "drop-repeated-calls",
    summary: "Removes messages that only repeat earlier calls, with their observations.",
    source:
      "Tool-Star, arXiv 2505.16410: quality normalisation, duplicate calls; whole messages are removed here, so that tokens stay as sampled",
  },
  withoutRepeats,
);

function withoutRepeats(trajectory: Trajectory): Trajectory | string {
  const repeat = firstRepeat(mainTurns(trajectory));
  if (repeat === null) return trajectory;
  const without = withoutMessage(trajectory, repeat.call);
  return without === null ? "repeat stays" : withoutRepeats(without);
}

function firstRepeat(turns: readonly Turn[]): Turn | null {
  const asked = new Set<string>();
  for (const turn of turns) {
    const calls = callsOf(turn).map(({ tool, input }) => [tool, ...wordsOf(input)].join(" "));
    const answers = turn.actions.length > calls.length;
    if (!answers && calls.length > 0 && calls.every((call) => asked.has(call))) return turn;
    for (const call of calls) asked.add(call);
  }
  return null;
}

/**
 * A trajectory without one message (of `call`) and its observations, as if the policy had never written it: the next call continues the one
 * before, indices count the remaining calls, and later completions lose their log-probabilities.
 * @returns null if no call or several calls follow it, a later prompt was rebuilt, or a prompt beside it contains a hint.
 */
function withoutMessage(trajectory: Trajectory, call: number): Trajectory | null {
  const gone = trajectory.calls[call];
  const following = trajectory.calls.flatMap(({ parent }, i) => (parent === call ? [i] : []));
  const [next] = following;
  if (gone === undefined || gone.parent === null || next === undefined || following.length > 1)
    return null;
  const leads = trajectory.turns.some((turn) => turn.call === next && turn.chain === undefined);
  // A prompt that was rebuilt after the message contains it.
  const rebuilt = trajectory.calls.some(({ parent }, i) => i > call && parent === null);
  const beside = [...gone.prompt, ...(trajectory.calls[next]?.prompt ?? [])];
  if (!leads || rebuilt || beside.some(({ owner }) => owner === "inserted")) return null;
  const index = (of: number): number => (of > call ? of - 1 : of);
  const stale = descendants(trajectory.calls, next);
  const calls = trajectory.calls.flatMap((each, i): Call[] => {
    if (i === call) return [];
    const parent = i === next ? gone.parent : each.parent;
    const prompt = i === next ? gone.prompt : each.prompt;
    const completion = stale.has(i) ? each.completion.map(unsampled) : each.completion;
    return [{ ...each, parent: parent === null ? null : index(parent), prompt, completion }];
  });
  const { hints, ...rest } = trajectory;
  const left = hints?.filter((hint) => hint.call !== call) ?? [];
  return {
    ...rest,
    calls,
    turns: trajectory.turns
      .filter((turn) => turn.call !== call)
      .map((turn) => ({ ...turn, call: index(turn.call) })),
    hints:
      left.length === 0 ? undefined : left.map((hint) => ({ ...hint, call: index(hint.call) })),
    rewards: trajectory.rewards
      .filter(({ at }) => at?.call !== call)
      .map((reward) =>
        reward.at === null
          ? reward
          : { ...reward, at: { ...reward.at, call: index(reward.at.call) } },
      ),
  };
}

function unsampled(segment: Segment): Segment {
  return { ...segment, logprobs: null };
}

function descendants(calls: readonly Call[], from: number): Set<number> {
  const found = new Set([from]);
  calls.forEach(({ parent }, i) => {
    if (parent !== null && found.has(parent)) found.add(i);
  });
  return found;
}

/** Takes passages out of the first prompt (`given`, `rag`), so that training sees messages without them; drops what cannot be separated. */
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
  { protocol, textOf, segmentOf }: StepResources,
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
  const bare = segmentOf("template", prompt);
  return {
    ...rest,
    calls: [
      { ...first, prompt: [bare], completion: first.completion.map(unsampled) },
      ...later.map((call) => ({ ...call, completion: call.completion.map(unsampled) })),
    ],
  };
}

/**
 * Writes the question's first reference in place of the drawn answer, without log-probabilities; trajectories without one are dropped. Hints
 * in the last message become its own text: `drop-hints` comes before.
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
  { protocol, tools, textOf, segmentOf }: StepResources,
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
    const written = segmentOf("policy", text.slice(forced.length), call.finish === "eos");
    return { ...call, completion: [...opening, written] };
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
