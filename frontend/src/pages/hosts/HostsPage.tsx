import { Button, Group, Menu, Text, Title } from "@mantine/core";
import { useDisclosure, useDocumentTitle, useHotkeys } from "@mantine/hooks";
import { IconDeviceTv, IconFolder, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef } from "react";
import { fleetQuery } from "../../api/queries";
import { openNowQuery } from "../../api/watch";
import { IgnoredNote } from "../../components/IgnoredNote";
import { FilterBox } from "../../components/ListFilters";
import { useMe } from "../../components/me";
import { useZone } from "../../components/zone";
import type { Fleet } from "../../logic/api";
import { groupsOf, groupWord, searchFleet, tagsOf, tagWord } from "../../logic/fleet";
import { formatCount } from "../../logic/number";
import { SECOND, wholeSecond } from "../../logic/time";
import { formatClock, formatInstant, zoneLabel } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { decodeFleetView, encodeFleetView, type FleetView } from "../../state/fleet";
import { AddHost } from "./AddHost";
import { FleetBody } from "./FleetBody";
import { FleetTime } from "./FleetTime";
import { counted } from "../../logic/counted";
import "./fleet.css";

/** The start page: every host beside its own normal, most unusual first. */
export function HostsPage() {
  useDocumentTitle("Hosts · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeFleetView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const fleet = useQuery(fleetQuery(view.at));
  const behind = useQuery(openNowQuery(view.at)).data?.behind ?? null;
  const now = useNow(SECOND);
  const zone = useZone(view.clock);
  const [isAdding, adding] = useDisclosure(false);
  const searchBox = useRef<HTMLInputElement>(null);
  const set = useCallback(
    (change: Partial<FleetView>): void => {
      void navigate({ to: "/hosts", search: encodeFleetView({ ...view, ...change }), replace: change.at === undefined });
    },
    [navigate, view],
  );
  useHotkeys([
    ["/", () => searchBox.current?.focus()],
    [
      "Escape",
      () => {
        if (view.isKiosk) {
          set({ isKiosk: false });
        }
      },
    ],
  ]);
  const all = fleet.data?.hosts ?? [];
  const shown = useMemo(() => searchFleet(fleet.data?.hosts ?? [], view.filter), [fleet.data, view.filter]);

  if (view.isKiosk) {
    return (
      <div className="page fleet-page" data-kiosk>
        <Group justify="space-between" mb="xs">
          <Title order={1}>
            {`${counted(all.length, "host")}, ${formatCount(all.filter(({ level }) => level > 0).length)} unusual`}
          </Title>
          <Text className="fleet-clock">{formatClock(zone, wholeSecond(view.at ?? now))}</Text>
        </Group>
        <FleetBody fleet={fleet} view={view} shown={shown} set={set} hasTools={false} />
      </div>
    );
  }
  return (
    <div className="page fleet-page">
      <IgnoredNote ignored={ignored} />
      <Group justify="space-between" mb="sm">
        <Group gap="sm">
          <Title order={1}>Hosts</Title>
          {fleet.data && (
            <Text fz="sm" className="soft" aria-live="polite">
              {me.is_limited ? `${counted(all.length, "host")} of your host groups` : counted(all.length, "host")}
              {shown.length < all.length && `, ${formatCount(shown.length)} shown`}
              {view.at !== null && ` at ${formatInstant(zone, view.at).slice(0, 16)} ${zoneLabel(zone, view.at)}`}
              {fleet.data.n_minutes_read < fleet.data.n_minutes &&
                ` · reading the hour: ${String(fleet.data.n_minutes_read)} of ${String(fleet.data.n_minutes)} minutes`}
              {behind !== null && ` · rules are behind: ${behind}`}
            </Text>
          )}
        </Group>
        <Group gap="xs">
          {all.length > 0 && (
            <FleetTime
              at={view.at}
              now={now}
              zone={zone}
              onChange={(at) => {
                set({ at });
              }}
            />
          )}
          {all.length > 1 && (
            <>
              <GroupMenu
                fleet={fleet.data}
                onChoose={(word) => {
                  set({ filter: word });
                }}
              />
              <FilterBox
                ref={searchBox}
                label="Filter hosts"
                placeholder="Name, OS, group, tag, finding  ( / )"
                value={view.filter}
                onChange={(filter) => {
                  set({ filter });
                }}
                onKeyDown={(event) => {
                  if (event.key === "Escape") {
                    set({ filter: "" });
                    event.currentTarget.blur();
                  }
                }}
              />
              <Button
                variant="default"
                leftSection={<IconDeviceTv size={14} />}
                onClick={() => {
                  set({ isKiosk: true });
                }}
              >
                Kiosk
              </Button>
            </>
          )}
          {!me.is_read_only && (
            <Button
              variant={isAdding ? "default" : "light"}
              leftSection={<IconPlus size={14} />}
              aria-expanded={isAdding}
              onClick={adding.toggle}
            >
              Add a host
            </Button>
          )}
        </Group>
      </Group>
      {(isAdding || (fleet.data?.hosts.length === 0 && !me.is_limited && !me.is_read_only)) && (
        <AddHost isAdministrator={me.role === "administrator"} />
      )}
      <FleetBody fleet={fleet} view={view} shown={shown} set={set} hasTools />
    </div>
  );
}

interface GroupMenuProps {
  readonly fleet: Fleet | undefined;
  readonly onChoose: (word: string) => void;
}

/** Shows the hosts of a group, or those with a tag. */
function GroupMenu({ fleet, onChoose }: GroupMenuProps) {
  const hosts = fleet?.hosts ?? [];
  const groups = groupsOf(hosts).map(({ name, n }) => ({ word: groupWord(name), label: `${name} (${formatCount(n)})` }));
  const tags = tagsOf(hosts).map(({ name, n }) => ({ word: tagWord(name), label: `${name} (${formatCount(n)})` }));
  const parts = [
    { title: "Groups", items: groups },
    { title: "Tags", items: tags },
  ].filter(({ items }) => items.length > 0);
  if (parts.length === 0) {
    return null;
  }
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<IconFolder size={14} />}>
          {parts
            .map(({ title }) => title)
            .join(" and ")
            .replace("and Tags", "and tags")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: "auto" }}>
        {parts.flatMap(({ title, items }) => [
          ...(parts.length > 1 ? [<Menu.Label key={title}>{title}</Menu.Label>] : []),
          ...items.map(({ word, label }) => (
            <Menu.Item
              key={word}
              onClick={() => {
                onChoose(word);
              }}
            >
              {label}
            </Menu.Item>
          )),
        ])}
      </Menu.Dropdown>
    </Menu>
  );
}
