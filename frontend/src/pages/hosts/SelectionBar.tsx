import { Button, Group, Text } from "@mantine/core";
import { IconBookmark, IconChartLine, IconGitCompare, IconTag, IconX } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { PageButton } from "../../components/PageLink";
import { overlayLink, recentWindow } from "../../logic/fleet";
import type { EpochMs, Window } from "../../logic/time";
import { DEFAULT_COMPARISON_VIEW, encodeComparisonView } from "../../state/comparison";
import type { Clock } from "../../state/url";
import { counted } from "../../logic/counted";

interface SelectionBarProps {
  readonly hosts: readonly string[];
  readonly hour: Window;
  readonly now: EpochMs;
  readonly clock: Clock;
  readonly isPast: boolean;
  readonly canMark: boolean;
  readonly onMark: () => void;
  readonly onTag: () => void;
  readonly onClear: () => void;
}

/** What can be done with the selected hosts. */
export function SelectionBar({ hosts, hour, clock, isPast, canMark, onMark, onTag, onClear }: SelectionBarProps) {
  const router = useRouter();
  const overlay = overlayLink(hosts, isPast ? hour : null);
  return (
    <div className="fleet-selection" role="region" aria-label="Selected hosts">
      <Text fz="sm" fw={600}>
        {`${counted(hosts.length, "host")} selected`}
      </Text>
      <Group gap="xs">
        <Button
          component="a"
          href={overlay}
          variant="default"
          leftSection={<IconChartLine size={14} />}
          onClick={(event) => {
            if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
              event.preventDefault();
              router.history.push(overlay);
            }
          }}
        >
          Overlay
        </Button>
        <PageButton
          to="/comparison"
          search={encodeComparisonView({ ...DEFAULT_COMPARISON_VIEW, hosts, clock, incident: recentWindow(hour) })}
          variant="default"
          leftSection={<IconGitCompare size={14} />}
        >
          Compare
        </PageButton>
        {canMark && (
          <>
            <Button variant="default" leftSection={<IconBookmark size={14} />} onClick={onMark}>
              Save as baseline…
            </Button>
            <Button variant="default" leftSection={<IconTag size={14} />} onClick={onTag}>
              Tag…
            </Button>
          </>
        )}
        <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={onClear}>
          Clear
        </Button>
      </Group>
    </div>
  );
}
