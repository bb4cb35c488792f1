import { Alert, Code, List, Text } from "@mantine/core";
import { useState } from "react";

/** Says what of a link could not be read, so that nobody believes to see what a colleague saw. */
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
      title="Part of this link could not be read and was left out"
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
      <Text fz="sm">The rest is shown as the link says.</Text>
    </Alert>
  );
}
