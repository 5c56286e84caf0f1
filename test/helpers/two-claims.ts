/** A recipe with two claims about two arms. */
export const TWO_CLAIMS = `
summary: two claims
base: { sampling: { temperature: 1 } }
tiers: { mini: {} }
paperTables:
  - { id: t1, metric: em, columns: [avg], rows: { Hot: [0.4], Cold: [0.3] } }
claims:
  tests:
    - id: hot-wins
      statement: Hot beats cold.
      metric: eval.after.em
      relation: hot > cold
      source: Table 1
      arms:
        - { name: hot, paperCell: { table: t1, row: Hot, column: avg } }
        - { name: cold, set: { sampling.temperature: 0 }, paperCell: { table: t1, row: Cold, column: avg } }
    - id: bounds
      statement: Plain stays between.
      metric: eval.after.em
      relation: 0.9 > plain >= 0.5
      source: section 2
      arms: [{ name: plain }]
`;
