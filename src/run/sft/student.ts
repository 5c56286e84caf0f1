import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import { noneRetriever } from "../../retrieval/controls/none.ts";
import type { Drawer } from "../../algorithms/drawn-tokens.ts";
import type { Student } from "../../algorithms/student-rows.ts";
import { hasChatTemplate, loadChatTemplate } from "../../chat/load-chat-template.ts";
import { chatRendering } from "../../rollout/chat-rendering.ts";
import { loadTokenizer } from "../../text/tokenizer.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import { environmentOver, policyOf } from "../assemble.ts";
import { folderOfName } from "../bases.ts";
import type { Settings } from "../settings/settings-schema.ts";

/**
 * The policy that learns from a teacher: how its prompts are written, and which strings end its messages.
 * @param model folder of its weights.
 */
export async function studentOf(
  engine: PolicyEngine,
  settings: Settings,
  model: string,
): Promise<Student> {
  // No search is run: the environment only gives its grammar and the tools that a template names.
  const environment = environmentOver(noneRetriever(), settings);
  const { tokenizer, rendering } = await policyOf(engine, settings, model, environment);
  return { tokenizer, rendering, stopStrings: environment.protocol.stopStrings };
}

/** Reads trajectories of a teacher; `drawnWith` is null at first, and the teacher where its tokens or its template are not the student's. */
export type ReadDrawn = <T>(
  drawn: Pick<Candidate, "provenance">,
  read: (drawnWith: Drawer | null) => T,
) => Promise<T>;

/** Makes a `ReadDrawn` that knows the teachers whose folders are here, each read once. */
export function drawnReader(): ReadDrawn {
  const drawers = new Map<string, Drawer | null>();
  return async ({ provenance: { teacher } }, read) => {
    try {
      return read(null);
    } catch (error) {
      const { from } = teacher;
      const isForeign = error instanceof DataError && error.code === "SAMPLE_TOKENS_FOREIGN";
      if (!isForeign || from === undefined) throw error;
      let drawnWith = drawers.get(from);
      if (drawnWith === undefined) {
        drawnWith = await drawerIn(await folderOfName(from));
        drawers.set(from, drawnWith);
      }
      if (drawnWith === null) throw error;
      return read(drawnWith);
    }
  };
}

async function drawerIn(folder: string): Promise<Drawer | null> {
  if (!existsSync(join(folder, "tokenizer.json"))) return null;
  const tokenizer = await loadTokenizer(folder);
  if (!(await hasChatTemplate(folder))) return { tokenizer };
  const template = await loadChatTemplate(folder);
  return { tokenizer, rendering: chatRendering(template, tokenizer, { replies: "inline" }) };
}
