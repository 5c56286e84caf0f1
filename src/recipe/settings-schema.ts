import { z } from "../base/schema.ts";

/** What `base` and `tiers` of a recipe may hold: each key is owned by one part's own schema. */
export const settingsSchema = z.looseObject({
  /** Everything random derives from it. */
  seed: z.int().min(0).default(0),
});
