import { ActionIcon, Group, Tooltip } from "@mantine/core";
import { IconTag } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { hostsQuery } from "../../api/queries";
import { mayWrite, useMe } from "../../components/me";
import { TagChips } from "../../components/TagChips";
import type { HostInfo } from "../../logic/api";
import { tagsOf, tagWord } from "../../logic/fleet";
import { clockOf, encodeClock } from "../../state/zone_choice";

const TagHostsDialog = lazy(() =>
  import("../../components/TagHostsDialog").then((module) => ({ default: module.TagHostsDialog })),
);

/** The tags of the host, and their dialog. */
export function HostTags({ host }: { readonly host: HostInfo }) {
  const me = useMe();
  const navigate = useNavigate();
  const clock = encodeClock(clockOf(useSearch({ strict: false })));
  const [isOpen, setOpen] = useState(false);
  const hosts = useQuery({ ...hostsQuery, enabled: isOpen }).data?.hosts ?? [];
  return (
    <Group gap={2} wrap="nowrap">
      <TagChips
        host={host.name}
        tags={host.tags}
        onTag={(tag) => {
          void navigate({ to: "/hosts", search: { ...clock, filter: tagWord(tag) } });
        }}
      />
      {mayWrite(me) && (
        <Tooltip label="Tags of this host">
          <ActionIcon
            size="sm"
            aria-label="Change tags"
            onClick={() => {
              setOpen(true);
            }}
          >
            <IconTag size={14} />
          </ActionIcon>
        </Tooltip>
      )}
      <Suspense fallback={null}>
        {isOpen && (
          <TagHostsDialog
            hosts={[host]}
            known={tagsOf(hosts).map(({ name }) => name)}
            onClose={() => {
              setOpen(false);
            }}
          />
        )}
      </Suspense>
    </Group>
  );
}
