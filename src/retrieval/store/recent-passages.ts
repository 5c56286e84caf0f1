import type { Passage } from "../../trajectory/task.ts";
import type { PassageStore } from "./passage-store.ts";

/** UTF-16 units of the passages that are kept, at most: some 32 to 64 MB. */
export const RECENT_UNITS = 1 << 25;

/** What a kept passage takes beside its text. */
const OWN_UNITS = 200;

/**
 * Keeps the passages that were read last: those that questions of a run have in common are found again and again.
 *
 * There are two generations. A passage enters the young one when it is read; a full young one becomes the old one, whose
 * passages are forgotten. So what was read since is kept, at no cost for order.
 */
export function recentPassages(store: PassageStore, mostUnits = RECENT_UNITS): PassageStore {
  let young = new Map<number, Passage>();
  let old = new Map<number, Passage>();
  let units = 0;
  const keep = (position: number, passage: Passage): void => {
    units += OWN_UNITS + passage.id.length + passage.title.length + passage.text.length;
    if (units > mostUnits / 2) {
      old = young;
      young = new Map();
      units = 0;
    }
    young.set(position, passage);
  };
  return {
    count: store.count,
    read(position) {
      const kept = young.get(position);
      if (kept !== undefined) return kept;
      const passage = old.get(position) ?? store.read(position);
      keep(position, passage);
      return passage;
    },
    close: () => store.close(),
  };
}
