import { Box, renderToString, Text } from "ink";
import { painted } from "../../view/styled.ts";
import { frameLines, type FrameProps } from "./frame.ts";

/**
 * A run at a glance as text: lines no wider than the terminal, fewer than it has rows. Ink cuts each line where the terminal ends. Colours
 * are escape codes of our own: Ink's follow stdout, which may be a file.
 */
export function frameOf(props: FrameProps): string {
  const { columns } = props.terminal;
  const texts = frameLines(props).map((line) => painted([line], props.colours).text);
  const lines = (
    <Box width={columns - 1} flexDirection="column">
      {texts.map((text, i) => (
        // Ink gives an empty text no row.
        <Text key={i} wrap="truncate">
          {text === "" ? " " : text}
        </Text>
      ))}
    </Box>
  );
  return renderToString(lines, { columns });
}
