import type { ViewerEntry } from "../viewer/contract.ts";
import { element, own } from "./elements.ts";

/** The entry shown beside the chosen one. */
export interface Beside {
  /** The position of the matching entry of the selected side, the nearest of several; null: none. */
  partnerOf(index: number): number | null;
}

const [NEAREST, NOTHING] = ["", "-"];

/** Adds a menu for the entry beside the chosen one, if entries have several sides. @param onChange is called after a new choice. */
export function besideChoice(entries: readonly ViewerEntry[], onChange: () => void): Beside {
  const byKey = new Map<string, number[]>();
  entries.forEach(({ beside }, index) => {
    if (beside === undefined) return;
    const alike = byKey.get(beside.key);
    if (alike === undefined) byKey.set(beside.key, [index]);
    else alike.push(index);
  });
  const sides = [...new Set(entries.flatMap(({ beside }) => beside?.side ?? []))];
  let wanted: string = NEAREST;
  if (sides.length > 1) {
    const choices: [value: string, label: string][] = [
      ...([
        [NEAREST, "Beside: another run"],
        [NOTHING, "Beside: nothing"],
      ] as [string, string][]),
      ...sides.map((side): [string, string] => [`=${side}`, `Beside: ${side}`]),
    ];
    const select = element(
      "select",
      "",
      ...choices.map(([value, label]) => {
        const option = element("option", "", label);
        option.setAttribute("value", value);
        return option;
      }),
    ) as HTMLSelectElement;
    select.name = "beside";
    select.setAttribute("aria-label", "Beside");
    select.addEventListener("change", () => {
      wanted = select.value;
      onChange();
    });
    own("viewer-facets").append(select);
  }
  return {
    partnerOf(index) {
      const entry = entries[index];
      const { beside } = entry ?? {};
      if (entry === undefined || beside === undefined || wanted === NOTHING) return null;
      const draw = drawOf(entry);
      let best: { index: number; distance: number } | null = null;
      for (const other of byKey.get(beside.key) ?? []) {
        const found = entries[other];
        const side = found?.beside?.side;
        if (found?.beside === undefined || side === beside.side) continue;
        if (wanted !== NEAREST && wanted !== `=${side ?? ""}`) continue;
        // Within a step, the draw of the same rank: the best beside the best.
        const distance = Math.abs(found.beside.at - beside.at) + (drawOf(found) === draw ? 0 : 0.5);
        if (best === null || distance < best.distance) best = { index: other, distance };
      }
      return best?.index ?? null;
    },
  };
}

/** @example of the label "step 3, draw 2": "draw 2" */
function drawOf({ label }: ViewerEntry): string {
  return label.split(", ").at(-1) ?? "";
}
