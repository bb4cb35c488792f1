import { Alert, Button, Menu, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { noZoneReason } from "../logic/host_zone";
import { type Zone, zoneLabel } from "../logic/zone";
import { readNow, zoneOf } from "../state/clock";
import type { RawSearch } from "../state/search";
import { type Clock, CLOCKS, withClock } from "../state/zone_choice";
import { type HostZoneState, useHostZone } from "./zone";
import { counted } from "../logic/counted";

const NO_ZONE = {
  unreported: "not reported by an agent",
  several: "the hosts have different zones",
  "unknown-name": "unknown to this browser",
} as const;

function named(zone: Zone): string {
  const label = zoneLabel(zone, readNow());
  return zone === label ? zone : `${zone}, ${label}`;
}

/** Chooses the zone in which the page shows its times; the link keeps it. */
export function ClockMenu({ clock }: { readonly clock: Clock }) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const state = useHostZone(isOpen || clock === "host");
  const titles: Readonly<Record<Clock, string>> = {
    local: "Zone of this browser",
    utc: "UTC",
    host: state.subject.hosts.length === 1 ? "Zone of the host" : "Zone of the hosts",
  };
  const details: Readonly<Record<Clock, string>> = {
    local: named(zoneOf("local")),
    utc: "as in the API, CSV and the command line",
    host: describeHostZone(state),
  };
  const short = clock === "local" ? "Local" : clock === "utc" ? "UTC" : (state.choice?.zone ?? "UTC");
  return (
    <Menu position="bottom-end" opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          className="shell-clock"
          aria-label={`Times: ${short} (${titles[clock]}: ${details[clock]})`}
          leftSection={<IconClock size={14} />}
        >
          {short}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Times on this page (saved in the link)</Menu.Label>
        {CLOCKS.map((each) => (
          <Menu.Item
            key={each}
            role="menuitemradio"
            aria-checked={each === clock}
            fw={each === clock ? 600 : undefined}
            onClick={() => {
              void navigate({ to: ".", replace: true, search: (search: RawSearch) => withClock(search, each) });
            }}
          >
            {titles[each]}
            <Text fz="xs" className="soft" maw={320}>
              {details[each]}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function describeHostZone({ choice, error }: HostZoneState): string {
  if (error !== null) {
    return error.message;
  }
  if (choice === null) {
    return "reading …";
  }
  if (choice.zone === null) {
    return NO_ZONE[choice.problem?.kind ?? "unreported"];
  }
  const { length } = choice.unreported;
  return length === 0 ? named(choice.zone) : `${named(choice.zone)}; not reported for ${counted(length, "host")}`;
}

/** Says why the times are in UTC although the link asks for the zone of the hosts. */
export function NoZoneNote({ state: { subject, choice, error } }: { readonly state: HostZoneState }) {
  const reason =
    error === null
      ? choice && noZoneReason(choice, subject.hosts)
      : `The time zones of the hosts could not be read, so times are in UTC: ${error.message}`;
  return (
    reason !== null && (
      <Alert color="yellow" py={6} mx="md" mt="xs" role="status">
        {reason}
      </Alert>
    )
  );
}
