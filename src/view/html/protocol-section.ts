import type { OnDataset } from "../comparison.ts";
import { type Comparable, protocolDifferences, protocolLeaves } from "../same-protocol.ts";
import { renderHtml, small } from "./html-table.ts";
import { type Content, html, type Markup, seriesLabel, tag } from "./markup.ts";
import type { DrawnResult } from "./score-tables.ts";

type Protocols = readonly Comparable<DrawnResult>[];

/** The warning at the top if results of one dataset have different protocols. */
export function unlikeBanner({ dataset, protocols }: OnDataset<DrawnResult>): Markup {
  const differences = protocolDifferences(
    protocols.map(({ of: [first] }) => first?.results.protocol),
  );
  const table = renderHtml({
    caption: "Differences of the protocols",
    className: "plain",
    columns: [
      "Differs in",
      ...protocols.map(({ fingerprint, of }) => ({
        label: [tag("code", {}, fingerprint), small(of.map(({ name }) => name).join(", "))],
      })),
    ],
    rows: differences.map(({ key, values }) => [tag("code", {}, key), ...values]),
  });
  return html`<aside class="banner" role="alert">
    <h2>Not comparable${dataset !== null && ` on ${dataset}`}</h2>
    <p>
      These results were measured under ${protocols.length} protocols. Each has charts of its own. A
      difference between them may come from the settings below instead of from the policy.
    </p>
    <div class="wide">${table}</div>
  </aside> `;
}

/** Each protocol with its fingerprint and parts, long ones folded; and the measured policy. */
export function protocolSection(protocols: Protocols): Markup {
  const isNamed = protocols.some(({ of }) => of.length > 1) || protocols.length > 1;
  const cards = protocols.map(({ fingerprint, of }) => {
    const parts = protocolLeaves(of[0]?.results.protocol ?? {});
    const isFolded = ([key]: readonly [string, string]): boolean =>
      /^(environment|prompt)/.test(key);
    return html`<div class="card">
      <p class="fingerprint"><span>Fingerprint</span> <code>${fingerprint}</code></p>
      ${of.map(({ name, series, results }) => [
        isNamed && tag("h3", {}, seriesLabel(series, name)),
        pairs(protocolLeaves(results.policy).map(([key, value]) => [`policy.${key}`, value])),
      ])}
      ${isNamed && html`<h3>Protocol</h3>`}${pairs(parts.filter((part) => !isFolded(part)))}
      <details>
        <summary>Environment and prompt</summary>
        ${pairs(parts.filter(isFolded))}
      </details>
    </div>`;
  });
  return tag("div", { class: "protocols" }, cards);
}

function pairs(entries: readonly (readonly [string, string])[]): Markup {
  const rows: Content = entries.map(([key, value]) =>
    tag("div", {}, tag("dt", {}, key), tag("dd", {}, value === "" ? "(empty)" : value)),
  );
  return tag("dl", { class: "pairs" }, rows);
}
