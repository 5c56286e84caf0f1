import { z } from "../../base/schema.ts";
import { malformedSchema } from "./malformed.ts";

/** A gold-chain teacher's probabilities of the good choice: all 1 is an oracle; lower values give a mixture to select from. */
export const behaviourSchema = z.strictObject({
  /** To search instead of guessing from the question. */
  search: z.number().min(0).max(1).default(1),
  /** To continue after a hop that is not the last, instead of answering with the passage just read. */
  continue: z.number().min(0).max(1).default(1),
  /** To name the subject in a query, instead of only the relation. */
  fullQuery: z.number().min(0).max(1).default(1),
  /** With style brief: to search for a word that a passage may state the fact with, instead of the fact's label. */
  reword: z.number().min(0).max(1).default(0),
  /** With style brief: to search again where a search did not find the fact, instead of answering. */
  retry: z.number().min(0).max(1).default(1),
  /** With style brief, habits: to send the last query again; */
  repeat: z.number().min(0).max(1).default(0),
  /** to search once more when everything is known; */
  overSearch: z.number().min(0).max(1).default(0),
  /** to answer a question of the world known by heart without a search. */
  recall: z.number().min(0).max(1).default(1),
  /** to state each fact of such an answer in a sentence of its own. */
  state: z.number().min(0).max(1).optional(),
  /** With blocks of numbers: share of messages that cite other passages than those that they use. */
  miscite: z.number().min(0).max(1).optional(),
  /** With blocks of memory: share of messages that keep only what was read last. */
  forget: z.number().min(0).max(1).optional(),
  /** With style brief: shares of messages whose tags are broken. */
  malformed: malformedSchema.prefault({}),
});

export type Behaviour = z.output<typeof behaviourSchema>;
