import { ActionIcon, Button, Group, Progress, Table, Text, Title } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { uploadQueue } from "../../api/uploads";
import { ScrollCard } from "../../components/ScrollCard";
import { formatBytes } from "../../logic/number";
import { percentSent, type Upload } from "../../logic/upload";
import { words } from "../../words";

const SHOWN = 8;

/** The chosen files; each can be removed again. */
export function ChosenFiles({ uploads }: { readonly uploads: readonly Upload[] }) {
  if (uploads.length === 0) {
    return null;
  }
  const shown = uploads.slice(0, SHOWN);
  return (
    <ul className="chosen-files" aria-label={words.imports.uploads.chosenFiles}>
      {shown.map(({ id, name, n_bytes }) => (
        <li key={id}>
          <span className="mono chosen-name" title={name}>
            {name}
          </span>
          <span className="soft">{formatBytes(n_bytes)}</span>
          <ActionIcon
            size="sm"
            aria-label={words.imports.uploads.remove(name)}
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
          <span className="soft">{words.imports.uploads.andMoreFile(uploads.length - SHOWN)}</span>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => {
              for (const { id } of uploads) {
                uploadQueue.remove(id);
              }
            }}
          >
            {words.imports.uploads.removeAll}
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
    <section aria-label={words.imports.uploads.uploading} style={{ marginBottom: 16 }}>
      <Title order={2} mb={6}>
        {words.imports.uploads.uploading}
      </Title>
      <ScrollCard label={words.imports.uploads.uploads}>
        <Table aria-label={words.imports.uploads.uploads}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.common.file}</Table.Th>
              <Table.Th className="number">{words.common.size}</Table.Th>
              <Table.Th>{words.imports.uploads.sent}</Table.Th>
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
            {words.imports.uploads.notSent(problem)}
          </Text>
        ) : state === "queued" ? (
          <span className="soft">{words.imports.uploads.waitingForEarlierFiles}</span>
        ) : (
          <Group gap="sm" wrap="nowrap">
            <Progress
              value={percentSent(upload)}
              aria-label={words.imports.uploads.sending(name)}
              style={{ flex: 1, maxWidth: 260 }}
            />
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
              aria-label={words.imports.uploads.tryAgain(name)}
              onClick={() => {
                uploadQueue.retry(id);
              }}
            >
              {words.imports.uploads.tryAgain2}
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${state === "failed" ? words.imports.uploads.dismiss : words.common.stop}: ${name}`}
            onClick={() => {
              uploadQueue.remove(id);
            }}
          >
            {state === "failed" ? words.imports.uploads.dismiss : words.common.stop}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
