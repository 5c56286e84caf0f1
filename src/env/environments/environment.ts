import { closeAll } from "../../base/deferring.ts";
import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Split } from "../../base/split.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { SearchContext, TrainingProgress } from "../../retrieval/retriever.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  type Action,
  END_REASONS,
  type EndReason,
  type Observation,
  type Problem,
  type Turn,
} from "../../trajectory/trajectory.ts";
import type { Budget } from "../budget.ts";
import type { PlannedMessage, Protocol } from "../protocols/protocol.ts";
import type { Need, ToolResources } from "../tools/tool.ts";
import type { CallMoment } from "../tools/toolbox.ts";

/** What a message did to the world. */
export interface StepResult {
  actions: Action[];
  problems: Problem[];
  observations: Observation[];
  /** What the policy reads next; null when the trajectory has ended. */
  reply: string | null;
  end: EndReason | null;
  reward?: number;
  /** The message as the environment understood it, which the policy reads and learns in its place; as written when absent. */
  canonical?: string;
  /** State of the world after it, in the environment's own words: "goal", "hole". */
  status?: string;
}

/** A plugin in plain JavaScript can return anything. @throws {ConfigError} PLUGIN_FAILED */
export function requireStepResult(name: string, result: Partial<StepResult> | undefined): void {
  const { actions, problems, observations, reply, end, reward = 0 } = result ?? {};
  const hasLists = [actions, problems, observations].every((list) => Array.isArray(list));
  const isEnd = END_REASONS.some((each) => each === end);
  const isWhole = isEnd || (end === null && typeof reply === "string");
  if (hasLists && isWhole && Number.isFinite(reward)) return;
  const message = `environment "${name}": step must return lists of actions, problems and observations, and either end (one of ${END_REASONS.join(", ")}) or, with end: null, a reply; its end is ${JSON.stringify(end)}. Correct its code.`;
  throw new ConfigError("PLUGIN_FAILED", message);
}

/** How a message is played. */
export interface StepOptions extends Omit<CallMoment, "turn"> {
  final: boolean;
}

/** The world of one trajectory: a seeded object, not shared. */
export interface Episode {
  readonly prompt: string;
  step(message: string, options: StepOptions): Promise<StepResult>;
  /** The same state again, independent from here on: for branches. */
  fork(): Episode;
  /** Releases what it holds. Called once for each episode and fork when the trajectory has ended, also by an error or an abort. */
  close?(): Promise<void> | void;
}

/** What the policy reads first of a task. */
export function firstPrompt(environment: Environment, task: Task): string {
  const episode = environment.start(task, { trajectoryId: "", seed: 0 });
  const { prompt } = episode;
  void Promise.resolve(episode.close?.()).catch(() => undefined);
  return prompt;
}

function closingForks(first: Episode): Episode {
  const open: Episode[] = [];
  const close = (): Promise<void> => closeAll(open.splice(0));
  const watched = (episode: Episode): Episode => {
    open.push(episode);
    return {
      prompt: episode.prompt,
      step: (...given) => episode.step(...given),
      fork: () => watched(episode.fork()),
      close,
    };
  };
  return first.close === undefined ? first : watched(first);
}

/** Searching outside of episodes, for strategies that search before or beside the policy. */
export interface Searching {
  search(query: string, searchContext: SearchContext, signal: AbortSignal): Promise<Observation>;
}

/** A player without skill: random legal moves, or calls of tools that are right now and then. For pre-training of fresh policies. */
export type Player = (
  place: { task: Task; turns: readonly Turn[]; tools: readonly string[] },
  draw: Random,
) => PlannedMessage;

/** Tasks made into episodes, under one grammar and its budgets. */
export interface Environment {
  readonly name: string;
  readonly protocol: Protocol;
  readonly budgets: readonly Budget[];
  /** Whether messages end in an answer that the protocol's rule extracts; false: the world itself says how an episode ended. */
  readonly answers: boolean;
  /** Whether a tool, or the retriever behind it, looks at the task's gold: then what is measured here is no result. */
  readonly readsGold: boolean;
  readonly toolSchemas: readonly ToolSchema[];
  readonly searching?: Searching;
  /** The question as a prompt, with passages shown before its answer; present where prompts have room for passages. */
  readonly renderPrompt?: (task: Task, context: string) => string;
  /** Each message answers a prompt of its own, made by `renderPrompt` from all results so far, or, with memory, from the last message and its reply. */
  readonly reissues?: boolean | "memory";
  readonly player?: Player;
  start(
    task: Task,
    options: { trajectoryId: string; seed: number; progress?: TrainingProgress | undefined },
  ): Episode;
}

/** What a strategy may need of an environment. */
export type Capability = "searching" | "context" | "answers";

/** Whether an environment has what a strategy needs. */
export function isCapable(
  { answers, renderPrompt, searching }: Environment,
  capability: Capability,
): boolean {
  switch (capability) {
    case "answers":
      return answers;
    case "context":
      return renderPrompt !== undefined;
    case "searching":
      return searching !== undefined;
  }
}

/** Searching in an environment whose strategy needs it. @throws {ConfigError} STRATEGY_UNFIT */
export function requireSearching({ name, searching }: Environment): Searching {
  if (searching !== undefined) return searching;
  const message = `environment "${name}" has no tool that searches. Add one to environment.tools, such as corpus-search.`;
  throw new ConfigError("STRATEGY_UNFIT", message);
}

/** Prompts with passages, where the strategy needs them. @throws {ConfigError} STRATEGY_UNFIT */
export function requirePrompt({
  name,
  renderPrompt,
}: Environment): NonNullable<Environment["renderPrompt"]> {
  if (renderPrompt !== undefined) return renderPrompt;
  const message = `environment "${name}" has no prompt that shows passages. Use search-qa or tool-qa.`;
  throw new ConfigError("STRATEGY_UNFIT", message);
}

/** Which of an environment's own tasks are drawn. */
export interface TaskDraw {
  /** Splits share no task. */
  split: Split;
  seed: number;
}

/** An environment that a recipe can name. */
export interface EnvironmentPart extends PartWithOptions {
  /** What it needs under such options: an index is only built where it is needed. */
  needs(options: unknown): readonly Need[];
  /** Its own tasks, without an end, for `dataset: { name: environment }`; absent where tasks come from a dataset. */
  tasks?(options: unknown, draw: TaskDraw): Iterable<Task>;
  /** Texts that a fresh policy's tokenizer should hold as one token each, beside the tags of the protocol. */
  readonly words?: readonly string[];
  /** For the tests that every shipped environment must pass: messages in its own protocol, and a task where it takes no question. */
  readonly example?: EnvironmentExample;
  create(options: unknown, resources: ToolResources): Environment;
}

interface EnvironmentExample {
  readonly task?: Task;
  readonly act: string;
  readonly last: string;
  readonly end: EndReason;
}

/** What an environment's file makes. Absent keys: the part's name, the recipe's budgets, no gold, no tools. */
type Made = Omit<Environment, DefaultedKeys> & Partial<Pick<Environment, DefaultedKeys>>;
type DefaultedKeys = "name" | "budgets" | "readsGold" | "toolSchemas";

/** A plugin in plain JavaScript can make anything. @throws {ConfigError} PLUGIN_FAILED */
function* checkedTasks(name: string, made: Iterable<Task>): Generator<Task> {
  for (const task of made) {
    const members = { id: "text", question: "text", references: "list", source: "text" } as const;
    requireReturned(`environment "${name}": tasks: a task`, task, members);
    yield task;
  }
}

/** Makes an environment. @throws {ConfigError} PLUGIN_BAD_PART without create. */
export const defineEnvironment = definer<EnvironmentPart>()("environment", {
  functions: {
    needs: { at: 0, otherwise: [] },
    tasks: { at: 0, returned: (made: Iterable<Task>, { name }) => checkedTasks(name, made) },
    create: {
      at: 0,
      returned(made: Made, { what, name, args: [, resources] }): Environment {
        const members = { start: "function", protocol: "object", answers: "boolean" } as const;
        requireReturned(what, made, members);
        return {
          name,
          budgets: resources.budgets ?? [],
          readsGold: false,
          toolSchemas: [],
          ...made,
          start(task, options) {
            const episode = made.start(task, options);
            const members = { prompt: "text", step: "function", fork: "function" } as const;
            requireReturned(`environment "${name}": start`, episode, members);
            return closingForks(episode);
          },
        };
      },
    },
  },
});
