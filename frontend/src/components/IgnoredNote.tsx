import { Alert, Code, List, Text } from "@mantine/core";
import { useState } from "react";
import { words } from "../words";

/** Lists the parts of a link that could not be read, so that users know that their view may differ from a colleague's. */
export function IgnoredNote({ ignored }: { readonly ignored: readonly string[] }) {
  const [dismissed, setDismissed] = useState("");
  const all = ignored.join("\n");
  if (all === dismissed) {
    return null;
  }
  return (
    <Alert
      color="yellow"
      py={8}
      mb="sm"
      title={words.components.ignoredNote.partsLinkWereIgnored}
      withCloseButton
      closeButtonLabel={words.common.close}
      onClose={() => {
        setDismissed(all);
      }}
    >
      <List size="sm">
        {ignored.map((text) => (
          <List.Item key={text}>
            <Code>{text}</Code>
          </List.Item>
        ))}
      </List>
      <Text fz="sm">{words.components.ignoredNote.restLinkApplied}</Text>
    </Alert>
  );
}
