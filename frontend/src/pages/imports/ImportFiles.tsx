import { Button, Group, List, Table, Text } from "@mantine/core";
import { useState } from "react";
import { PageButton, PageLink } from "../../components/PageLink";
import { mayWrite, useMe } from "../../components/me";
import { StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { Import, ImportedFile } from "../../logic/api";
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
import { RetryForm } from "./RetryForm";
import { words } from "../../words";

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
      <StateView isCompact state={{ kind: "loading", what: words.imports.importFiles.theFirstFile }} />
    ) : (
      <StateView
        isCompact
        state={{
          kind: "empty",
          title: item.message === "" ? words.imports.importFiles.noFileWasRead : item.message,
          next: words.imports.importFiles.checkFileCompleteOutput,
        }}
      />
    );
  }
  const { read, unread } = partFiles(item.files);
  const window = sampleWindow(item.files);
  return (
    <>
      {read.length > 0 && (
        <Table aria-label={words.imports.importFiles.filesOf(item.name)} verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.common.file}</Table.Th>
              <Table.Th>{words.imports.importFiles.specAndStats}</Table.Th>
              <Table.Th className="number">{words.imports.importFiles.reports}</Table.Th>
              <Table.Th>{words.common.samples}</Table.Th>
              <Table.Th>{words.common.rejectedLines}</Table.Th>
              <Table.Th>{words.imports.importFiles.fromTo}</Table.Th>
              <Table.Th>{words.common.note}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {read.slice(0, limit).map((file) => (
              <FileRow key={`${file.path} ${file.spec ?? ""}`} host={item.host} file={file} clock={clock} />
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
          {words.imports.importFiles.showAllFiles(formatCount(read.length))}
        </Button>
      )}
      {unread.map((group) => (
        <Unread key={group.note} group={group} isOpenAtFirst={read.length === 0} />
      ))}
      {item.n_files > item.files.length && (
        <Text fz="sm" className="soft" mt="xs">
          {words.imports.importFiles.moreFile(
            item.n_files - item.files.length,
            isActive(item) ? words.imports.importFiles.toCome : words.imports.importFiles.notListed,
          )}
        </Text>
      )}
      {item.files
        .filter(({ missing }) => missing.length > 0 && item.can_retry && mayWrite(me))
        .slice(0, limit)
        .map((file) => (
          <RetryForm key={file.position} item={item} file={file} zone={zone} />
        ))}
      {lacksOptions(item.files) && !item.can_retry && !item.is_undo && (
        <Text fz="sm" mt="sm">
          {words.imports.importFiles.chooseIncompleteFilesAgain(<i>{words.imports.importFiles.ifFilesLackDate}</i>)}
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
          {words.imports.importFiles.showPage(item.host)}
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
          aria-label={isOpen ? words.imports.importFiles.hideFilesNote(note) : words.imports.importFiles.showFilesNote(note)}
          style={{ flex: "none" }}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? words.imports.importFiles.hideFiles : words.imports.importFiles.showFiles}
        </Button>
        <Text fz="sm">
          <b>{words.imports.importFiles.fileNotRead(paths.length)}</b> {note}
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
          {words.imports.importFiles.showAll(formatCount(paths.length))}
        </Button>
      )}
    </div>
  );
}

interface FileRowProps {
  readonly host: string;
  readonly file: ImportedFile;
  readonly clock: Clock;
}

function FileRow({ host, file, clock }: FileRowProps) {
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
            {words.imports.importFiles.lineSinceBootNot(file.n_since_boot)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <RejectedReasons file={file} />
      </Table.Td>
      <Table.Td>
        {window === null ? (
          <span className="soft">{words.common.none}</span>
        ) : (
          <HostWindowLink host={host} window={window} clock={clock} />
        )}
      </Table.Td>
      <Table.Td maw={360}>
        {inPageWords(file.note)}
        {file.artefact !== null && file.artefact !== undefined && (
          <PageLink fz="sm" display="block" to="/artefacts/$artefact" params={{ artefact: String(file.artefact) }}>
            {words.imports.importFiles.showArtefact}
          </PageLink>
        )}
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
        aria-label={words.imports.importFiles.rejectedLineOfWhy(file.n_rejected, file.path)}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        {words.imports.importFiles.nRejectedLine(file.n_rejected)}
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
