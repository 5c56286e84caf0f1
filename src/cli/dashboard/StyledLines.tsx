import { Text } from "ink";
import type { ReactNode } from "react";
import { type Line, painted } from "../../view/styled.ts";

/** Lines, each cut where its box ends. Colours are escape codes of our own: Ink's follow stdout, which may be a file. */
export function StyledLines(props: { lines: readonly Line[]; colours: boolean }): ReactNode {
  const { lines, colours } = props;
  return lines.map((line, i) => {
    const text = painted([line], colours).text;
    // Ink gives an empty text no row.
    return (
      <Text key={i} wrap="truncate">
        {text === "" ? " " : text}
      </Text>
    );
  });
}
