import { Autocomplete, Button, Collapse, Group, Paper, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import type { ImportSettings } from "../../api/imports";
import { hostsQuery, specsQuery } from "../../api/queries";
import { uploadQueue, useUploads } from "../../api/uploads";
import { type ImportOptions, isComplete, NO_OPTIONS, optionProblems } from "../../logic/imports";
import { hostOfBundle, isBundleName } from "../../logic/bundle";
import { formatBytes } from "../../logic/number";
import { toIso } from "../../logic/time";
import { bytesOf } from "../../logic/upload";
import { parseInstant, type Zone } from "../../logic/zone";
import { listZones, readNow } from "../../state/clock";
import { DropZone } from "../../components/DropZone";
import { TimeOptions } from "./TimeOptions";
import { ChosenFiles } from "./Uploads";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

interface ImportFormProps {
  readonly host: string;
  readonly zone: Zone;
  readonly onHost: (host: string) => void;
}

/** Choose files, their host, and what the files do not state themselves. */
export function ImportForm({ host, zone, onHost }: ImportFormProps) {
  const [own, setOwn] = useState<ImportOptions>(NO_OPTIONS);
  const [isTried, setTried] = useState(false);
  const [areOptionsOpen, optionsOpen] = useDisclosure(false);
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const specs = useQuery(specsQuery).data?.specs ?? [];
  const chosen = useUploads().filter(({ state }) => state === "chosen");
  const bundle = chosen.find(({ name }) => isBundleName(name))?.name ?? null;

  const options = { ...own, host };
  const isZoneKnown = own.zone === "" || listZones().includes(own.zone);
  const startZone = own.zone !== "" && isZoneKnown ? own.zone : zone;
  const startAt = parseInstant(own.start, startZone, readNow());
  const all = {
    ...optionProblems(options, startAt),
    ...(isZoneKnown ? {} : { zone: "unknown time zone; choose one from the list" }),
  };
  // Empty fields are not errors before the first attempt to submit.
  const shown = isTried
    ? all
    : Object.fromEntries(Object.entries(all).filter(([key]) => options[key as keyof ImportOptions] !== ""));

  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!isComplete(all)) {
      if (Object.keys(all).some((key) => key !== "host")) {
        optionsOpen.open();
      }
      return;
    }
    const settings: ImportSettings = {
      host: host.trim(),
      ...(own.zone === "" ? {} : { zone: own.zone }),
      ...(own.date === "" ? {} : { date: own.date }),
      ...(startAt === null || own.start.trim() === "" ? {} : { start: toIso(startAt) }),
      ...(own.interval.trim() === "" ? {} : { intervalS: Number(own.interval) }),
      ...(own.spec === "" ? {} : { spec: own.spec }),
      ...(own.title.trim() === "" ? {} : { title: own.title.trim() }),
      ...(own.firstIsReal ? { firstIsReal: true } : {}),
      ...(own.eachHost ? { eachHost: true } : {}),
    };
    uploadQueue.start(settings);
    setTried(false);
  };

  return (
    <Paper className="card" p="md" mb="md">
      <form onSubmit={submit} noValidate aria-label="Load files">
        <Stack gap="sm">
          <Autocomplete
            size="xs"
            w={460}
            label="Host"
            description="host on which the files were recorded; a new host is created if needed"
            placeholder="web1"
            required
            data={hosts.map(({ name }) => name)}
            limit={50}
            value={host}
            error={shown.host}
            onChange={onHost}
          />
          <DropZone
            note={`Tool output as text, or packed as .gz, .bz2, .xz, .zst, .tar or .zip. OSWatcher archives, sosreport, Explorer and GUDS folders, binary sa files and dim_STAT BatchLOAD files work too. Loading a file twice changes nothing. Bundles of another normstat, too.`}
            onChoose={(files) => {
              uploadQueue.choose(files);
              const told = files.map(({ name }) => hostOfBundle(name)).find((name) => name !== null) ?? null;
              if (told !== null && host.trim() === "") {
                onHost(told);
              }
            }}
          />
          <ChosenFiles uploads={chosen} />
          <BundleNote name={bundle} host={host.trim()} isHere={hosts.some(({ name }) => name === host.trim())} />
          <div>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-expanded={areOptionsOpen}
              leftSection={
                areOptionsOpen ? <IconChevronDown size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />
              }
              onClick={optionsOpen.toggle}
            >
              If files lack a date, time zone, tool or question, or hold several hosts
            </Button>
            <Collapse expanded={areOptionsOpen}>
              <div style={{ paddingTop: 8 }}>
                <TimeOptions
                  options={options}
                  problems={shown}
                  specs={specs}
                  startZone={startZone}
                  onChange={(change) => {
                    setOwn({ ...own, ...change });
                  }}
                />
              </div>
            </Collapse>
          </div>
          <Group gap="sm">
            <Button type="submit" disabled={chosen.length === 0}>
              {chosen.length === 0 ? "Load" : `Load ${counted(chosen.length, "file")} (${formatBytes(bytesOf(chosen))})`}
            </Button>
            {chosen.length === 0 && (
              <Text fz="sm" className="soft">
                Choose files first.
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

interface BundleNoteProps {
  readonly name: string | null;
  readonly host: string;
  readonly isHere: boolean;
}

/** What loading a chosen bundle does, and whether it mixes into a host that is here. */
function BundleNote({ name, host, isHere }: BundleNoteProps) {
  if (name === null) {
    return null;
  }
  return (
    <div role="status">
      <Text fz="sm">{nodes`${name} is a bundle of another normstat: its samples, events, baselines, artefacts, experiments and reports become those of ${host === "" ? "the host above" : <b>{host}</b>}.`}</Text>
      {isHere && (
        <Text fz="sm" c="var(--bad)">
          {nodes`There is a host ${<b>{host}</b>} here already. The bundle is mixed into it; to keep them apart, enter another name above.`}
        </Text>
      )}
    </div>
  );
}
