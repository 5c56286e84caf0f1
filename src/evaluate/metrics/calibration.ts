/** Agreement of confidences with outcomes. */

/** An answer's confidence, 0 to 1, and whether it was right. */
export interface Confident {
  confidence: number;
  right: boolean;
}

export interface Calibration {
  /** Answers with a confidence. */
  n: number;
  /** Expected calibration error over ten bins of equal width, the last one closed: 0 is best. */
  ece: number;
  /** Mean squared difference of confidence and outcome: 0 is best; a constant confidence of 0.5 gives 0.25. */
  brier: number;
  /** Probability that a right answer has a higher confidence than a wrong one, ties count half; null without both. */
  auroc: number | null;
}

const BINS = 10;

/**
 * @param answers at least one.
 *
 * Sources: Guo et al., arXiv 1706.04599, section 2 (ECE: mean over bins of |mean outcome − mean confidence|, weighted by size);
 * Brier (1950), the form for two outcomes; AUROC as the rank statistic of Mann and Whitney (1947).
 *
 * @example calibrationOf([{ confidence: 0.9, right: true }, { confidence: 0.6, right: false }])
 * // ece (0.1 + 0.6) / 2 = 0.35, brier (0.01 + 0.36) / 2 = 0.185, auroc 1
 */
export function calibrationOf(answers: readonly Confident[]): Calibration {
  const n = answers.length;
  const bins = Array.from({ length: BINS }, () => ({ confidence: 0, right: 0 }));
  let brier = 0;
  for (const { confidence, right } of answers) {
    const bin = bins[Math.min(BINS - 1, Math.floor(confidence * BINS))];
    if (bin === undefined) continue;
    bin.confidence += confidence;
    bin.right += Number(right);
    brier += (confidence - Number(right)) ** 2;
  }
  const gaps = bins.reduce((sum, bin) => sum + Math.abs(bin.right - bin.confidence), 0);
  return { n, ece: gaps / n, brier: brier / n, auroc: auroc(answers) };
}

function auroc(answers: readonly Confident[]): number | null {
  const sorted = [...answers].sort((a, b) => a.confidence - b.confidence);
  const rights = sorted.filter(({ right }) => right).length;
  const wrongs = sorted.length - rights;
  if (rights === 0 || wrongs === 0) return null;
  let rankSum = 0;
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (to < sorted.length && sorted[to]?.confidence === sorted[from]?.confidence) to += 1;
    // Answers of equal confidence share the mean of their ranks, counted from 1.
    const rank = (from + 1 + to) / 2;
    rankSum += rank * sorted.slice(from, to).filter(({ right }) => right).length;
    from = to;
  }
  return (rankSum - (rights * (rights + 1)) / 2) / (rights * wrongs);
}
