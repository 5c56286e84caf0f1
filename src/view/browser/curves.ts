import { formatCount, shortNumber } from "../../base/format.ts";
import type { CurveData } from "../viewer/contract.ts";
import { element, own } from "./elements.ts";

/** Makes the curves of a page interactive: one cursor over all panels of a part, arms on and off, smoothing, bands. */
function startCurves(): void {
  listenToControls();
  for (const part of document.querySelectorAll<HTMLElement>("[data-part]")) linkPanels(part);
}

function listenToControls(): void {
  const controls = own("curve-controls");
  const holder = document.body;
  const apply = (): void => {
    const chosen = new FormData(controls as HTMLFormElement);
    holder.classList.toggle("smoothing", chosen.has("smooth"));
    const band = chosen.get("band");
    for (const each of ["range", "t95"]) holder.classList.toggle(`band-${each}`, band === each);
  };
  controls.addEventListener("change", apply);
  controls.addEventListener("submit", (event) => {
    event.preventDefault();
  });
  for (const button of controls.querySelectorAll<HTMLElement>("[data-toggle]")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const arm = button.dataset["toggle"] ?? "";
      for (const each of document.querySelectorAll(`[data-arm="${arm}"]`))
        each.classList.toggle("off", !shown);
    });
  }
  apply();
}

/** One panel with the elements for the cursor. */
interface LinkedPanel {
  area: HTMLElement;
  cursor: HTMLElement;
  /** Element of each arm's value. */
  readouts: HTMLElement[];
}

function linkPanels(part: HTMLElement): void {
  const data = JSON.parse(own(`curve-data-${part.dataset["part"] ?? ""}`).textContent) as CurveData;
  const slider = part.querySelector<HTMLInputElement>(".stepper input");
  const output = part.querySelector<HTMLElement>(".stepper output");
  if (slider === null || output === null) return;
  const [first, last] = data.steps;
  const panels = [...part.querySelectorAll<HTMLElement>("figure.curve")].map((figure) => {
    const cursor = element("div", "cursor", element("span", ""));
    const area = figure.querySelector<HTMLElement>(".area") ?? figure;
    area.append(cursor);
    const readouts = [...figure.querySelectorAll<HTMLElement>(".readout [data-arm]")];
    return { area, cursor, readouts };
  });
  const tip = element("div", "tip");
  tip.hidden = true;

  /** Moves the cursor to a step in every panel; null hides it. */
  const show = (step: number | null, over: LinkedPanel | null): void => {
    const shown = step ?? last;
    slider.value = String(shown);
    output.textContent = formatCount(shown);
    panels.forEach(({ cursor, readouts }, i) => {
      cursor.classList.toggle("on", step !== null);
      cursor.style.left = `${last === first ? 50 : (100 * (shown - first)) / (last - first)}%`;
      const label = cursor.firstElementChild;
      if (label !== null) label.textContent = formatCount(shown);
      readouts.forEach((readout, arm) => {
        const value = valueAt(data, data.panels[i]?.[arm], shown);
        readout.textContent = value === null ? "–" : shortNumber(value);
      });
    });
    tell(step, over);
  };

  /** Events near the cursor, under the panel with the pointer. */
  const tell = (step: number | null, over: LinkedPanel | null): void => {
    const reach = Math.max(0.025 * (last - first), 0.5);
    const near =
      step === null ? [] : data.marks.filter((mark) => Math.abs(mark.step - step) <= reach);
    tip.hidden = near.length === 0 || over === null;
    if (over === null || near.length === 0) return;
    tip.replaceChildren(...near.slice(0, 4).map(({ text }) => element("p", "", text)));
    if (near.length > 4) tip.append(element("p", "", `and ${near.length - 4} more`));
    over.area.append(tip);
  };

  for (const panel of panels) {
    panel.area.addEventListener("pointermove", (event) => {
      const { left, width } = panel.area.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
      show(Math.round(first + share * (last - first)), panel);
    });
    panel.area.addEventListener("pointerleave", () => {
      show(null, null);
    });
  }
  slider.addEventListener("input", () => {
    show(Number(slider.value), null);
  });
  slider.addEventListener("blur", () => {
    show(null, null);
  });
}

/** An arm's value at a step, or the last one before it; null before its first. */
function valueAt(
  { grids }: CurveData,
  packed: [grid: number, values: number[]] | undefined,
  step: number,
): number | null {
  if (packed === undefined) return null;
  const [grid, values] = packed;
  const steps = grids[grid] ?? [];
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] ?? Infinity) <= step) low = middle + 1;
    else high = middle;
  }
  return values[low - 1] ?? null;
}

startCurves();
