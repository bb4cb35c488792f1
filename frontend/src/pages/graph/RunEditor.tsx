import { ActionIcon, Button, Group, Select, Text, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import type { HostRun } from "../../logic/host_lines";
import { formatDuration, parseDuration } from "../../logic/time";
import { formatInstant, parseInstant, type Zone, zoneLabel } from "../../logic/zone";
import { readNow } from "../../state/clock";
import type { GraphView } from "../../state/graph";

interface RunEditorProps {
  readonly view: GraphView;
  readonly hosts: readonly string[];
  readonly zone: Zone;
  readonly onChange: (change: Partial<GraphView>) => void;
}

/** The runs that are beside each other: each a host and a start. They have one length. */
export function RunEditor({ view, hosts, zone, onChange }: RunEditorProps) {
  const { runs, length } = view;
  const change = (index: number, run: HostRun): void => {
    onChange({ runs: runs.map((before, at) => (at === index ? run : before)) });
  };
  return (
    <fieldset className="graph-runs">
      <legend>Runs, aligned at their starts</legend>
      {runs.map((run, index) => (
        <Group key={`${String(index)} ${run.host} ${String(run.start)}`} gap={6} align="flex-end">
          <Select
            size="xs"
            w={190}
            label={`Host of run ${String(index + 1)}`}
            searchable
            allowDeselect={false}
            data={[...new Set([...hosts, run.host])]}
            value={run.host}
            onChange={(host) => {
              if (host !== null) {
                change(index, { ...run, host });
              }
            }}
          />
          <TypedText
            label={`Start of run ${String(index + 1)} (${zoneLabel(zone, run.start)})`}
            text={formatInstant(zone, run.start)}
            trouble="write 2026-11-21 09:05:00 or now-2h"
            onType={(text) => {
              const start = parseInstant(text, zone, readNow());
              if (start !== null) {
                change(index, { ...run, start });
              }
              return start !== null;
            }}
          />
          {runs.length > 1 && (
            <ActionIcon
              aria-label={`Remove run ${String(index + 1)}`}
              size={30}
              onClick={() => {
                onChange({ runs: runs.filter((_, at) => at !== index) });
              }}
            >
              <IconX size={15} />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group gap={6} align="flex-end" mt={6}>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            const last = runs.at(-1);
            if (last !== undefined) {
              onChange({ runs: [...runs, { ...last, start: (last.start - length) as HostRun["start"] }] });
            }
          }}
        >
          Add a run
        </Button>
        <TypedText
          label="Length of the runs"
          text={formatDuration(length)}
          trouble="write 90s, 15m, 1h30m or 2d"
          onType={(text) => {
            const typed = parseDuration(text.replaceAll(" ", ""));
            if (typed !== null) {
              onChange({ length: typed });
            }
            return typed !== null;
          }}
        />
        <Text fz="xs" className="soft">
          {"The same host may have several runs, such as yesterday's and today's."}
        </Text>
      </Group>
    </fieldset>
  );
}

interface TypedTextProps {
  readonly label: string;
  readonly text: string;
  readonly trouble: string;
  /** Returns whether the text can be read. */
  readonly onType: (text: string) => boolean;
}

/** An input that takes effect with Enter or when it is left. */
function TypedText({ label, text, trouble, onType }: TypedTextProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [isBad, setBad] = useState(false);
  const [shownText, setShownText] = useState(text);
  if (text !== shownText) {
    setShownText(text);
    setTyped(null);
  }
  const apply = (): void => {
    if (typed !== null && typed !== text) {
      setBad(!onType(typed));
    }
  };
  return (
    <TextInput
      size="xs"
      w={190}
      label={label}
      value={typed ?? text}
      error={isBad ? trouble : null}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        setBad(false);
      }}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          apply();
        }
      }}
    />
  );
}
