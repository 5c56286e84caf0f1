/** How a frame divides a terminal. */
export interface Layout {
  /** Size of the whole frame. */
  columns: number;
  /** Whether the run folder has its own line. */
  folder: boolean;
  /** Blank lines between the parts. */
  gaps: boolean;
  /** Metrics beside each other. */
  metricColumns: 1 | 2;
  /** Rows of them. */
  metrics: number;
  /** Whether they have headings. */
  headings: boolean;
  /** The first metrics with a tall curve, and its height. */
  tallCurves: number;
  curveHeight: number;
  /** Rows for the evaluations: 1 for a line; 4 for large letters with a blank line below. */
  evaluations: number;
  events: number;
  /** Lines including the heading; 0: no room. */
  trajectory: number;
}

/** The available content. */
export interface LayoutNeeds {
  metrics: number;
  events: number;
  evaluations: number;
  /** Whether there is a trajectory. */
  trajectory: boolean;
  /** Lines for pending requests. */
  more: number;
}

/** Smallest terminal for the view; a smaller one gets lines. */
export const LEAST = { columns: 60, rows: 15 };

const MOST_COLUMNS = 200;
/** Fewest lines for a trajectory: its heading and three lines. */
export const LEAST_TRAJECTORY = 4;
/** Least rows of a terminal that shows the latest evaluation in large letters, and the rows that these take. */
const LARGE = { from: 36, rows: 4 };
/** Most metrics with a tall curve. */
const MOST_TALL = 4;
/** Head, work, keys. */
const FIXED = 3;

/** Divides the rows of a terminal: evaluations and metrics first, then an event or two, taller curves, and trajectories. */
export function layoutOf(terminal: { columns: number; rows: number }, needs: LayoutNeeds): Layout {
  // The last column and the last row stay free: writing there would wrap and scroll.
  const columns = Math.min(terminal.columns - 1, MOST_COLUMNS);
  const rows = terminal.rows - 1;
  const folder = rows >= 19;
  const gaps = rows >= 30;
  const metricColumns = columns >= 160 || (columns >= 76 && rows < 32) ? 2 : 1;
  const headings = rows >= 23 && needs.metrics > 0;
  const evaluations = needs.evaluations === 0 ? 0 : rows >= LARGE.from ? LARGE.rows : 1;
  let left =
    rows - FIXED - needs.more - evaluations - Number(headings) - Number(folder) - (gaps ? 3 : 0);
  const metrics = Math.max(0, Math.min(Math.ceil(needs.metrics / metricColumns), left));
  left -= metrics;
  const most = Math.max(1, Math.floor(left / 4));
  const events = Math.max(0, Math.min(needs.events, most, left));
  left -= events;
  // Spare rows go to the curves of the first metrics; a rollout needs the other half.
  const curveHeight = metricColumns === 1 && left >= 24 ? 3 : 1;
  const spare = curveHeight === 1 ? 0 : Math.floor(left / 2 / (curveHeight - 1));
  const tallCurves = Math.min(spare, MOST_TALL, metrics);
  left -= tallCurves * (curveHeight - 1);
  const trajectory = needs.trajectory && left >= LEAST_TRAJECTORY ? left : 0;
  return {
    columns,
    folder,
    gaps,
    metricColumns,
    metrics,
    headings,
    tallCurves,
    curveHeight,
    evaluations,
    events,
    trajectory,
  };
}
