import { own } from "./elements.ts";

/** Shows the systems of a family, and of them the claims with a verdict. */
function startAtlas(): void {
  const [family, verdict] = ["atlas-family", "atlas-verdict"].map(
    (id) => own(id) as HTMLSelectElement,
  ) as [HTMLSelectElement, HTMLSelectElement];
  const count = own("atlas-count");
  const apply = (): void => {
    let shown = 0;
    for (const system of document.querySelectorAll<HTMLElement>("[data-family]")) {
      const claims = [...system.querySelectorAll<HTMLElement>("[data-verdict]")];
      for (const claim of claims)
        claim.hidden = verdict.value !== "" && claim.dataset["verdict"] !== verdict.value;
      const isOther = family.value !== "" && system.dataset["family"] !== family.value;
      system.hidden = isOther || (verdict.value !== "" && claims.every((claim) => claim.hidden));
      if (!system.hidden && system.classList.contains("system")) shown += 1;
    }
    count.textContent = `${shown} ${shown === 1 ? "system" : "systems"}`;
  };
  for (const select of [family, verdict]) select.addEventListener("change", apply);
  apply();
}

startAtlas();
