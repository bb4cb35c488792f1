import {
  ActionIcon,
  Alert,
  Autocomplete,
  Button,
  Group,
  Modal,
  Progress,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ARTEFACT_KEYS, createArtefact } from "../../api/artefacts";
import { hostsQuery, specsQuery } from "../../api/queries";
import type { ChosenFile } from "../../api/uploads";
import { DropZone } from "../../components/DropZone";
import { PageLink } from "../../components/PageLink";
import type { Artefact } from "../../logic/api";
import { type ArtefactEffect, EFFECTS } from "../../logic/artefact";
import { formatBytes, formatCount } from "../../logic/number";
import { sentPercent } from "../../logic/upload";
import { parseInstant, type Zone, zoneLabel } from "../../logic/zone";
import { DEFAULT_ARTEFACT_VIEW, encodeArtefactView } from "../../state/artefacts";
import { readNow } from "../../state/clock";
import type { Clock } from "../../state/zone_choice";
import { counted } from "../../logic/counted";

interface UploadDialogProps {
  readonly zone: Zone;
  readonly clock: Clock;
  /** The host that is filled in; "" for none. */
  readonly host: string;
  readonly onClose: () => void;
}

type Outcome =
  | { readonly kind: "waiting" }
  | { readonly kind: "sending"; readonly n_sent: number }
  | { readonly kind: "kept"; readonly artefact: Artefact }
  | { readonly kind: "failed"; readonly problem: string };

interface Sent {
  readonly file: ChosenFile;
  readonly outcome: Outcome;
}

/** Keeps files as artefacts of a host: what was asked, when and how, and the files one after another. */
export function UploadDialog({ zone, clock, host: known, onClose }: UploadDialogProps) {
  const client = useQueryClient();
  const hosts = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const specs = useQuery(specsQuery).data?.specs.map(({ name }) => name) ?? [];
  const [files, setFiles] = useState<readonly Sent[]>([]);
  const [host, setHost] = useState(known);
  const [title, setTitle] = useState("");
  const [question, setQuestion] = useState("");
  const [command, setCommand] = useState("");
  const [at, setAt] = useState("");
  const [spec, setSpec] = useState<string | null>(null);
  const [effect, setEffect] = useState<ArtefactEffect | null>(null);
  const [isSending, setSending] = useState(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      abort.current?.abort();
    },
    [],
  );
  const start = at.trim() === "" ? null : parseInstant(at, zone, readNow());
  const problem =
    at.trim() !== "" && start === null ? `“${at}” is no time. Type for example 2026-11-21 09:05, 09:05 or now-7d` : null;
  const left = files.filter(({ outcome }) => outcome.kind === "waiting" || outcome.kind === "failed");
  const isReady = left.length > 0 && host.trim() !== "" && problem === null && !isSending;

  const settle = (file: ChosenFile, outcome: Outcome): void => {
    setFiles((all) => all.map((each) => (each.file === file ? { file, outcome } : each)));
  };
  const send = async (): Promise<void> => {
    const stop = new AbortController();
    abort.current = stop;
    setSending(true);
    const settings = { host: host.trim(), title, question, command, start, end: null, spec, effect };
    for (const { file } of left) {
      if (stop.signal.aborted) {
        break;
      }
      settle(file, { kind: "sending", n_sent: 0 });
      try {
        const artefact = await createArtefact(
          settings,
          file,
          (n_sent) => {
            settle(file, { kind: "sending", n_sent });
          },
          stop.signal,
        );
        settle(file, { kind: "kept", artefact });
      } catch (error) {
        settle(file, { kind: "failed", problem: error instanceof Error ? error.message : String(error) });
      }
    }
    setSending(false);
    await Promise.all(ARTEFACT_KEYS.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  return (
    <Modal opened onClose={onClose} title="Keep the output of a tool" size="xl">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) {
            void send();
          }
        }}
      >
        <Stack gap="sm">
          <DropZone
            note="Output of lockstat, plockstat, dtrace, bpftrace, perf, strace, iozone and others, one artefact per file, up to 256 MiB"
            onChoose={(chosen) => {
              setFiles([...files, ...chosen.map((file) => ({ file, outcome: { kind: "waiting" } as const }))]);
            }}
          />
          {files.length > 0 && (
            <ul className="artefact-files" aria-label="Chosen files">
              {files.map(({ file, outcome }, row) => (
                <li key={`${file.name} ${String(row)}`}>
                  <span className="mono artefact-file-name">{file.name}</span>
                  <span className="soft">{formatBytes(file.file.size)}</span>
                  <FileOutcome outcome={outcome} size={file.file.size} clock={clock} />
                  {outcome.kind !== "sending" && outcome.kind !== "kept" && (
                    <ActionIcon
                      size="sm"
                      aria-label={`Remove ${file.name}`}
                      onClick={() => {
                        setFiles(files.filter((each) => each.file !== file));
                      }}
                    >
                      <IconX size={14} />
                    </ActionIcon>
                  )}
                </li>
              ))}
            </ul>
          )}
          <Group grow align="flex-start" gap="sm">
            <Autocomplete
              label="Host"
              description="A new host is created if needed"
              required
              limit={50}
              maxLength={100}
              data={hosts}
              value={host}
              onChange={setHost}
            />
            <TextInput
              label={`Started at (${zoneLabel(zone, readNow())})`}
              description="Empty: the first time in the text, else now"
              placeholder="2026-11-22 03:12:00"
              spellCheck={false}
              error={problem}
              value={at}
              onChange={(event) => {
                setAt(event.currentTarget.value);
              }}
            />
          </Group>
          <Textarea
            label="Question"
            description="What was asked: a sentence, or the program's text"
            placeholder="Which lock do the writers wait for?"
            autosize
            minRows={1}
            maxRows={6}
            maxLength={20_000}
            value={question}
            onChange={(event) => {
              setQuestion(event.currentTarget.value);
            }}
          />
          <Group grow align="flex-start" gap="sm">
            <TextInput
              label="Command"
              description="Tells the tool and how long it watched"
              placeholder="lockstat -kIW sleep 10"
              className="mono"
              spellCheck={false}
              maxLength={20_000}
              value={command}
              onChange={(event) => {
                setCommand(event.currentTarget.value);
              }}
            />
            <TextInput
              label="Title"
              description="Optional; a name for lists and reports"
              maxLength={300}
              value={title}
              onChange={(event) => {
                setTitle(event.currentTarget.value);
              }}
            />
          </Group>
          <Group grow align="flex-start" gap="sm">
            <Select
              label="Observer effect"
              description="How much the tool slowed down what it watched"
              placeholder="as known of the tool"
              clearable
              data={[...EFFECTS]}
              value={effect}
              onChange={(value) => {
                setEffect(EFFECTS.find((each) => each === value) ?? null);
              }}
            />
            <Select
              label="Spec"
              description="Only if the wrong tool is recognised"
              placeholder="the one that fits best"
              clearable
              searchable
              limit={100}
              data={specs}
              value={spec}
              onChange={setSpec}
            />
          </Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {files.some(({ outcome }) => outcome.kind === "kept") ? "Close" : "Cancel"}
            </Button>
            <Button type="submit" disabled={!isReady} loading={isSending}>
              {left.length === 1 ? "Keep 1 file" : `Keep ${String(left.length)} files`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface FileOutcomeProps {
  readonly outcome: Outcome;
  readonly size: number;
  readonly clock: Clock;
}

function FileOutcome({ outcome, size, clock }: FileOutcomeProps) {
  switch (outcome.kind) {
    case "waiting":
      return <span className="soft">waiting</span>;
    case "sending":
      return <Progress value={sentPercent(outcome.n_sent, size)} aria-label="sending" w={160} />;
    case "failed":
      return (
        <Text fz="sm" c="var(--bad)" role="alert">
          {outcome.problem}
        </Text>
      );
    case "kept": {
      const { id, tool, parts, n_rejected } = outcome.artefact;
      return (
        <Text fz="sm" component="div">
          <PageLink
            fz="inherit"
            to="/artefacts/$artefact"
            params={{ artefact: String(id) }}
            search={encodeArtefactView({ ...DEFAULT_ARTEFACT_VIEW, clock })}
          >
            {`Artefact ${String(id)}`}
          </PageLink>{" "}
          {parts.length === 0 ? "kept as text: no reader knows it" : `${tool}, ${counted(parts.length, "part")}`}
          {n_rejected > 0 && (
            <Alert color="yellow" p={4} mt={4}>
              {`${formatCount(n_rejected)} lines could not be read; the artefact's page lists them with their reasons`}
            </Alert>
          )}
        </Text>
      );
    }
  }
}
