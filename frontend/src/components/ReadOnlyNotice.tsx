import { Alert, Text } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { Me } from "../logic/api";

/** Says that this server takes no changes, before a form is filled in that it would refuse. */
export function ReadOnlyNotice({ me }: { readonly me: Me }) {
  if (!me.is_read_only) {
    return null;
  }
  return (
    <Alert color="blue" radius={0} py={8} className="no-print" icon={<IconLock size={18} />}>
      <Text fz="sm">Read-only: look at everything, nothing can be changed.</Text>
    </Alert>
  );
}
