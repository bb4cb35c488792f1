import { ActionIcon, Button, Group, Progress, Table, Text, Title } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { uploadQueue } from "../../api/uploads";
import { ScrollCard } from "../../components/ScrollCard";
import { formatBytes } from "../../logic/number";
import { percentSent, type Upload } from "../../logic/upload";
import { counted } from "../../logic/counted";

const SHOWN = 8;

/** The chosen files; each can be removed again. */
export function ChosenFiles({ uploads }: { readonly uploads: readonly Upload[] }) {
  if (uploads.length === 0) {
    return null;
  }
  const shown = uploads.slice(0, SHOWN);
  return (
    <ul className="chosen-files" aria-label="Chosen files">
      {shown.map(({ id, name, n_bytes }) => (
        <li key={id}>
          <span className="mono chosen-name" title={name}>
            {name}
          </span>
          <span className="soft">{formatBytes(n_bytes)}</span>
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

/** Files that are being uploaded, and failed uploads. */
export function Uploads({ uploads }: { readonly uploads: readonly Upload[] }) {
  const shown = uploads.filter(({ state }) => state === "sending" || state === "queued" || state === "failed");
  if (shown.length === 0) {
    return null;
  }
  return (
    <section aria-label="Uploading" style={{ marginBottom: 16 }}>
      <Title order={2} mb={6}>
        Uploading
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
  const { id, name, n_bytes, state, problem } = upload;
  return (
    <Table.Tr>
      <Table.Td className="mono">{name}</Table.Td>
      <Table.Td className="number">{formatBytes(n_bytes)}</Table.Td>
      <Table.Td w="45%">
        {state === "failed" ? (
          <Text fz="sm" c="var(--bad)" role="alert">
            {`Not sent: ${problem}`}
          </Text>
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
            aria-label={`${state === "failed" ? "Dismiss" : "Stop"}: ${name}`}
            onClick={() => {
              uploadQueue.remove(id);
            }}
          >
            {state === "failed" ? "Dismiss" : "Stop"}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
