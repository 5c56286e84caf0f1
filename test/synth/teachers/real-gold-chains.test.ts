/** The gold-chain teacher on real questions, through real searches. Needs ../shared/data; skipped without it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPassages } from "../../../src/data/passages.ts";
import { loadTasks } from "../../../src/data/tasks.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { behaviourSchema } from "../../../src/synth/teachers/behaviour.ts";
import { goldChain } from "../../../src/synth/teachers/gold-chain.ts";
import { mentionsIn } from "../../../src/text/words.ts";
import type { Passage, Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

const data = join(import.meta.dirname, "../../../../shared/data");
const BEHAVIOUR = behaviourSchema.parse({});

/** Trajectories of all questions of a file, over the passages of all of them, three a search. */
async function playAll(
  file: string,
  protocol: string,
): Promise<{ task: Task; trajectory: Trajectory }[]> {
  const passages: Passage[] = [];
  for await (const passage of readPassages(file)) passages.push(passage);
  const tools = [{ name: "corpus-search", topK: 3 }];
  const environment = searchEnvironment({ tools, protocol }, buildBm25(passages));
  const policy = scriptedTeacher(goldChain, environment, { behaviour: BEHAVIOUR });
  const played: { task: Task; trajectory: Trajectory }[] = [];
  for (const task of await loadTasks(file)) {
    const options = rolloutOptions({ policy, environment, task, id: task.id, seed: 1 });
    played.push({ task, trajectory: await rollOut(options) });
  }
  return played;
}

/** Queries that hold an answer which stood neither in the question nor in what was found before them. */
function leaks(task: Task, { turns }: Trajectory): string[] {
  let known = task.question;
  return turns.flatMap(({ actions, observations }) => {
    const isKnown = mentionsIn(known);
    const unread = task.references.filter((reference) => !isKnown(reference));
    known += observations.map(({ text }) => `\n${text}`).join("");
    return actions.flatMap(({ tool, input }) => {
      return tool === "search" && unread.some(mentionsIn(input)) ? [`${task.id}: ${input}`] : [];
    });
  });
}

function hasAll(task: Task, { turns }: Trajectory): boolean {
  const seen = turns.flatMap(({ observations }) => observations.flatMap((o) => o.passageIds ?? []));
  return (task.annotations.supportingPassages ?? []).every((id) => seen.includes(id));
}

describe.skipIf(!existsSync(data))("gold chains of real questions (../shared/data)", () => {
  it.each([
    ["hotpotqa", "search-r1", 0.988],
    ["2wikimultihopqa", "hermes", 0.998],
  ])(
    "%s in %s: all queries run, none tells the answer, nearly all questions are answered from their passages",
    async (name, protocol, measured) => {
      const played = await playAll(join(data, name, "dev-500-paragraphs.jsonl"), protocol);
      expect(played.flatMap(({ task, trajectory }) => leaks(task, trajectory))).toEqual([]);
      for (const { trajectory } of played) {
        const { turns, answer, error } = trajectory;
        expect(turns.flatMap(({ problems }) => problems)).toEqual([]);
        const searches = turns.filter(({ actions }) => actions[0]?.tool === "search");
        expect(searches.every(({ observations }) => observations.length === 1)).toBe(true);
        expect(answer === null).toBe(error?.code === "TEACHER_GAVE_UP");
      }
      const answered = played.filter(({ trajectory }) => trajectory.answer !== null);
      expect(
        answered.every(({ task, trajectory }) => task.references[0] === trajectory.answer),
      ).toBe(true);
      expect(answered.length / played.length).toBeGreaterThan(measured - 0.01);
      const whole = answered.filter(({ task, trajectory }) => hasAll(task, trajectory));
      expect(whole.length / played.length).toBeGreaterThan(measured - 0.012);
    },
    120_000,
  );
});
