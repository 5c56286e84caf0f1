import type { Environment } from "../../src/env/environments/environment.ts";
import type { Teacher } from "../../src/env/teacher.ts";
import type { TextPolicy } from "../../src/rollout/policy.ts";
import { scriptedText } from "../../src/rollout/scripted-text.ts";

/** The policy of a teacher without a model. */
export function scriptedTeacher(
  teacher: Teacher,
  environment: Environment,
  options: object = {},
): TextPolicy {
  return scriptedText(teacher.open(options, environment));
}
