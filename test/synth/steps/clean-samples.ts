import type { Environment } from "../../../src/env/environments/environment.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { type CompletionRequest, scriptedPolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import {
  type SampleGroup,
  type StepResources,
  type SynthStep,
  teacherSegments,
} from "../../../src/synth/steps/step.ts";
import { exactMatch } from "../../../src/text/answers.ts";
import type { Tokenizer } from "../../../src/text/tokenizer.ts";
import type { Candidate } from "../../../src/trajectory/sample.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { mixSchema } from "../../../src/worlds/tiny/tiny-world-settings.ts";
import "../../helpers/all-parts.ts";
import { candidate } from "../../helpers/drawn-candidates.ts";
import { rolloutOptions, tagTokenizer } from "../../helpers/search-world.ts";

/** A question of the tiny world, answered well. */
export interface CleanSample {
  task: Task;
  candidate: Candidate;
}

export interface CleanWorld {
  tokenizer: Tokenizer;
  environment: Environment;
  samples: CleanSample[];
  /** Questions that were played and not answered right. */
  failed: number;
}

/** Says what each search told, and asks for the next step; answers when nothing is left to ask. */
function write({ task, turns }: CompletionRequest, { protocol, toolSchemas }: Environment): string {
  const steps = task.annotations.decomposition ?? [];
  const step = steps[turns.length];
  const last = steps[turns.length - 1];
  const told = last === undefined ? "" : ` That gives ${last.answer}.`;
  const thought = step === undefined ? `${told} I can answer now.` : `${told} I must look it up.`;
  const action =
    step === undefined
      ? { tool: "answer", input: task.references[0] ?? "" }
      : { tool: "search", input: step.question };
  return protocol.write({ thought: thought.trim(), action }, toolSchemas);
}

/** So many questions of the tiny world, of all its kinds, played through the real environment and answered right. */
export async function cleanWorld(count: number, protocol: string): Promise<CleanWorld> {
  const tokenizer = tagTokenizer();
  const world = tinyWorld({ split: "train", people: 600, seed: 11 });
  const environment = environments
    .get("search-qa", "test")
    .create(
      { protocol, tools: [{ name: "corpus-search", topK: 3 }] },
      { retriever: buildBm25(world.passages()) },
    );
  const policy = scriptedPolicy(tokenizer, (request) => write(request, environment));
  const mix = mixSchema.parse({ bridge4: 0.05, comparison: 0.15, yesNo: 0.15 });
  const samples: CleanSample[] = [];
  let failed = 0;
  for (const task of world.questions(count * 2, { mix })) {
    if (samples.length === count) break;
    const id = `${task.id}/agent-0`;
    const trajectory = await strategies
      .get("agent", "test")
      .run(rolloutOptions({ policy, environment, task, id, groupId: task.id }));
    if (exactMatch(trajectory.answer ?? "", task.references) === 1) {
      samples.push({ task, candidate: candidate(id, { reward: 1, trajectory }) });
    } else failed += 1;
  }
  return { tokenizer, environment, samples, failed };
}

/** What steps read the samples of a world with. */
export function resourcesOf({ environment, tokenizer }: CleanWorld): StepResources {
  return {
    protocol: environment.protocol,
    tools: environment.toolSchemas,
    seed: 1,
    ...teacherSegments(tokenizer),
  };
}

/** What a step says of groups, by the candidates' ids: null where they stay. */
export async function verdicts(
  part: SynthStep,
  groups: readonly SampleGroup[],
  { options = {}, resources }: { options?: Record<string, unknown>; resources: StepResources },
): Promise<Map<string, string | null>> {
  const step = await part.open(part.options.parse(options), resources);
  const found = new Map<string, string | null>();
  for (const group of groups) {
    const { kept, dropped } = step.apply(group);
    for (const { id } of kept) found.set(id, null);
    for (const { id, reason } of dropped) found.set(id, reason);
  }
  return found;
}

/** A trajectory with one message of its main line said otherwise, its tokens with it; what came back stays. */
export function respoken(
  trajectory: Trajectory,
  turn: number,
  text: string,
  { environment, tokenizer }: CleanWorld,
): Trajectory {
  const { actions, problems } = environment.protocol.parse(text);
  const turns = trajectory.turns.map((each, i) =>
    i === turn ? { ...each, text, actions, problems } : each,
  );
  const index = trajectory.turns[turn]?.call;
  const ids = tokenizer.encode(text);
  const calls = trajectory.calls.map((call, i) =>
    i === index
      ? { ...call, completion: [{ owner: "policy" as const, ids, logprobs: ids.map(() => 0) }] }
      : call,
  );
  return { ...trajectory, turns, calls };
}
