import { embedded, viewerFrame } from "../viewer/embed.ts";
import { SAMPLES_SPEC, sampleItems } from "../viewer/sample-items.ts";
import type { Decode } from "../../trajectory/segment-text.ts";
import type { SynthesisFiles } from "../synthesis-files.ts";
import { triggerRates } from "../trigger-rates.ts";
import { browserScript } from "./browser-script.ts";
import { drawTable, triggerTable } from "./draw-table.ts";
import { html, type Markup } from "./markup.ts";
import { page } from "./page.ts";
import { yieldTable } from "./yield-table.ts";

/**
 * The report of a synthesis as one self-contained page, in pieces: what each draw gave, what each step let through and why, and every
 * sample in a viewer. Files are read twice; nothing but numbers and the viewer's list is held.
 *
 * @param decode of the teacher's tokens; null where its tokenizer is not at hand.
 * @throws {DataError} FILE_MISSING when the package was not built; JSONL_BAD_LINE.
 */
export async function* samplesPage(
  files: SynthesisFiles,
  decode: Decode | null,
): AsyncGenerator<string> {
  const script = await browserScript();
  yield* page({ title: `Samples: ${files.name}`, script }, bodyOf(files, decode));
}

async function* bodyOf(files: SynthesisFiles, decode: Decode | null): AsyncGenerator<string> {
  const { synthesis } = files;
  const { draws, yields } = synthesis;
  const rates = await triggerRates(files.draws());
  yield html`<a class="skip" href="#samples">To the samples</a>
    <header class="top">
      <div class="inner">
        <p class="kicker">agentrl synthesis</p>
        <h1>${files.name}</h1>
        ${headline(files)}
      </div>
    </header>
    <nav class="sections" aria-label="Sections">
      <div class="inner">
        <a href="#steps">Steps</a><a href="#draws">Draws</a><a href="#samples">Samples</a>
      </div>
    </nav> `.text;
  yield "<main>\n";
  const drawn = Math.max(0, ...yields.map((step) => step.in));
  const left = yields.at(-1)?.out ?? 0;
  const steps = `${left.toLocaleString("en")} samples of ${drawn.toLocaleString("en")} draws are left`;
  yield section("steps", "Steps", steps, [yieldTable(synthesis)]);
  yield section("draws", "Draws", "before any step", [
    drawTable(draws),
    triggerTable(rates, draws),
  ]);
  yield section("samples", "Samples", null, [viewerFrame(SAMPLES_SPEC)]);
  yield "</main>\n";
  yield* embedded(SAMPLES_SPEC, sampleItems(files, decode));
}

function headline({ synthesis }: SynthesisFiles): Markup {
  const { teacher, dataset, questions, recipe, tier, seed, readsGold } = synthesis;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  const facts = [
    `teacher ${who.join(" ")}`,
    `${questions.toLocaleString("en")} questions of ${dataset}`,
    `recipe ${recipe} (${tier})`,
    `seed ${seed}`,
  ];
  return html`<p class="headline">
    ${facts.join(" · ")}${readsGold && html` <strong class="badge failed">the search looks at the gold</strong>`}
  </p>`;
}

function section(
  id: string,
  title: string,
  note: string | null,
  content: readonly (Markup | null)[],
): string {
  return html`<section id="${id}" class="part-${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}${note !== null && html` <span>${note}</span>`}</h2>
    ${content}
  </section> `.text;
}
