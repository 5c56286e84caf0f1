import { defineWorld } from "../../env/world.ts";
import { checkPuzzles } from "./check.ts";
import { options, tasks } from "./dataset.ts";
import { knightsTeacher } from "./teacher.ts";

/**
 * Puzzles of knights, who always say the truth, and knaves, who always lie. Everyone makes one statement, and exactly one assignment fits
 * all of them, found by trying all. Sub-answers are the truth values, person by person.
 *
 * Source: the form of arXiv 2410.23123 (Logic-RL, arXiv 2502.14768, trains on it). Different here: one statement a person of at most two parts.
 */
export const knights = defineWorld({
  name: "knights-knaves",
  summary: "Generated puzzles of three to eight knights and knaves.",
  options,
  tasks,
  check: ({ tasks }) => checkPuzzles(tasks),
  teachers: [knightsTeacher],
  bases: ["deducing", "deducing-last"],
});
