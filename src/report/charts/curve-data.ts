/** What the page's script reads of one part: what stands at each step. */
export interface CurveData {
  steps: readonly [first: number, last: number];
  /** Lists of steps, which panels share. */
  grids: number[][];
  /** By panel, then by arm of the part: which grid, and a value for each of its steps. */
  panels: [grid: number, values: number[]][][];
  /** Colour of each arm of the part. */
  arms: number[];
  marks: { step: number; text: string }[];
}
