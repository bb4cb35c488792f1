import { Select, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { formatOverlay, type Overlay, overlayName, parseOverlay } from "../../logic/overlay";

interface OverlayMenuProps {
  readonly host: string;
  readonly overlay: Overlay | null;
  readonly onChange: (overlay: Overlay | null) => void;
}

/** Chooses what is drawn dashed behind every graph: the same time yesterday or last week, or another host. */
export function OverlayMenu({ host, overlay, onChange }: OverlayMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const hosts = useQuery({ ...hostsQuery, enabled: isOpen }).data?.hosts ?? [];
  const others = [...new Set([...hosts.map(({ name }) => name), ...(overlay?.kind === "host" ? [overlay.host] : [])])];
  return (
    <Tooltip label="Draw the same time of yesterday or last week, or another host, dashed behind every graph">
      <Select
        size="xs"
        w={130}
        aria-label="Overlay"
        placeholder="No overlay"
        clearable
        searchable
        onDropdownOpen={() => {
          setOpen(true);
        }}
        onDropdownClose={() => {
          setOpen(false);
        }}
        data={[
          { group: "This host", items: ["yesterday", "week"].flatMap(optionOf) },
          { group: "Another host", items: others.filter((name) => name !== host).flatMap((name) => optionOf(`host:${name}`)) },
        ]}
        value={overlay === null ? null : formatOverlay(overlay)}
        onChange={(value) => {
          onChange(value === null ? null : parseOverlay(value));
        }}
      />
    </Tooltip>
  );
}

function optionOf(value: string) {
  const overlay = parseOverlay(value);
  return overlay === null ? [] : [{ value, label: `Overlay: ${overlayName(overlay)}` }];
}
