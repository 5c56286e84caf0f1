import { once } from "../base/once.ts";
import { rewards } from "../rewards/index.ts";
import type { Rendering } from "../rollout/chat-rendering.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import { renderingOf } from "./assemble.ts";
import { type Episodes, openEpisodes } from "./episodes.ts";
import { setsOf } from "./evaluation-sets.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** Questions of training or of one evaluation, and how they are put to the client's model. */
export interface PlayedEpisodes {
  episodes: Episodes;
  /** undefined: texts are sent unchanged. */
  rendering: Rendering | undefined;
}

/** A recipe's episodes for a program that samples their tokens. */
export interface PlayWorld {
  tokenizer: Tokenizer;
  /**
   * Training, or the evaluation and its further sets in the recipe's order; questions are counted over all of them. Opened when first
   * asked for.
   */
  split: (name: "train" | "validation") => Promise<readonly PlayedEpisodes[]>;
  /** Closes what it opened; not the episodes that it was given. */
  close(): Promise<void>;
}

/**
 * @param training episodes of the recipe.
 * @param model.folder of the client's model, with tokenizer and chat template.
 * @returns a world whose `split` throws as `openEpisodes` and `renderingOf`.
 */
export function openPlayWorld(
  training: Episodes,
  { folder, tokenizer }: { folder: string; tokenizer: Tokenizer },
): PlayWorld {
  const opened: Episodes[] = [];
  const rendered = async (episodes: Episodes): Promise<PlayedEpisodes> => {
    const { settings, environment } = episodes;
    const from = { model: folder, environment };
    return { episodes, rendering: await renderingOf({ tokenizer }, settings, from) };
  };
  const evaluations = async (): Promise<PlayedEpisodes[]> => {
    const { settings } = training;
    const found: PlayedEpisodes[] = [];
    for (const { name } of MEASURED) await rewards.load(name, "rewards");
    for (const each of [settings, ...setsOf(settings).map((set) => set.settings)]) {
      const episodes = await openEpisodes(measured(each, training), "evaluation");
      opened.push(episodes);
      found.push(await rendered(episodes));
    }
    return found;
  };
  const splits = {
    train: once(async () => [await rendered(training)]),
    validation: once(evaluations),
  };
  return {
    tokenizer,
    split: (name) => splits[name](),
    async close() {
      for (const each of opened) await each.close();
    },
  };
}

/**
 * The settings of an evaluation whose reward is what evaluations measure, exact match, with F1 beside it: rewards of training may need
 * annotations that test questions lack. An environment without answers keeps its own.
 */
function measured(settings: Settings, { environment }: Episodes): Settings {
  if (!environment.answers) return settings;
  const { reward: _, ...rest } = settings;
  return { ...rest, rewards: [...MEASURED] };
}

const MEASURED = [
  { name: "exact-match", as: "em", weight: 1 },
  { name: "token-f1", as: "f1", weight: 0 },
] as const;
