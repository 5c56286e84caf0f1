import type { Verdict } from "../viewer/contract.ts";

/** Sign and meaning of each verdict. */
export const MARKS: Record<NonNullable<Verdict> | "none", [sign: string, meaning: string]> = {
  right: ["✓", "right"],
  partly: ["◐", "partly right"],
  wrong: ["✗", "wrong"],
  failed: ["!", "failed, not measured"],
  none: ["·", "not judged"],
};

/** A new element; strings become text nodes, never markup. */
export function element(
  tag: string,
  className: string,
  ...children: (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.append(...children);
  return made;
}

/** An element of the page's own frame. */
export function own(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page lacks #${id}.`);
  return found;
}
