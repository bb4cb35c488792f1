import { Alert, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import type { Me } from "../logic/api";
import { PageLink } from "./PageLink";

/** Reminds a user who logged in by a one-time link to set a password; can be dismissed for this visit. */
export function PasswordPrompt({ me }: { readonly me: Me }) {
  const [isDismissed, setDismissed] = useState(false);
  if (me.has_password || me.is_from_provider || me.is_read_only || isDismissed) {
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
        <Text fz="sm">Your one-time link is used up.</Text>
        <PageLink to="/accounts" search={{}} fz="sm" fw={600} c="inherit" underline="always">
          Set a password{" "}
        </PageLink>
      </Group>
    </Alert>
  );
}
