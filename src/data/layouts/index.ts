import { registry } from "../../base/registry.ts";
import { wikiMultihop, hotpotqa } from "./hotpotqa.ts";
import { agentrlCorpus, agentrlTasks } from "./agentrl.ts";
import { beir } from "./beir.ts";
import { fever, strategyqa } from "./verdicts.ts";
import { flashragCorpus, flashragTasks } from "./flashrag.ts";
import type { CorpusLayout, TaskLayout } from "./layout.ts";
import { gsm8k, math } from "./math-problems.ts";
import { mathPrompt } from "./math-prompt.ts";
import { musique, paragraphs } from "./paragraphs.ts";
import { plain, popqa, triviaqa, webquestions } from "./short-answers.ts";
import { squad } from "./squad.ts";
import { trl, verl } from "./trainers.ts";

/**
 * Layouts of question files. The first that fits a file's first record reads the file. Order: rows for trainers before the layouts
 * they include, specific datasets before those that share their keys, and the layout with the fewest keys last.
 */
export const taskLayouts = registry<TaskLayout>("question layout", [
  trl,
  mathPrompt,
  verl,
  agentrlTasks,
  flashragTasks,
  gsm8k,
  math,
  paragraphs,
  musique,
  wikiMultihop,
  popqa,
  triviaqa,
  webquestions,
  fever,
  beir,
  strategyqa,
  squad,
  hotpotqa,
  plain,
]);

export const corpusLayouts = registry<CorpusLayout>("corpus layout", [
  agentrlCorpus,
  flashragCorpus,
]);
