import { besideChoice } from "./beside.ts";
import { detailView } from "./detail-view.ts";
import { element, own } from "./elements.ts";
import { facetValues, matching } from "./filter.ts";
import { listView } from "./list-view.ts";
import { readData, type ViewerData } from "./viewer-data.ts";

/** Fills the page's frame (src/view/viewer/embed.ts) and adds its listeners. */
async function startViewer(): Promise<void> {
  const data = await readData();
  const { entries, spec } = data;
  const query = own("viewer-query") as HTMLInputElement;
  const facets = new Map<number, string>();
  const positions = new Map(entries.map(({ id }, index) => [id, index]));
  let shown: number[] = [];
  let chosen: number | null = null;
  const list = listView(entries, (index) => {
    choose(index);
  });

  const apply = (): void => {
    shown = matching(entries, { query: query.value, facets }, (index) => data.text(index));
    list.show(shown);
    list.choose(chosen);
    const isFiltered = query.value !== "" || facets.size > 0;
    own("viewer-reset").hidden = !isFiltered;
    const partial = query.value !== "" && data.text(0) === undefined && entries.length > 0;
    own("viewer-count").textContent = countText(data, shown.length) + (partial ? " so far …" : "");
    // Until all texts are unpacked, only titles and answers are searched.
    if (partial) void data.loadTexts().then(apply);
  };

  const choose = (index: number): void => {
    const entry = entries[index];
    if (entry === undefined) return;
    chosen = index;
    list.choose(index);
    history.replaceState(null, "", `#${encodeURIComponent(entry.id)}`);
    void show(index);
  };

  const show = async (index: number): Promise<void> => {
    const partner = beside.partnerOf(index);
    const views = await Promise.all(
      [index, ...(partner === null ? [] : [partner])].map((each) => viewOf(each)),
    );
    // The user chose another entry while this one was unpacked.
    if (chosen !== index) return;
    const pane = own("viewer-detail");
    const [only = []] = views;
    const sides = [index, partner].flatMap((each, i) => {
      if (each === null) return [];
      const name = element("p", "side-name", entries[each]?.beside?.side ?? "");
      return [element("div", "side", name, ...(views[i] ?? []))];
    });
    pane.classList.toggle("beside", views.length > 1);
    pane.replaceChildren(...(views.length > 1 ? sides : only));
    pane.scrollTop = 0;
  };

  const viewOf = async (index: number): Promise<HTMLElement[]> => {
    const [entry, detail] = [entries[index], await data.detail(index)];
    if (entry === undefined) return [];
    const others = entries.filter(({ group }) => group === entry.group);
    return detailView({ entry, detail }, spec, others);
  };

  const clear = (): void => {
    query.value = "";
    facets.clear();
    for (const select of document.querySelectorAll<HTMLSelectElement>("#viewer-facets select")) {
      select.value = "";
      select.classList.remove("set");
    }
    apply();
  };

  const step = (by: number): void => {
    const at = chosen === null ? -1 : shown.indexOf(chosen);
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next !== undefined) choose(next);
  };

  /** Opens the entry of the address; false if the list has no such entry. */
  const follow = (): boolean => {
    const index = positions.get(decodedHash());
    if (index === undefined) return false;
    if (!shown.includes(index)) clear();
    choose(index);
    own("viewer").scrollIntoView();
    return true;
  };

  addFacets(data, (facet, value) => {
    if (value === "") facets.delete(facet);
    else facets.set(facet, value);
    apply();
  });
  const beside = besideChoice(entries, () => {
    if (chosen !== null) void show(chosen);
  });
  query.addEventListener("input", apply);
  own("viewer-reset").addEventListener("click", clear);
  own("viewer-toolbar").addEventListener("submit", (event) => {
    event.preventDefault();
    own("viewer-list").focus();
  });
  addKeys({ step, query });
  addEventListener("hashchange", follow);
  apply();
  const [first] = shown;
  if (!follow() && first !== undefined) {
    // Shows the first entry, without a change of the address.
    chosen = first;
    list.choose(first);
    void show(first);
  }
}

function decodedHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // Not written by this page.
  }
}

function countText({ entries, spec }: ViewerData, shown: number): string {
  const all = entries.length.toLocaleString("en");
  const noun = entries.length === 1 ? spec.noun[0] : spec.noun[1];
  return shown === entries.length
    ? `${all} ${noun}`
    : `${shown.toLocaleString("en")} of ${all} ${noun}`;
}

/** A menu for each facet with several values. */
function addFacets(
  { entries, spec }: ViewerData,
  onChange: (facet: number, value: string) => void,
): void {
  spec.facets.forEach(({ key, label }, facet) => {
    const values = facetValues(entries, facet);
    if (values.length < 2) return;
    const options = values.map(({ value, count }) => {
      const option = element("option", "", `${value} (${count.toLocaleString("en")})`);
      option.setAttribute("value", value);
      return option;
    });
    const any = element("option", "", `${label}: any`);
    any.setAttribute("value", "");
    const select = element("select", "", any, ...options) as HTMLSelectElement;
    select.name = key;
    select.setAttribute("aria-label", label);
    select.addEventListener("change", () => {
      select.classList.toggle("set", select.value !== "");
      onChange(facet, select.value);
    });
    own("viewer-facets").append(select);
  });
}

function addKeys({ step, query }: { step: (by: number) => void; query: HTMLInputElement }): void {
  const moves: Record<string, number> = { j: 1, k: -1 };
  const inList: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: 10,
    PageUp: -10,
    Home: -Infinity,
    End: Infinity,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const target = event.target as HTMLElement;
    if (key === "Escape" && own("viewer").contains(target)) {
      own("viewer-list").focus();
      return;
    }
    if (target.closest("input, select, textarea") !== null) return;
    const by = moves[key] ?? (target.id === "viewer-list" ? inList[key] : undefined);
    if (by !== undefined) step(by);
    else if (key === "/") query.focus();
    else return;
    if (document.activeElement === document.body) own("viewer-list").focus();
    event.preventDefault();
  });
}

startViewer().catch((error: unknown) => {
  own("viewer-count").textContent = `The list could not be read: ${String(error)}`;
  throw error;
});
