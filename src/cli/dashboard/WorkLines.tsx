import type { ReactNode } from "react";
import { type Line, piece } from "../../view/styled.ts";
import { shortDuration, stepDuration } from "./durations.ts";
import type { RunView } from "./run-view.ts";
import { StyledLines } from "./StyledLines.tsx";

/** The run's current work and progress; below it, pending requests. */
export function WorkLines(props: { view: RunView; columns: number; colours: boolean }): ReactNode {
  const { view, columns, colours } = props;
  const asked = askedText(view);
  const lines = [workLine(view, Math.max(10, Math.min(40, Math.floor(columns / 4))))];
  if (asked !== null) lines.push([piece(asked, "note")]);
  return <StyledLines lines={lines} colours={colours} />;
}

/** Pending requests to a run; null: none. */
export function askedText({ asked, paused, step }: RunView): string | null {
  if (paused) return `paused after step ${step}: p goes on`;
  const parts = [
    ...(asked.save ? ["save a checkpoint"] : []),
    ...(asked.evaluate ? ["evaluate"] : []),
    ...(asked.pause ? ["pause"] : []),
    ...(asked.stop ? ["stop"] : []),
  ];
  return parts.length === 0 ? null : `after this step: ${parts.join(", ")}`;
}

function workLine(view: RunView, width: number): Line {
  const { work } = view;
  switch (work.kind) {
    case "starting":
      return [piece("starting", "bold")];
    case "evaluating": {
      const em = work.em === null ? "" : ` · EM ${work.em.toFixed(3)}`;
      return [
        piece(`evaluating ${work.name} `, "bold"),
        ...bar(work.done / work.total, width),
        piece(` ${work.done}/${work.total} questions${em}`),
      ];
    }
    case "stage": {
      const { done, total, note } = work;
      const of = total === null ? `${done} questions` : `${done}/${total} steps`;
      const filled = total === null ? [] : [...bar(done / total, width), piece(" ")];
      return [piece("stage ", "bold"), ...filled, piece(of), piece(` · ${note}`, "dim")];
    }
    case "training":
      return trainingLine(view, width);
  }
}

function trainingLine(
  { step, totalSteps, batch, stepMs, leftMs, paused }: RunView,
  width: number,
): Line {
  if (totalSteps === null) {
    const doing = batch === null ? "sampling" : "updating";
    return [piece(`step ${step + 1}`, "bold"), piece(` · ${doing}`, "dim")];
  }
  const share = totalSteps === 0 ? 1 : step / totalSteps;
  // A run without rollouts learns from samples or pairs.
  const isUpdating = batch === null || batch.step > step;
  const doing = isUpdating ? "updating" : "sampling";
  const facts = [
    ...(leftMs === null || step >= totalSteps ? [] : [`${shortDuration(leftMs)} left`]),
    ...(stepMs === null ? [] : [`${stepDuration(stepMs)} a step`]),
    ...(step >= totalSteps || paused ? [] : [doing]),
  ];
  return [
    piece(`step ${step}/${totalSteps} `, "bold"),
    ...bar(share, width),
    piece(` ${Math.floor(share * 100)} %`),
    piece(facts.map((fact) => ` · ${fact}`).join(""), "dim"),
  ];
}

/** A share as a bar. */
export function bar(share: number, width: number): Line {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return [piece("█".repeat(filled), "tag"), piece("░".repeat(width - filled), "dim")];
}
