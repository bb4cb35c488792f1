import { ActionIcon, Code, CopyButton, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

interface CopyBoxProps {
  readonly text: string;
  /** What is copied; part of the button's accessible name. */
  readonly what: string;
}

/** A text with a copy button. */
export function CopyBox({ text, what }: CopyBoxProps) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Code block style={{ flex: 1, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? "copied" : `copy ${what}`}>
            <ActionIcon aria-label={`Copy ${what}`} onClick={copy} mt={4}>
              {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
