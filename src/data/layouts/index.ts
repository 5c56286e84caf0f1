import { registry } from "../../base/registry.ts";
import { wikiMultihop } from "./2wikimultihopqa.ts";
import { agentrlCorpus, agentrlTasks } from "./agentrl.ts";
import { beir } from "./beir.ts";
import { fever } from "./fever.ts";
import { flashragCorpus, flashragTasks } from "./flashrag.ts";
import { hotpotqa } from "./hotpotqa.ts";
import type { CorpusLayout, TaskLayout } from "./layout.ts";
import { musique } from "./musique.ts";
import { paragraphs } from "./paragraphs.ts";
import { plain } from "./plain.ts";
import { popqa } from "./popqa.ts";
import { strategyqa } from "./strategyqa.ts";
import { triviaqa } from "./triviaqa.ts";
import { trl } from "./trl.ts";
import { verl } from "./verl.ts";
import { webquestions } from "./webquestions.ts";

/**
 * Layouts of question files. The first that fits a file's first record reads the file: rows for trainers before what they
 * contain, datasets of their own before those whose keys they share, and what names least last.
 */
export const taskLayouts = registry<TaskLayout>("question layout", [
  trl,
  verl,
  agentrlTasks,
  flashragTasks,
  paragraphs,
  musique,
  wikiMultihop,
  popqa,
  triviaqa,
  webquestions,
  fever,
  beir,
  strategyqa,
  hotpotqa,
  plain,
]);

/** Layouts of corpora. */
export const corpusLayouts = registry<CorpusLayout>("corpus layout", [
  agentrlCorpus,
  flashragCorpus,
]);
