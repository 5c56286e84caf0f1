import type { Environment } from "../../env/environments/environment.ts";
import type { Meter } from "../../http/meter.ts";
import type { Policy } from "../../rollout/policy.ts";
import { scriptedText } from "../../rollout/scripted-text.ts";
import {
  type AskedTeacher,
  isAsked,
  teachers,
  type TeacherSettings,
} from "../../synth/teachers/index.ts";
import { loadTokenizer, type Tokenizer } from "../../text/tokenizer.ts";
import type { TeacherMark } from "../../trajectory/sample.ts";
import { baseFolder, policyFolder } from "../assemble.ts";
import type { PolicyOptions } from "../bases.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { type OpenedPolicy, resolvePolicy } from "../resolve-policy.ts";

/** A teacher, found but not loaded. */
export interface FoundTeacher {
  /** As samples name it. */
  mark: TeacherMark;
  /** What else decides what it writes; undefined: nothing. */
  options: unknown;
  /** How prompt and replies are put to it; undefined: as they are. */
  rendering: unknown;
  /** Rollouts under way together; undefined: as many as suit an engine. */
  window?: number;
  open(environment: Environment): Promise<OpenedTeacher>;
}

interface OpenedTeacher {
  policy: Policy;
  /** What a server was asked. */
  meter?: Meter;
  held?: OpenedPolicy["held"];
  close(): Promise<void>;
}

/** Rollouts of a script under way together: its searches go to the index by batches. */
const SCRIPT_WINDOW = 64;

/**
 * Finds the teacher that `synth.teacher` names.
 * @throws as `resolvePolicy`.
 */
export async function findTeacher(
  settings: Settings,
  teacher: TeacherSettings,
  download: PolicyOptions,
): Promise<FoundTeacher> {
  if (!isAsked(teacher)) {
    const { name, ...options } = teacher;
    const open = (environment: Environment) => {
      const policy = scriptedText(teachers.get(name, "synth.teacher").open(options, environment));
      return Promise.resolve({ policy, close: () => Promise.resolve() });
    };
    return {
      mark: { name },
      options: Object.keys(options).length === 0 ? undefined : options,
      rendering: undefined,
      window: SCRIPT_WINDOW,
      open,
    };
  }
  const asked = { ...settings, policy: teacherPolicy(settings, teacher) };
  const found = await resolvePolicy(asked, download);
  return {
    mark: { name: teacher.name, ...found.identity },
    // Weights that are held with less precision write otherwise.
    options: teacher.name === "model" ? precisionOf(settings) : undefined,
    rendering: found.rendering,
    window: found.window,
    open: async (environment) => {
      const { policy, ...opened } = await found.open(environment);
      if (typeof policy === "function") throw new TypeError("A teacher is no file of answers.");
      return { policy, ...opened };
    },
  };
}

/** Settings of how exactly a model computes what it writes. */
function precisionOf({ engine: { frozenWeights, samplingWeights } }: Settings): object {
  return {
    frozenWeights,
    samplingWeights: samplingWeights === "float32" ? undefined : samplingWeights,
  };
}

/** The recipe's `policy` as it would have to be to name the teacher. */
function teacherPolicy({ policy }: Settings, teacher: AskedTeacher): Settings["policy"] {
  if (teacher.name === "endpoint") {
    const { name: _, ...endpoint } = teacher;
    return { from: policy.from, endpoint };
  }
  // Another model is asked in its own way, not in that of the recipe's policy.
  if (teacher.from !== undefined) {
    const { from, chat } = teacher;
    return { from, chat };
  }
  const { predictions: _, ...own } = policy;
  return { ...own, ...(teacher.chat === undefined ? {} : { chat: teacher.chat }) };
}

/** The tokenizer of a teacher whose tokens are ours; null for one that is asked by text. */
export async function teacherTokenizer(
  settings: Settings,
  teacher: TeacherSettings,
  download: PolicyOptions,
): Promise<Tokenizer | null> {
  if (!isAsked(teacher)) return null;
  const { endpoint, from } = teacherPolicy(settings, teacher);
  if (endpoint !== undefined) return null;
  const folder = await policyFolder(from, download);
  return loadTokenizer((await baseFolder(folder, download)) ?? folder);
}
