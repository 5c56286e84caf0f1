import { registry } from "../../base/registry.ts";
import { agentrlCorpus, agentrlTasks } from "./agentrl.ts";
import { flashragCorpus, flashragTasks } from "./flashrag.ts";
import { hotpotqa } from "./hotpotqa.ts";
import type { CorpusLayout, TaskLayout } from "./layout.ts";
import { paragraphs } from "./paragraphs.ts";
import { plain } from "./plain.ts";

/** Layouts of question files. The first that fits a file's first record reads the file. */
export const taskLayouts = registry<TaskLayout>("question layout", [
  agentrlTasks,
  flashragTasks,
  paragraphs,
  hotpotqa,
  plain,
]);

/** Layouts of corpora. */
export const corpusLayouts = registry<CorpusLayout>("corpus layout", [
  agentrlCorpus,
  flashragCorpus,
]);
