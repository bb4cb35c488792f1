import { Button, Group, List, Table, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { PageButton, PageLink } from "../../components/PageLink";
import { mayWrite, useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { Import, ImportedFile } from "../../logic/api";
import { lackingFiles } from "../../logic/import_retry";
import {
  describeSamples,
  inPageWords,
  lacksOptions,
  partFiles,
  sampleWindow,
  sortReasons,
  type UnreadGroup,
  windowToShow,
} from "../../logic/imports";
import { isActive } from "../../logic/job";
import { formatCount } from "../../logic/number";
import { type Clock, DEFAULT_HOST_VIEW, encodeHostView } from "../../state/url";
import { HostWindowLink } from "./HostWindowLink";
import { CompleteForm } from "./CompleteForm";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

const FIRST_SHOWN = 100;

interface ImportFilesProps {
  readonly item: Import;
  readonly clock: Clock;
}

/** The result for each file of an import. */
export function ImportFiles({ item, clock }: ImportFilesProps) {
  const zone = useZone(clock);
  const me = useMe();
  const [limit, setLimit] = useState(FIRST_SHOWN);
  if (item.files.length === 0) {
    return isActive(item) ? (
      <StateView isCompact state={{ kind: "loading", what: "the first file" }} />
    ) : (
      <StateView
        isCompact
        state={{
          kind: "empty",
          title: item.message === "" ? "No file was read" : item.message,
          next: "Check that the file is complete and is output of a tool listed on the Specs page; then load it again.",
        }}
      />
    );
  }
  const { read, unread } = partFiles(item.files);
  const window = sampleWindow(item.files);
  const lacking = mayWrite(me) ? lackingFiles([item]) : [];
  return (
    <>
      {lacking.length > 1 && <CompleteForm files={lacking} zone={zone} />}
      {read.length > 0 && (
        <Table aria-label={`Files of ${item.name}`} verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>File</Table.Th>
              <Table.Th>Spec and stats</Table.Th>
              <Table.Th className="number">Reports</Table.Th>
              <Table.Th>Samples</Table.Th>
              <Table.Th>Rejected lines</Table.Th>
              <Table.Th>From – to</Table.Th>
              <Table.Th>Note</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {read.slice(0, limit).map((file) => (
              <FileRow key={`${file.path} ${file.spec ?? ""}`} host={item.host} file={file} clock={clock}>
                {lacking.length > 1 && lacking.some((each) => each.file === file) && (
                  <CompleteForm files={[{ item, file }]} zone={zone} />
                )}
              </FileRow>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {read.length > limit && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          onClick={() => {
            setLimit(read.length);
          }}
        >
          {`Show all ${formatCount(read.length)} files`}
        </Button>
      )}
      {unread.map((group) => (
        <Unread key={group.note} group={group} isOpenAtFirst={read.length === 0} />
      ))}
      {item.n_files > item.files.length && (
        <Text fz="sm" className="soft" mt="xs">
          {`${counted(item.n_files - item.files.length, "more file")} ${isActive(item) ? "to come" : "not listed"}.`}
        </Text>
      )}
      {lacksOptions(item.files) && !item.can_retry && !item.is_undo && (
        <Text fz="sm" mt="sm">
          {nodes`Choose the incomplete files again, open ${<i>Times and tool, for all files that lack them</i>} above, fill in what is missing, and load them again. Samples that are already stored are not added twice.`}
        </Text>
      )}
      {window !== null && (
        <PageButton
          mt="sm"
          variant="light"
          to="/hosts/$host"
          params={{ host: item.host }}
          search={encodeHostView({ ...DEFAULT_HOST_VIEW, clock, range: { kind: "fixed", window: windowToShow(window) } })}
        >
          {`Show on the page of ${item.host}`}
        </PageButton>
      )}
    </>
  );
}

const FIRST_PATHS = 20;

/** Files that were not read for the same reason; most archives have many, so the list is closed at first. */
function Unread({ group, isOpenAtFirst }: { readonly group: UnreadGroup; readonly isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const [limit, setLimit] = useState(FIRST_PATHS);
  const { note, paths } = group;
  return (
    <div className="unread">
      <Group gap="sm" wrap="nowrap" align="baseline">
        <Button
          size="compact-xs"
          variant="default"
          aria-expanded={isOpen}
          aria-label={isOpen ? `Hide files: ${note}` : `Show files: ${note}`}
          style={{ flex: "none" }}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? "Hide files" : "Show files"}
        </Button>
        <Text fz="sm">
          <b>{`${counted(paths.length, "file")} not read:`}</b> {note}
        </Text>
      </Group>
      {isOpen && (
        <List size="sm" mt={4} spacing={0} className="mono">
          {paths.slice(0, limit).map((path) => (
            <List.Item key={path} className="raw-name">
              {path}
            </List.Item>
          ))}
        </List>
      )}
      {isOpen && paths.length > limit && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            setLimit(paths.length);
          }}
        >
          {`Show all ${formatCount(paths.length)}`}
        </Button>
      )}
    </div>
  );
}

interface FileRowProps {
  readonly host: string;
  readonly file: ImportedFile;
  readonly clock: Clock;
  /** Beside the note: what the file lacks. */
  readonly children: ReactNode;
}

function FileRow({ host, file, clock, children }: FileRowProps) {
  const window = sampleWindow([file]);
  return (
    <Table.Tr>
      <Table.Td className="mono raw-name">{file.path}</Table.Td>
      <Table.Td>
        <b>{file.spec}</b>
        <Text fz="xs" className="soft mono">
          {file.stats.filter((stat) => stat !== file.spec).join(", ")}
        </Text>
      </Table.Td>
      <Table.Td className="number">{formatCount(file.n_reports)}</Table.Td>
      <Table.Td>
        {describeSamples(file.n_samples, file.n_samples_new)}
        {file.n_since_boot > 0 && (
          <Text fz="xs" className="soft">
            {`${counted(file.n_since_boot, "line")} since boot, not loaded`}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <RejectedReasons file={file} />
      </Table.Td>
      <Table.Td>
        {window === null ? <span className="soft">none</span> : <HostWindowLink host={host} window={window} clock={clock} />}
      </Table.Td>
      <Table.Td maw={360}>
        {inPageWords(file.note)}
        {file.artefact !== null && file.artefact !== undefined && (
          <PageLink fz="sm" display="block" to="/artefacts/$artefact" params={{ artefact: String(file.artefact) }}>
            Show the artefact
          </PageLink>
        )}
        {children}
      </Table.Td>
    </Table.Tr>
  );
}

function RejectedReasons({ file }: { readonly file: ImportedFile }) {
  const [isOpen, setOpen] = useState(false);
  if (file.n_rejected === 0) {
    return "0";
  }
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        c="var(--bad)"
        aria-expanded={isOpen}
        aria-label={`${counted(file.n_rejected, "rejected line")} of ${file.path}: why`}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        {counted(file.n_rejected, "rejected line")}
      </Button>
      {isOpen && (
        <List size="sm" mt={4} spacing={2}>
          {sortReasons(file.reasons).map(({ reason, n }) => (
            <List.Item key={reason} className="raw-name">
              <b>{formatCount(n)}</b> {inPageWords(reason)}
            </List.Item>
          ))}
        </List>
      )}
    </>
  );
}
