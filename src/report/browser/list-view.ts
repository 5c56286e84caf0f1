import type { ViewerEntry } from "../viewer/contract.ts";
import { element, MARKS, own } from "./elements.ts";

/** Height of a line of the list in pixels; the style sheet says the same. */
const LINE = 60;
/** Lines kept above and below what is seen. */
const SPARE = 8;

/** The list: only the lines in sight are in the page. */
export interface ListView {
  show(indices: readonly number[]): void;
  /** Marks the chosen entry and brings its line into sight. */
  choose(index: number | null): void;
}

/** @param onChoose is told the position of an entry in `entries`. */
export function listView(
  entries: readonly ViewerEntry[],
  onChoose: (index: number) => void,
): ListView {
  const [list, rows] = [own("viewer-list"), own("viewer-rows")];
  let shown: readonly number[] = [];
  let chosen: number | null = null;

  const draw = (): void => {
    const first = Math.max(0, Math.floor(list.scrollTop / LINE) - SPARE);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / LINE) + 2 * SPARE);
    const lines = shown.slice(first, last).map((index, i) => {
      const made = line(entries[index], index === chosen);
      made.id = `viewer-line-${index}`;
      made.style.top = `${(first + i) * LINE}px`;
      made.setAttribute("aria-posinset", String(first + i + 1));
      made.setAttribute("aria-setsize", String(shown.length));
      made.addEventListener("click", () => {
        onChoose(index);
      });
      return made;
    });
    if (shown.length === 0) lines.push(element("p", "empty", "Nothing fits these filters."));
    rows.replaceChildren(...lines);
    if (chosen !== null && shown.slice(first, last).includes(chosen)) {
      list.setAttribute("aria-activedescendant", `viewer-line-${chosen}`);
    } else list.removeAttribute("aria-activedescendant");
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
      if (at >= 0 && bottom > list.scrollTop + list.clientHeight) {
        list.scrollTop = bottom - list.clientHeight;
      }
      draw();
    },
  };
}

function line(entry: ViewerEntry | undefined, isChosen: boolean): HTMLElement {
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
  made.setAttribute("aria-selected", String(isChosen));
  return made;
}
