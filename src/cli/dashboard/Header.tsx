import { Box } from "ink";
import type { ReactNode } from "react";
import { type Line, piece } from "../../view/styled.ts";
import { shortDuration } from "./durations.ts";
import type { RunView } from "./run-view.ts";
import { StyledLines } from "./StyledLines.tsx";

/** The run's name, duration and folder. */
export function Header(props: { view: RunView; folder: boolean; colours: boolean }): ReactNode {
  const { view, folder, colours } = props;
  const { facts, device, stage, elapsedMs } = view;
  const of = [facts.tier, `seed ${facts.seed}`, ...(device === null ? [] : [device])];
  const called = stage === null ? "" : stageText(stage);
  const left: Line = [
    piece(facts.recipe, "bold"),
    piece(` · ${of.join(" · ")}`, "dim"),
    ...(called === "" ? [] : [piece(` · ${called}`, "tag")]),
  ];
  return (
    <Box flexDirection="column">
      <Box>
        <Box flexGrow={1} flexShrink={1}>
          <StyledLines lines={[left]} colours={colours} />
        </Box>
        <Box flexShrink={0} marginLeft={2}>
          <StyledLines lines={[[piece(shortDuration(elapsedMs), "dim")]]} colours={colours} />
        </Box>
      </Box>
      {folder && <StyledLines lines={[[piece(facts.out, "dim")]]} colours={colours} />}
    </Box>
  );
}

function stageText({ number, total, name, kind }: NonNullable<RunView["stage"]>): string {
  return `stage ${number}/${total}: ${name}${name === kind ? "" : ` (${kind})`}`;
}
