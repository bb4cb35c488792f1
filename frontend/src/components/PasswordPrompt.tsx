import { Alert, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import type { Me } from "../logic/api";
import { PageLink } from "./PageLink";

/** Reminds somebody who came by a one-time link to choose a password; goes away for this visit when told to. */
export function PasswordPrompt({ me }: { readonly me: Me }) {
  const [isDismissed, setDismissed] = useState(false);
  if (me.has_password || isDismissed) {
    return null;
  }
  return (
    <Alert
      color="yellow"
      radius={0}
      py={8}
      className="no-print"
      icon={<IconKey size={18} />}
      withCloseButton
      closeButtonLabel="Remind me next time"
      onClose={() => {
        setDismissed(true);
      }}
    >
      <Group gap={6}>
        <Text fz="sm">You came by a one-time link, and it will not open again: this account has no password yet.</Text>
        <PageLink to="/accounts" search={{}} fz="sm" fw={600} c="inherit" underline="always">
          Choose a password
        </PageLink>
      </Group>
    </Alert>
  );
}
