import { Alert, Code, List, Text } from "@mantine/core";
import { useState } from "react";

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
      title="Parts of this link were ignored"
      withCloseButton
      closeButtonLabel="Close"
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
      <Text fz="sm">The rest of the link is applied.</Text>
    </Alert>
  );
}
