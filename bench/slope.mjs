/** Slope of the line of least squares through [x, y] points; null where all x are alike. */
export function slope(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const over = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  const under = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  return under === 0 ? null : over / under;
}

/** Upper 97.5 % points of Student's t for 1 … 20 degrees of freedom; beyond, the normal's. */
const T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086,
];

/** The slope and the interval in which it lies at 95 %, points scattering independently about their line; null below three points. */
export function slopeInterval(points) {
  const steep = slope(points);
  if (points.length < 3 || steep === null) return null;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const free = points.length - 2;
  const left = points.reduce((sum, [x, y]) => sum + (y - my - steep * (x - mx)) ** 2, 0);
  const spread = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const half = (T[free - 1] ?? 1.96) * Math.sqrt(left / free / spread);
  return { slope: steep, from: steep - half, to: steep + half };
}
