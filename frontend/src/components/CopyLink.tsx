import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconAlertTriangle, IconCheck, IconLink } from "@tabler/icons-react";
import { currentLink } from "../state/url";

interface CopyLinkProps {
  /** The link to what a live page shows now, with fixed times; null for a page that does not move. */
  readonly frozen?: string | null;
}

/** Copies the link that shows the page as it is; of a live page either with fixed times, or one that keeps moving. */
export function CopyLink({ frozen = null }: CopyLinkProps) {
  const { copy, copied, error } = useClipboard();
  const label = copied ? "copied" : error === null ? "copy link to this view" : "the browser did not allow copying";
  const button = (
    <ActionIcon
      variant="default"
      size={30}
      aria-label="Copy link"
      onClick={
        frozen === null
          ? () => {
              copy(currentLink());
            }
          : undefined
      }
    >
      {copied ? <IconCheck size={15} /> : error === null ? <IconLink size={15} /> : <IconAlertTriangle size={15} />}
    </ActionIcon>
  );
  if (frozen === null) {
    return <Tooltip label={label}>{button}</Tooltip>;
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Copy link</Menu.Label>
        <Menu.Item
          onClick={() => {
            copy(frozen);
          }}
        >
          As it is now: fixed times
        </Menu.Item>
        <Menu.Item
          onClick={() => {
            copy(currentLink());
          }}
        >
          Live (relative time)
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
