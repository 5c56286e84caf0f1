import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import { checkOptions, type z } from "../../base/schema.ts";
import type { Waits } from "../../base/waits/waits.ts";
import type { Retriever, TrainingProgress } from "../../retrieval/retriever.ts";
import type { Role, RoleRequest, Roles } from "../../trajectory/role.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation, Problem } from "../../trajectory/trajectory.ts";
import type { Budget } from "../budget.ts";

/** The episode that a tool's session belongs to. Tools that use the task's gold say so in `readsGold`. */
export interface ToolContext {
  trajectoryId: string;
  task: Task;
  /** Of the episode: equal seeds and equal calls give equal observations. */
  seed: number;
  /** Of the run that the trajectory belongs to; absent outside training. */
  progress?: TrainingProgress | undefined;
}

/** What a tool asks of an agent of its own. */
export interface AgentRequest extends Omit<RoleRequest, "signal" | "seed"> {
  role: string;
  prompt: string;
  /** Messages at most; 1 where absent. */
  maxTurns?: number;
  /** Names of the environment's tools that it may call; none where absent. */
  tools?: readonly string[];
}

/** What an agent of a tool came to. */
export interface AgentResult {
  text: string;
  /** What that message answered by the environment's protocol; null: nothing. */
  answer: string | null;
  turns: number;
}

/** Runs an agent for a tool and records its calls on the trajectory, under the role's name. @param call runs a tool for it. */
export type AgentRunner = (
  role: Role,
  request: AgentRequest,
  call: (tool: string, input: string) => Promise<Observation>,
) => Promise<AgentResult>;

/** The call of a tool: when it is made, and what the tool may use. */
export interface ToolCall {
  turn: number;
  signal: AbortSignal;
  roles: Roles;
  /**
   * Calls another tool of the environment by its name there. The call counts against the budgets and is recorded with this one's observation.
   * @returns with a problem, where there is no such tool, it waits for this call, no call is left, or the input does not fit.
   */
  callTool(tool: string, input: string): Promise<Observation>;
  /** Runs an agent of the tool's own. Its calls are recorded on the trajectory and never trained. */
  agent(request: AgentRequest): Promise<AgentResult>;
}

/** What a tool found; the environment adds the tool's name. */
export type Found = Omit<Observation, "tool">;

/** A tool in one episode. Bad arguments become an observation with a problem; only failures of the outside throw. */
export interface ToolSession<A = Record<string, unknown>> {
  call(given: A, at: ToolCall): Promise<Found> | Found;
  /** The same state again, independent from here on. */
  fork(): ToolSession<A>;
  /** Releases what it holds. Called once for each session and fork when the trajectory has ended, also by an error or an abort. */
  close?(): Promise<void> | void;
}

/** Something that the policy can call, with its options. */
export type Tool = { open(context: ToolContext): ToolSession };

/** What must be opened before an environment or tool can be made. */
export type Need = "retriever";

/** What tools and environments are made from: shared by all trajectories of a run. */
export interface ToolResources {
  retriever: Retriever;
  retrievers?: Readonly<Record<string, Retriever>>;
  /** The recipe's `budgets`; none where absent. */
  budgets?: readonly Budget[];
  roles?: Roles;
  /** Longest time of one call, in milliseconds; null: no limit. As `defaultDeadlines` say when absent. */
  deadlineMs?: number | null;
  /** Where calls are registered while they last; this process's waits when absent. */
  register?: Waits;
}

/** A tool that a recipe can name. */
export interface ToolPart extends PartWithOptions {
  /** The name that a policy calls it by, unless the recipe sets another with `as`. */
  readonly action: string;
  /** What it does, for a policy that has not been trained on it. */
  readonly description: string;
  /** Its arguments. One text parameter takes a text protocol's input as it is; others are read from JSON. */
  readonly parameters: z.ZodObject;
  /** Whether it searches with its first parameter as the query: then its environment can search outside episodes. */
  readonly searches: boolean;
  /** Whether it looks at the task's gold itself; a retriever behind it says that for itself. */
  readonly readsGold: boolean;
  readonly needs: readonly Need[];
  /** For the tests that every shipped tool must pass: an input that it can work with, and one that it cannot. */
  readonly example?: { readonly good: string; readonly bad: string };
  create(options: unknown, resources: ToolResources): Tool;
}

const define = definer<ToolPart>()("tool", {
  defaults: { searches: false, readsGold: false, needs: [] },
  members: { description: "text", parameters: "schema" },
  functions: {
    create: {
      at: 0,
      returned(tool: Tool, { what, name }): Tool {
        requireReturned(what, tool, { open: "function" });
        return {
          open(context) {
            // The arguments of a session are checked by `parameters` before each call (toolbox.ts).
            const session = tool.open(context);
            const members = { call: "function", fork: "function" } as const;
            requireReturned(`tool "${name}": open`, session, members);
            return session;
          },
        };
      },
    },
  },
});

type Described<O extends z.ZodObject, P extends z.ZodObject> = Omit<
  Parameters<typeof define<O>>[0],
  "action" | "parameters" | "create"
> & {
  action?: string;
  parameters: P;
  create: (
    options: z.output<O>,
    resources: ToolResources,
  ) => { open(context: ToolContext): ToolSession<z.output<P>> };
};

/** Makes a tool; `parameters` check arguments before a session. @throws {ConfigError} PLUGIN_BAD_PART without a required member. */
export function defineTool<O extends z.ZodObject, P extends z.ZodObject>(
  described: Described<O, P>,
): ToolPart {
  return define({ action: described.name, ...described });
}

/** A session without a state: forks of it are itself. */
export function stateless<A>(call: ToolSession<A>["call"]): ToolSession<A> {
  const session: ToolSession<A> = { call, fork: () => session };
  return session;
}

/**
 * The arguments of a call: one text parameter takes the input as it is; others a JSON object, or their first parameter's value.
 * @example readArguments(z.object({ query: z.string() }), "capital of Norway") // { arguments: { query: "capital of Norway" } }
 */
export function readArguments(
  parameters: z.ZodObject,
  input: string,
): { arguments: Record<string, unknown> } | { problem: Problem } {
  const [first = "input", ...others] = Object.keys(parameters.shape);
  const alone = { [first]: input };
  if (others.length === 0) {
    const asText = checkOptions(parameters, alone);
    if (asText.problem === null) return { arguments: asText.value };
  }
  const given = objectIn(input) ?? alone;
  const checked = checkOptions(parameters, given);
  if (checked.problem === null) return { arguments: checked.value };
  const { path, message } = checked.problem;
  const where = path.length === 0 ? "the input" : path.join(".");
  return { problem: { code: "bad-arguments", message: `${where} ${message.replace(/\.$/, "")}` } };
}

function objectIn(input: string): object | null {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
