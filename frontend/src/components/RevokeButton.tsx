import { Button } from "@mantine/core";

interface RevokeButtonProps {
  /** What is revoked, for those who do not see the row. */
  readonly label: string;
  readonly isPending?: boolean;
  readonly onClick: () => void;
}

/** The button in the row of a token or a link. */
export function RevokeButton({ label, isPending = false, onClick }: RevokeButtonProps) {
  return (
    <Button size="compact-xs" variant="default" loading={isPending} aria-label={label} onClick={onClick}>
      Revoke
    </Button>
  );
}
