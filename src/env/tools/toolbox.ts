import { closeAll, deferring } from "../../base/deferring.ts";
import { type PartSettings, partSchema } from "../../base/define-part.ts";
import { ConfigError, RolloutError } from "../../base/errors.ts";
import { quote, z } from "../../base/schema.ts";
import { defaultDeadlines, milliseconds } from "../../base/waits/deadlines.ts";
import { seconds } from "../../base/waits/long-wait.ts";
import { waits } from "../../base/waits/waits.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import { type SearchContext, readsGold } from "../../retrieval/retriever.ts";
import { noRoles } from "../../trajectory/role.ts";
import type { Action, InnerCall, Observation } from "../../trajectory/trajectory.ts";
import { type BudgetNow, budgetsAt, isRunCall } from "../budget.ts";
import { retrieverNamed, tools } from "./index.ts";
import {
  type AgentRunner,
  type Found,
  type Need,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolPart,
  type ToolResources,
  type ToolSession,
  readArguments,
} from "./tool.ts";

/** Tools in a recipe: each by its part, and by another name for the policy with `as`. */
export const toolsSchema = z.array(
  partSchema(tools, {
    as: z
      .string()
      .regex(
        /^(?!(?:answer|think)$)[A-Za-z][\w-]*$/,
        "expected a letter, then letters, digits, - or _, but not answer or think",
      )
      .optional(),
  }),
);

type ToolSettings = PartSettings<ToolPart, { as: z.ZodOptional<z.ZodString> }>;

/** The tools of an environment. */
export interface Toolbox {
  readonly schemas: readonly ToolSchema[];
  /** Whether a tool, or a retriever behind it, looks at the task's gold. */
  readonly readsGold: boolean;
  /** One search outside any episode, with the first tool that searches; absent where none does. */
  readonly search?: (
    query: string,
    searchContext: SearchContext,
    signal: AbortSignal,
  ) => Promise<Observation>;
  open(context: ToolContext): OpenToolbox;
}

/** The moment of a call, as an environment knows it. */
export interface CallMoment {
  turn: number;
  signal: AbortSignal;
  /** Absent where no trajectory is recorded: a tool can then run no agent. */
  runAgent?: AgentRunner | undefined;
}

/** The tools in one episode. */
export interface OpenToolbox {
  /** A call that cannot be run gives an observation that says why. */
  call(action: Action, at: CallMoment): Promise<Observation>;
  fork(): OpenToolbox;
  /** Closes the sessions of its tools and of all forks, each once. */
  close(): Promise<void>;
}

type NamedTool = { part: ToolPart; name: string; tool: Tool };

/** What the tools of a recipe need. */
export function needsOf(settings: readonly { name: string }[]): Need[] {
  const needs = settings.flatMap(({ name }) => tools.get(name, "environment.tools").needs);
  return [...new Set(needs)];
}

/** @throws {ConfigError} TOOL_TWICE where two tools have one name; as the tools themselves. */
export function openToolbox(settings: readonly ToolSettings[], resources: ToolResources): Toolbox {
  const named = settings.map(({ name, as, ...options }): NamedTool => {
    const part = tools.get(name, "environment.tools");
    return { part, name: as ?? part.action, tool: part.create(options, resources) };
  });
  requireOwnNames(named);
  const searching = named.find(({ part }) => part.searches);
  const open = (context: ToolContext): OpenToolbox => {
    const sessions = new Map(named.map(({ name, tool }) => [name, tool.open(context)]));
    const budgets = budgetsAt(resources.budgets ?? [], context.progress);
    const calls = budgets.filter(({ unit }) => unit === "calls");
    const setting = { named, resources, context, calls, toClose: new Set<ToolSession>() };
    return openedToolbox(setting, sessions, []);
  };
  return {
    schemas: named.map(schemaOf),
    readsGold: settings.some(({ name, ...options }) => {
      const { readsGold: itself, needs } = tools.get(name, "environment.tools");
      if (!needs.includes("retriever")) return itself;
      const { retriever } = options as { retriever?: string };
      return itself || readsGold(retrieverNamed(retriever, resources));
    }),
    open,
    search:
      searching === undefined
        ? undefined
        : (query, searchContext, signal) =>
            deferring((defer) => {
              const toolbox = open({ trajectoryId: "", seed: 0, ...searchContext });
              defer(() => toolbox.close());
              return toolbox.call({ tool: searching.name, input: query }, { turn: 0, signal });
            }),
  };
}

function requireOwnNames(named: readonly NamedTool[]): void {
  const twice = named.find(({ name }, i) => named.findIndex((each) => each.name === name) < i);
  if (twice === undefined) return;
  const message = `environment.tools: two tools have the name "${twice.name}", so the policy could call only one of them. Give one another name with as, for example { name: ${twice.part.name}, as: other-${twice.name} }.`;
  throw new ConfigError("TOOL_TWICE", message);
}

interface Setting {
  named: readonly NamedTool[];
  resources: ToolResources;
  context: ToolContext;
  calls: readonly BudgetNow[];
  toClose: Set<ToolSession>;
}

function openedToolbox(
  setting: Setting,
  sessions: ReadonlyMap<string, ToolSession>,
  before: readonly Observation[],
): OpenToolbox {
  const { named, resources, toClose } = setting;
  const done = [...before];
  for (const session of sessions.values()) toClose.add(session);
  /** @param waiting names of the tools that wait for this call. */
  const callFor = async (
    { tool: name, input }: Action,
    at: CallMoment,
    waiting: readonly string[],
  ): Promise<Observation> => {
    const found = named.find((each) => each.name === name);
    const session = sessions.get(name);
    if (found === undefined || session === undefined)
      return unknownTool({ tool: name, input }, named);
    if (waiting.includes(name)) return inCircle(name);
    const given = readArguments(found.part.parameters, input);
    if ("problem" in given) {
      const { message } = given.problem;
      return { tool: name, text: `That call was not run: ${message}.`, problem: given.problem };
    }
    const spent = setting.calls.find(({ tool = null, limit }) => {
      const counts = tool === null || tool === name;
      return counts && done.filter((each) => isRunCall(each, tool)).length >= limit;
    });
    if (spent !== undefined) return noCallsLeft(name, spent);
    const { roles = noRoles } = resources;
    const inner: InnerCall[] = [];
    const answer = await bounded({ setting, found, input, signal: at.signal }, (signal) => {
      const callTool = async (tool: string, text: string): Promise<Observation> => {
        const answered = await callFor({ tool, input: text }, { ...at, signal }, [
          ...waiting,
          name,
        ]);
        inner.push({ ...answered, input: text });
        return answered;
      };
      const agent: ToolCall["agent"] = async (request) => {
        if (at.runAgent === undefined) throw withoutTrajectory(found.part.name);
        const role = roles.get(request.role, `tool ${found.part.name}`);
        const allowed = (request.tools ?? []).filter((each) => each !== name);
        return at.runAgent(role, { ...request, tools: allowed }, (tool, text) =>
          callTool(allowed.includes(tool) ? tool : "", text),
        );
      };
      const toolCall = { turn: at.turn, signal, roles, callTool, agent };
      return Promise.resolve(session.call(given.arguments, toolCall));
    });
    requireFound(found.part.name, answer);
    const observation: Observation = { tool: name, ...answer };
    if (inner.length > 0) observation.calls = inner;
    done.push(observation);
    return observation;
  };
  const call: OpenToolbox["call"] = (action, at) => callFor(action, at, []);
  return {
    call,
    fork: () =>
      openedToolbox(
        setting,
        new Map([...sessions].map(([name, session]) => [name, session.fork()])),
        done,
      ),
    close: () => {
      const open = [...toClose];
      toClose.clear();
      return closeAll(open);
    },
  };
}

/** A plugin in plain JavaScript can return anything. @throws {ConfigError} PLUGIN_FAILED */
function requireFound(name: string, found: Partial<Found> | undefined): void {
  if (typeof found?.text === "string") return;
  const message = `tool "${name}": call must return { text }, with a string. Correct its code.`;
  throw new ConfigError("PLUGIN_FAILED", message);
}

function unknownTool({ tool, input }: Action, named: readonly NamedTool[]): Observation {
  const known = named.map(({ name }) => name).join(", ");
  const text =
    tool === ""
      ? `That call was not run: ${input}.`
      : `There is no tool "${tool}". There are: ${known}.`;
  const code = tool === "" ? "bad-call" : "unknown-tool";
  return { tool, text, problem: { code, message: text } };
}

function inCircle(tool: string): Observation {
  const text = `${tool} itself waits for this call.`;
  return { tool, text, problem: { code: "call-in-circle", message: text } };
}

function noCallsLeft(tool: string, { tool: only }: BudgetNow): Observation {
  const text = only === undefined ? "No calls are left." : `No calls of ${only} are left.`;
  return { tool, text, problem: { code: "no-calls-left", message: text } };
}

function withoutTrajectory(name: string): ConfigError {
  const message = `environment.tools: ${name} runs an agent of its own, whose calls are recorded on a trajectory; a strategy that searches outside of episodes has none. Use strategy: agent.`;
  return new ConfigError("STRATEGY_UNFIT", message);
}

/** A registered call with a deadline: one that hangs costs one trajectory, not the run. @throws {RolloutError} TOOL_TIMEOUT */
function bounded<T>(
  bound: { setting: Setting; found: NamedTool; input: string; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { setting, found, input, signal } = bound;
  const { trajectoryId, task } = setting.context;
  const { deadlineMs = milliseconds(defaultDeadlines.toolSeconds), register = waits } =
    setting.resources;
  const owner = `tool ${found.part.name}`;
  const [parameter = "input"] = Object.keys(found.part.parameters.shape);
  const subject = (): string =>
    `${trajectoryId === "" ? `task ${task.id}` : `trajectory ${trajectoryId}`} (${parameter} ${quote(input)})`;
  const late = ({ waitedMs }: { waitedMs: number }): RolloutError =>
    new RolloutError(
      "TOOL_TIMEOUT",
      `${owner}: no answer in ${seconds(waitedMs)} for ${subject()}. Look whether what it asks is stuck; deadlines.toolSeconds sets the limit.`,
    );
  return register.waitFor({ owner, subject }, { deadlineMs, signal, late }, work);
}

function schemaOf({ name, part: { description, parameters } }: NamedTool): ToolSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return { type: "function", function: { name, description, parameters: schema } };
}
