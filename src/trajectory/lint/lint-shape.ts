import { checkOptions, z } from "../../base/schema.ts";
import { END_REASONS, type Trajectory } from "../trajectory.ts";

/** Lists whose elements have rules and codes of their own. */
const list = z.custom<unknown[]>(Array.isArray, "expected a list");
/** Finite or not: JSON allows numbers that overflow to Infinity. */
const anyNumber = z.custom<number>((value) => typeof value === "number", "expected a number");

const segment = z.looseObject({
  owner: z.enum(["policy", "environment", "template", "inserted"]),
  ids: list,
  logprobs: list.nullable(),
  text: z.string().optional(),
});
const call = z.looseObject({
  parent: anyNumber.nullable(),
  role: z.string(),
  policyVersion: anyNumber.nullable(),
  prompt: z.array(segment),
  completion: z.array(segment),
  finish: z.enum(["eos", "stop", "length", "context"]),
  temperature: z.number().positive().optional(),
});
const problem = z.looseObject({ code: z.string(), message: z.string() });
const observation = z.looseObject({
  tool: z.string(),
  text: z.string(),
  passageIds: z.array(z.string()).optional(),
  answer: z.string().optional(),
  problem: problem.optional(),
});
const turn = z.looseObject({
  call: anyNumber,
  text: z.string(),
  actions: z.array(z.looseObject({ tool: z.string(), input: z.string() })),
  problems: z.array(problem),
  observations: z.array(observation),
  chain: z.string().optional(),
});
const address = z.looseObject({ call: anyNumber, token: anyNumber.optional() });

const trajectorySchema = z.looseObject({
  id: z.string(),
  taskId: z.string(),
  groupId: z.string(),
  purpose: z.enum(["train", "eval", "baseline"]),
  seed: anyNumber,
  calls: z.array(call),
  turns: z.array(turn),
  given: z.array(observation).optional(),
  hints: z.array(z.looseObject({ name: z.string(), call: anyNumber, text: z.string() })).optional(),
  answer: z.string().nullable(),
  end: z.enum(END_REASONS),
  error: z.looseObject({ boundary: z.string(), code: z.string(), message: z.string() }).optional(),
  rewards: z.array(
    z.looseObject({ name: z.string(), value: anyNumber.nullable(), at: address.nullable() }),
  ),
  reward: anyNumber.nullable(),
});

/** A value as a trajectory, or the first problem. Unknown keys are allowed: a later version may write them. */
export function readTrajectory(value: unknown): { trajectory: Trajectory } | { problem: string } {
  const checked = checkOptions(trajectorySchema, value);
  if (checked.problem === null) return { trajectory: value as Trajectory };
  const { path, message } = checked.problem;
  return { problem: `${path.length === 0 ? "the trajectory" : path.join(".")} ${message}` };
}
