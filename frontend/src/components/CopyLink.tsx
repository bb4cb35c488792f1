import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconAlertTriangle, IconCheck, IconLink } from "@tabler/icons-react";
import { currentLink } from "../state/url";
import { words } from "../words";

interface CopyLinkProps {
  /** The link to what a live page shows now, with fixed times; null for a page that does not move. */
  readonly frozen?: string | null;
}

/** Copies the link that shows the page as it is; of a live page either with fixed times, or one that keeps moving. */
export function CopyLink({ frozen = null }: CopyLinkProps) {
  const { copy, copied, error } = useClipboard();
  const label = copied
    ? "copied"
    : error === null
      ? words.components.copyLink.copyLinkView
      : words.components.copyLink.browserDidNotAllow;
  const button = (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={words.components.copyLink.copyLink}
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
        <Menu.Label>{words.components.copyLink.copyLink}</Menu.Label>
        <Menu.Item
          onClick={() => {
            copy(frozen);
          }}
        >
          {words.components.copyLink.nowFixedTimes}
        </Menu.Item>
        <Menu.Item
          onClick={() => {
            copy(currentLink());
          }}
        >
          {words.components.copyLink.keepsMovingNewestSamples}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
