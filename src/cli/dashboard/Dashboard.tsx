import { Box, renderToString } from "ink";
import type { ReactNode } from "react";
import type { Segment } from "../../trajectory/trajectory.ts";
import { Evaluations } from "./Evaluations.tsx";
import { EventList } from "./EventList.tsx";
import { Footer } from "./Footer.tsx";
import { Header } from "./Header.tsx";
import { Help } from "./Help.tsx";
import { LEAST, layoutOf } from "./layout.ts";
import { comparedSteps, metricRows } from "./metric-rows.ts";
import { MetricTable } from "./MetricTable.tsx";
import type { RunView } from "./run-view.ts";
import { TrajectoryPane } from "./TrajectoryPane.tsx";
import { askedText, WorkLines } from "./WorkLines.tsx";

/** Content of a frame. */
export interface DashboardProps {
  view: RunView;
  terminal: { columns: number; rows: number };
  colours: boolean;
  /** Whether keys are read. */
  keys: boolean;
  help: boolean;
  /** Number of the shown rollout of the latest step. */
  rollout: number;
  textOf: (segment: Segment) => string | null;
  /** The final frame, which stays on the screen: without keys and rollout. */
  ended: boolean;
}

/** Steps for which a metric stays marked after its alarm. */
const ALARM_STEPS = 5;

/** A run at a glance as text: lines no wider than the terminal, fewer than it has rows. */
export function frameOf(props: DashboardProps): string {
  return renderToString(<Dashboard {...props} />, { columns: props.terminal.columns });
}

/** Columns and rows of the terminal. */
function Dashboard(props: DashboardProps): ReactNode {
  const { view, terminal, colours, ended } = props;
  const asked = askedText(view);
  const isSmall = terminal.columns < LEAST.columns || terminal.rows < LEAST.rows;
  const shown = metricRows(view.history, view.facts.emMetric);
  const layout = layoutOf(terminal, {
    metrics: shown.length,
    events: view.events.length,
    trajectory: view.batch !== null && !ended,
    evaluations: view.evaluations.length,
    more: Number(asked !== null),
  });
  const { columns } = layout;
  const common = { columns, colours };
  const work = <WorkLines view={view} {...common} />;
  // The terminal has become too small for more.
  if (isSmall) return <Box width={columns} flexDirection="column" children={work} />;
  const rows = shown.slice(0, layout.metrics * layout.metricColumns);
  const gap = layout.gaps ? 1 : 0;
  const parts = props.help ? (
    <Help metrics={shown} rows={terminal.rows - 5 - Number(layout.folder)} colours={colours} />
  ) : (
    <>
      <Box marginTop={gap} flexDirection="column">
        <Evaluations evaluations={view.evaluations} rows={layout.evaluations} {...common} />
        <MetricTable
          {...{ ...layout, rows, colours, alarmed: alarmed(view), curves: curveHeadings(view) }}
        />
      </Box>
      <EventList events={view.events} rows={layout.events} colours={colours} />
      {view.batch !== null && layout.trajectory > 0 && (
        <Box marginTop={gap} flexDirection="column">
          <TrajectoryPane
            {...{ batch: view.batch, index: props.rollout, rows: layout.trajectory }}
            {...{ ...common, textOf: props.textOf }}
          />
        </Box>
      )}
    </>
  );
  return (
    <Box width={columns} flexDirection="column">
      <Header view={view} folder={layout.folder} colours={colours} />
      {work}
      {parts}
      {!ended && (
        <Box marginTop={gap}>
          <Footer able={props.keys} {...common} />
        </Box>
      )}
    </Box>
  );
}

/** What the curves and changes are of, the longest first. */
function curveHeadings({ history }: RunView): string[] {
  const [first, last] = [history[0]?.step ?? 0, history.at(-1)?.step ?? 0];
  const steps = first === last ? `step ${last}` : `steps ${first}–${last}`;
  const n = comparedSteps(history.length);
  return n === 0 ? [steps] : [`${steps} · change: last ${n} less first ${n}`, steps];
}

function alarmed({ events, step }: RunView): ReadonlySet<string> {
  const recent = events.filter(
    (event) => event.kind === "alarm" && event.step > step - ALARM_STEPS,
  );
  return new Set(recent.map(({ facts }) => String(facts["metric"])));
}
