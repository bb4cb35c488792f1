import { ActionIcon, Button, Group, Menu } from "@mantine/core";
import { IconDeviceFloppy, IconDots, IconEdit } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { comparisonParams, reportAddress } from "../../api/comparison";
import { AddToReportDialog } from "../../components/AddToReport";
import { CopyLink } from "../../components/CopyLink";
import { mayWrite, useMe } from "../../components/me";
import { ShareButton } from "../../components/ShareButton";
import type { ComparisonInputs } from "../../logic/against";
import type { NoteContent } from "../../logic/api";
import { surroundings } from "../../logic/range";
import { DEFAULT_INCIDENTS_VIEW, encodeIncidentsView } from "../../state/incidents";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";

interface ComparisonActionsProps {
  /** Null: a saved comparison whose baseline is gone. */
  readonly inputs: ComparisonInputs | null;
  /** The inputs of a new comparison, or the id of a saved one. */
  readonly of: ComparisonInputs | number;
  readonly clock: Clock;
  /** Saves a new comparison, or changes the name and note of a saved one. */
  readonly onSave: () => void;
  /** Null for a saved comparison. */
  readonly onChoose: (() => void) | null;
  /** Null for a new comparison. */
  readonly onAgain: (() => void) | null;
}

/** Save and share; everything else is in the menu. */
export function ComparisonActions({ inputs, of, clock, onSave, onChoose, onAgain }: ComparisonActionsProps) {
  const [isAdding, setAdding] = useState(false);
  const isWriter = mayWrite(useMe());
  const isSaved = typeof of === "number";
  const [host] = inputs?.hosts ?? [];
  return (
    <Group gap={6} wrap="nowrap" className="no-print">
      {isWriter && (
        <Button
          variant="default"
          leftSection={isSaved ? <IconEdit size={14} aria-hidden /> : <IconDeviceFloppy size={14} aria-hidden />}
          onClick={onSave}
        >
          {isSaved ? "Name and note…" : "Save…"}
        </Button>
      )}
      {isSaved && isWriter && <ShareButton of={{ comparison: of }} />}
      <CopyLink />
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More actions">
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {host !== undefined && inputs && (
            <Menu.Item
              renderRoot={(props: object) => (
                <Link
                  {...props}
                  to="/hosts/$host"
                  params={{ host }}
                  search={encodeHostView({
                    ...DEFAULT_HOST_VIEW,
                    clock,
                    range: { kind: "fixed", window: surroundings(inputs.incident, 0.2) },
                    mark: inputs.incident,
                  })}
                />
              )}
            >
              Show on graphs
            </Menu.Item>
          )}
          {onChoose && <Menu.Item onClick={onChoose}>Change comparison…</Menu.Item>}
          {onAgain && <Menu.Item onClick={onAgain}>Compare again</Menu.Item>}
          <Menu.Item
            renderRoot={(props: object) => (
              <Link
                {...props}
                to="/incidents"
                search={encodeIncidentsView({ ...DEFAULT_INCIDENTS_VIEW, clock, show: "comparison" })}
              />
            )}
          >
            Open saved…
          </Menu.Item>
          <Menu.Divider />
          {isWriter && (
            <Menu.Item
              onClick={() => {
                setAdding(true);
              }}
            >
              Add to report…
            </Menu.Item>
          )}
          <Menu.Item component="a" href={reportAddress("html", of)} target="_blank" rel="noreferrer">
            Report
          </Menu.Item>
          <Menu.Item component="a" href={reportAddress("pdf", of)} target="_blank" rel="noreferrer">
            PDF
          </Menu.Item>
          <Menu.Item component="a" href={reportAddress("csv", of)} download>
            CSV
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAdding && (
        <AddToReportDialog
          note={noteOf(of)}
          onClose={() => {
            setAdding(false);
          }}
        />
      )}
    </Group>
  );
}

function noteOf(of: ComparisonInputs | number): NoteContent {
  const common = { kind: "comparison", title: "", comment: "" } as const;
  return typeof of === "number"
    ? { ...common, comparison: of, inputs: null }
    : { ...common, comparison: null, inputs: { ...comparisonParams(of) } };
}
