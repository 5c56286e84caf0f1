/** What a setting of a run decides, for whoever asks whether two runs are the same one: gone on with, or laid beside each other. */
export type SettingEffect =
  /** What a step does, what it learns from, and what is measured. */
  | "training"
  /** How many steps there are. */
  | "length"
  /** Where files lie whose content is compared by checksum. */
  | "place"
  /** In which portions, and on what, the same sums are computed: results differ in their last bits. */
  | "division"
  /** When a run goes back, and how it goes on: what is learned only where it went back. */
  | "return"
  /** What is kept of a run, who is told, what is waited for, checked and measured on the way. */
  | "conduct";

const EFFECTS: readonly (readonly [SettingEffect, RegExp])[] = [
  ["length", /^(algorithm\.steps|sft\.epochs|sft\.stages\.\d+\.steps|preference\.epochs)$/],
  ["place", /^(sft|preference)\.(data|validationData)$/],
  ["division", /^engine\.(workers|device|slots|microBatchTokens|recompute)$/],
  ["return", /^(alarms|rollback)(\.|$)/],
  ["conduct", /^(checkpoints|reporters|deadlines|evaluation\.during)(\.|$)/],
  ["conduct", /^(batch|budget|reward)Check$/],
];

/** @param key dotted; what a stage sets is what it sets. @example effectOf("reporters.0.name") // "conduct" */
export function effectOf(key: string): SettingEffect {
  const own = key.replace(/^stages\.\d+\.(stages\.\d+\.)?set\./, "");
  return EFFECTS.find(([, pattern]) => pattern.test(own))?.[0] ?? "training";
}
