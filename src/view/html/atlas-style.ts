/** The style of the atlas: its list of systems, and a box for each. */
export const ATLAS_STYLE = `
.atlas-filter { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 14px; font-size: 14px; color: var(--soft); }
.atlas-filter label { display: inline-flex; gap: 6px; align-items: center; }
.atlas-filter select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; height: 34px; padding: 0 9px; }
.atlas-filter output { margin-left: auto; }
.system { margin: 0 0 26px; padding: 18px 22px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.system > h3 { margin: 0; font-size: 20px; } .system > h3 small { margin-left: 8px; font-weight: 400; }
.system > .statement { margin: 4px 0 2px; }
.system .card { border: 0; padding: 0; margin-top: 10px; } .system .panel tbody th { white-space: nowrap; max-width: none; padding-right: 14px; }
.claim { margin-top: 18px; padding-top: 14px; border-top: 1px solid var(--line); }
.claim > h3 { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; margin: 0 0 4px; font-size: 15px; } .claim > h3 small { font-weight: 400; }
.claim .statement { margin: 2px 0 0; }
.claim .looks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 10px 26px; align-items: start; margin-top: 12px; }
.claim figure { padding: 0; border: 0; }
.system details { margin-top: 12px; }
[hidden] { display: none !important; }
@media (max-width: 760px) {
  .system { padding: 14px 14px 12px; } .atlas-filter output { margin-left: 0; } .atlas-filter label, .atlas-filter select { flex: 1; min-width: 0; }
}
`;
