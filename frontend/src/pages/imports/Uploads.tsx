import { ActionIcon, Button, Checkbox, Group, Progress, Table, Text, Title } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { uploadQueue } from "../../api/uploads";
import { ScrollCard } from "../../components/ScrollCard";
import { PageLink } from "../../components/PageLink";
import { counted } from "../../logic/counted";
import { describeMissing } from "../../logic/import_retry";
import { formatBytes } from "../../logic/number";
import { describeLook, percentSent, type Upload, type UploadResult } from "../../logic/upload";

const SHOWN = 8;

/** The chosen files; each can be removed again. */
export function ChosenFiles({ uploads }: { readonly uploads: readonly Upload[] }) {
  if (uploads.length === 0) {
    return null;
  }
  const shown = uploads.slice(0, SHOWN);
  return (
    <ul className="chosen-files" aria-label="Chosen files">
      {shown.map((upload) => (
        <ChosenFile key={upload.id} upload={upload} />
      ))}
      {uploads.length > SHOWN && (
        <li>
          <span className="soft">{`and ${counted(uploads.length - SHOWN, "more file")}`}</span>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => {
              for (const { id } of uploads) {
                uploadQueue.remove(id);
              }
            }}
          >
            Remove all
          </Button>
        </li>
      )}
    </ul>
  );
}

/** A chosen file: what it is, and what it lacks. */
function ChosenFile({ upload }: { readonly upload: Upload }) {
  const { id, name, n_bytes, look, keepsText } = upload;
  // An artefact without a time has that of its file.
  const missing = look?.kind === "samples" ? look.missing : [];
  return (
    <li>
      <span className="mono chosen-name" title={name}>
        {name}
      </span>
      <span className="soft">{formatBytes(n_bytes)}</span>
      <span>
        {describeLook(upload)}
        {missing.length > 0 && <span className="soft">{`; lacks ${describeMissing(missing)}`}</span>}
      </span>
      <span>
        {look?.kind === "unknown" && (
          <Checkbox
            size="xs"
            label="Keep its text as an artefact"
            aria-label={`Keep the text of ${name} as an artefact`}
            checked={keepsText}
            onChange={(event) => {
              uploadQueue.keepText(id, event.currentTarget.checked);
            }}
          />
        )}
      </span>
      <ActionIcon
        size="sm"
        aria-label={`Remove ${name}`}
        onClick={() => {
          uploadQueue.remove(id);
        }}
      >
        <IconX size={14} />
      </ActionIcon>
    </li>
  );
}

/** Files that are being uploaded, failed uploads, and what became an artefact or a spec. */
export function Uploads({ uploads }: { readonly uploads: readonly Upload[] }) {
  const shown = uploads.filter(
    ({ state, result }) =>
      state === "sending" || state === "queued" || state === "failed" || result?.artefactId != null || result?.spec != null,
  );
  if (shown.length === 0) {
    return null;
  }
  return (
    <section aria-label="Uploads" style={{ marginBottom: 16 }}>
      <Title order={2} mb={6}>
        Uploads
      </Title>
      <ScrollCard label="Uploads">
        <Table aria-label="Uploads">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>File</Table.Th>
              <Table.Th className="number">Size</Table.Th>
              <Table.Th>Sent</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </section>
  );
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, name, n_bytes, state, problem, result } = upload;
  const isOver = state === "failed" || state === "sent";
  return (
    <Table.Tr>
      <Table.Td className="mono">{name}</Table.Td>
      <Table.Td className="number">{formatBytes(n_bytes)}</Table.Td>
      <Table.Td w="45%">
        {state === "failed" ? (
          <Text fz="sm" c="var(--bad)" role="alert">
            {`Not sent: ${problem}`}
          </Text>
        ) : result !== null ? (
          <Became result={result} />
        ) : state === "queued" ? (
          <span className="soft">waiting for earlier files</span>
        ) : (
          <Group gap="sm" wrap="nowrap">
            <Progress value={percentSent(upload)} aria-label={`Sending ${name}`} style={{ flex: 1, maxWidth: 260 }} />
            <Text fz="sm">{percentSent(upload)} %</Text>
          </Group>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap={6} justify="flex-end" wrap="nowrap">
          {state === "failed" && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Try again: ${name}`}
              onClick={() => {
                uploadQueue.retry(id);
              }}
            >
              Try again
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${isOver ? "Dismiss" : "Stop"}: ${name}`}
            onClick={() => {
              uploadQueue.remove(id);
            }}
          >
            {isOver ? "Dismiss" : "Stop"}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** Links to what a sent file became; an import is in the list below. */
function Became({ result: { artefactId, spec } }: { readonly result: UploadResult }) {
  return (
    <Group gap="sm">
      {artefactId !== null && (
        <PageLink fz="sm" to="/artefacts/$artefact" params={{ artefact: String(artefactId) }}>
          {`Artefact ${String(artefactId)}`}
        </PageLink>
      )}
      {spec !== null && (
        <PageLink fz="sm" to="/specs/$spec" params={{ spec }}>
          {`Spec ${spec}`}
        </PageLink>
      )}
    </Group>
  );
}
