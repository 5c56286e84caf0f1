import type { Results } from "../results-schema.ts";
import { type Comparable, protocolDifferences, protocolLeaves } from "../same-protocol.ts";
import type { DrawnResult } from "./drawn-result.ts";
import { html, type Markup } from "./markup.ts";

type Protocols = readonly Comparable<DrawnResult & { results: Results }>[];

/** Said before anything else where results were not measured alike. */
export function unlikeBanner(protocols: Protocols): Markup {
  const differences = protocolDifferences(
    protocols.map(({ of: [first] }) => first?.results.protocol),
  );
  return html`<aside class="banner" role="alert">
    <h2>Not comparable</h2>
    <p>
      These results were measured under ${protocols.length} protocols. Each stands in charts of its
      own; a difference between them may come from what is listed here instead of from the policy.
    </p>
    <div class="wide">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Differs in</th>
            ${protocols.map(({ fingerprint, of }) => html`<th scope="col"><code>${fingerprint}</code><br /><small>${of.map(({ name }) => name).join(", ")}</small></th>`)}
          </tr>
        </thead>
        <tbody>
          ${differences.map(
            ({ key, values }) =>
              html`<tr>
                <th scope="row"><code>${key}</code></th>
                ${values.map((value) => html`<td>${value ?? "–"}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </aside> `;
}

/** Each protocol with its fingerprint and parts, long ones folded away; and who was measured. */
export function protocolSection(protocols: Protocols): Markup {
  const isNamed = protocols.some(({ of }) => of.length > 1) || protocols.length > 1;
  return html`<div class="protocols">
    ${protocols.map(({ fingerprint, of }) => {
      const parts = protocolLeaves(of[0]?.results.protocol ?? {});
      const isFolded = ([key]: readonly [string, string]): boolean =>
        /^(environment|prompt)/.test(key);
      return html`<div class="card">
        <p class="fingerprint"><span>Fingerprint</span> <code>${fingerprint}</code></p>
        ${of.map((own) => policyTable(own, isNamed))}
        ${isNamed && html`<h3>Protocol</h3>`}${pairs(parts.filter((part) => !isFolded(part)))}
        <details>
          <summary>Environment and prompt</summary>
          ${pairs(parts.filter(isFolded))}
        </details>
      </div>`;
    })}
  </div>`;
}

function policyTable(
  { name, series, results }: DrawnResult & { results: Results },
  isNamed: boolean,
): Markup {
  const heading = isNamed && html`<h3><span class="key s${series % 6}"></span>${name}</h3>`;
  return html`${heading}${pairs(protocolLeaves(results.policy).map(([key, value]) => [`policy.${key}`, value]))}`;
}

function pairs(entries: readonly (readonly [string, string])[]): Markup {
  return html`<dl class="pairs">
    ${entries.map(
      ([key, value]) =>
        html`<div>
          <dt>${key}</dt>
          <dd>${value === "" ? "(empty)" : value}</dd>
        </div>`,
    )}
  </dl>`;
}
