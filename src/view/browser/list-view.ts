import type { ViewerEntry } from "../viewer/contract.ts";
import { element, MARKS, own } from "./elements.ts";

/** Height of a line of the list in pixels, as in the style sheet. */
const LINE = 60;
/** Lines kept above and below the visible ones. */
const SPARE = 8;

/** The list: only visible lines are in the page. */
export interface ListView {
  show(indices: readonly number[]): void;
  /** Marks the chosen entry and scrolls to its line. */
  choose(index: number | null): void;
}

/** @param onChoose gets the position of an entry in `entries`. */
export function listView(
  entries: readonly ViewerEntry[],
  onChoose: (index: number) => void,
): ListView {
  const [list, rows] = [own("viewer-list"), own("viewer-rows")];
  let shown: readonly number[] = [];
  let chosen: number | null = null;

  /** Lines in the page, by entry. */
  let lines = new Map<number, HTMLElement>();

  const draw = (): void => {
    const first = Math.max(0, Math.floor(list.scrollTop / LINE) - SPARE);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / LINE) + 2 * SPARE);
    const before = lines;
    lines = new Map();
    const wanted = shown.slice(first, last).map((index, i) => {
      const made = before.get(index) ?? newLine(index);
      made.style.top = `${(first + i) * LINE}px`;
      made.setAttribute("aria-posinset", String(first + i + 1));
      made.setAttribute("aria-setsize", String(shown.length));
      made.setAttribute("aria-selected", String(index === chosen));
      lines.set(index, made);
      return made;
    });
    if (shown.length === 0) wanted.push(element("p", "empty", "Nothing matches these filters."));
    place(rows, wanted);
    if (chosen !== null && lines.has(chosen)) {
      list.setAttribute("aria-activedescendant", `viewer-line-${chosen}`);
    } else list.removeAttribute("aria-activedescendant");
  };

  const newLine = (index: number): HTMLElement => {
    const made = line(entries[index]);
    made.id = `viewer-line-${index}`;
    made.addEventListener("click", () => {
      onChoose(index);
    });
    return made;
  };
  list.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(list);

  return {
    show(indices) {
      shown = indices;
      rows.style.height = `${shown.length * LINE}px`;
      list.scrollTop = 0;
      draw();
    },
    choose(index) {
      chosen = index;
      const at = index === null ? -1 : shown.indexOf(index);
      const [top, bottom] = [at * LINE, (at + 1) * LINE];
      if (at >= 0 && top < list.scrollTop) list.scrollTop = top;
      if (at >= 0 && bottom > list.scrollTop + list.clientHeight)
        list.scrollTop = bottom - list.clientHeight;
      draw();
    },
  };
}

/** Sets the children. Existing lines stay in place: a line that is removed between press and release would lose the click. */
function place(parent: HTMLElement, wanted: readonly HTMLElement[]): void {
  const stay = new Set<Element>(wanted);
  for (const child of [...parent.children]) if (!stay.has(child)) child.remove();
  wanted.forEach((child, i) => {
    const there = parent.children[i];
    if (there !== child) parent.insertBefore(child, there ?? null);
  });
}

function line(entry: ViewerEntry | undefined): HTMLElement {
  const { title = "", subtitle = "", verdict = null, label = "" } = entry ?? {};
  const [sign, meaning] = MARKS[verdict ?? "none"];
  const mark = element("span", `verdict ${verdict ?? "none"}`, sign);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", meaning);
  const lower = [element("span", "subtitle", subtitle)];
  if (label !== "") lower.push(element("span", "label", label));
  const made = element(
    "div",
    "line",
    mark,
    element("span", "title", title),
    element("span", "lower", ...lower),
  );
  made.setAttribute("role", "option");
  return made;
}
