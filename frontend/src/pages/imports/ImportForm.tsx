import { Autocomplete, Button, Collapse, Group, Paper, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostsQuery } from "../../api/queries";
import { type UploadSettings, uploadQueue, useUploads } from "../../api/uploads";
import { EFFECTS } from "../../logic/artefact";
import { hostOfBundle, isBundleName } from "../../logic/bundle";
import { counted } from "../../logic/counted";
import { type ImportOptions, isComplete, NO_OPTIONS, optionProblems, toSettings } from "../../logic/imports";
import { formatBytes } from "../../logic/number";
import { bytesOf, planOf } from "../../logic/upload";
import { parseInstant, type Zone } from "../../logic/zone";
import { listZones, readNow } from "../../state/clock";
import { DropZone } from "../../components/DropZone";
import { nodes } from "../../components/nodes";
import { TimeOptions } from "./TimeOptions";
import { ChosenFiles } from "./Uploads";

interface ImportFormProps {
  readonly host: string;
  readonly zone: Zone;
  readonly onHost: (host: string) => void;
}

/** Choose files of any kind, their host, and what the files do not state themselves. */
export function ImportForm({ host, zone, onHost }: ImportFormProps) {
  const [areOptionsOpen, setOptionsOpen] = useState<boolean | null>(null);
  const hosts = useQuery(hostsQuery).data?.hosts ?? [];
  const chosen = useUploads().filter(({ state }) => state === "chosen");
  const bundle = chosen.find(({ name, look }) => look?.kind === "bundle" || isBundleName(name))?.name ?? null;
  const isZoneKnown = (values: ImportOptions): boolean => values.zone === "" || listZones().includes(values.zone);
  const startZoneOf = (values: ImportOptions): Zone => (values.zone !== "" && isZoneKnown(values) ? values.zone : zone);
  const startOf = (values: ImportOptions) => parseInstant(values.start, startZoneOf(values), readNow());
  const form = useForm<ImportOptions>({
    initialValues: { ...NO_OPTIONS, host },
    validateInputOnChange: true,
    validate: (values) => ({
      ...optionProblems(values, startOf(values)),
      ...(isZoneKnown(values) ? {} : { zone: "unknown time zone; choose one from the list" }),
    }),
    onValuesChange: (values, before) => {
      if (values.host !== before.host) {
        onHost(values.host);
      }
    },
  });
  const { values } = form;
  const lacksTimes = chosen.some(({ look }) => look?.kind === "samples" && look.missing.length > 0);
  const isOpen = areOptionsOpen ?? (lacksTimes || !isComplete(optionProblems({ ...values, host: "x" }, startOf(values))));
  const hasArtefacts = chosen.some((upload) => planOf(upload).isArtefact);
  const load = (): void => {
    const settings: UploadSettings = { ...toSettings(values, startOf(values)), effect: values.effect };
    uploadQueue.start(settings);
  };
  return (
    <Paper className="card" p="md" mb="md">
      <form onSubmit={form.onSubmit(load)} noValidate aria-label="Load files">
        <Stack gap="sm">
          <Autocomplete
            size="xs"
            maw={460}
            label="Host"
            description="host on which the files were recorded; a new host is created if needed"
            placeholder="web1"
            required
            data={hosts.map(({ name }) => name)}
            limit={50}
            {...form.getInputProps("host")}
          />
          <DropZone
            onChoose={(files) => {
              uploadQueue.choose(files);
              const told = files.map(({ name }) => hostOfBundle(name)).find((name) => name !== null) ?? null;
              if (told !== null && values.host.trim() === "") {
                form.setFieldValue("host", told);
              }
            }}
          />
          <ChosenFiles uploads={chosen} />
          <BundleNote name={bundle} host={values.host.trim()} isHere={hosts.some(({ name }) => name === values.host.trim())} />
          <div>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-expanded={isOpen}
              leftSection={isOpen ? <IconChevronDown size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
              onClick={() => {
                setOptionsOpen(!isOpen);
              }}
            >
              Times and tool, for all files that lack them
            </Button>
            <Collapse expanded={isOpen}>
              <div style={{ paddingTop: 8 }}>
                <TimeOptions form={form} startZone={startZoneOf(values)} />
              </div>
            </Collapse>
          </div>
          {hasArtefacts && (
            <Group gap="sm" align="flex-start" role="group" aria-label="About the artefacts">
              <Textarea
                size="xs"
                w={340}
                label="Question"
                description="what was asked: a sentence, or the program's text"
                placeholder="Which lock do the writers wait for?"
                autosize
                minRows={1}
                maxRows={6}
                maxLength={20_000}
                {...form.getInputProps("question")}
              />
              <TextInput
                size="xs"
                w={300}
                label="Command"
                description="names the tool, and how long it watched"
                placeholder="lockstat -kIW sleep 10"
                spellCheck={false}
                maxLength={20_000}
                {...form.getInputProps("command")}
              />
              <Select
                size="xs"
                w={220}
                label="Observer effect"
                description="how much the tool slowed down what it watched"
                placeholder="as known of the tool"
                clearable
                data={[...EFFECTS]}
                {...form.getInputProps("effect")}
              />
            </Group>
          )}
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
