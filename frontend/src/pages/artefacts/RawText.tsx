import { Button, Group, Text, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { artefactRawAddress, artefactTextQuery } from "../../api/artefacts";
import { PendingView } from "../../components/StateView";
import type { Artefact } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { previousPage } from "../../logic/text_page";
import { counted } from "../../logic/counted";

interface RawTextProps {
  readonly artefact: Artefact;
  /** The byte from which the text is shown; null while it is folded. */
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
}

/** The text as the tool printed it, a page at a time. */
export function RawText({ artefact, at, onAt }: RawTextProps) {
  return (
    <section className="card artefact-part" aria-label="Raw text">
      <Group justify="space-between">
        <div>
          <Title order={2}>Raw text</Title>
          <Text fz="sm" className="soft">
            {`${counted(artefact.n_lines, "line")}, ${formatBytes(artefact.n_bytes)}, as the tool printed it`}
          </Text>
        </div>
        <Group gap="xs">
          <Button
            variant="default"
            aria-expanded={at !== null}
            onClick={() => {
              onAt(at === null ? 0 : null);
            }}
          >
            {at === null ? "Show" : "Hide"}
          </Button>
          <Button
            component="a"
            href={artefactRawAddress(artefact.id)}
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            download
          >
            Download
          </Button>
        </Group>
      </Group>
      {at !== null && <TextPage artefact={artefact} at={at} onAt={onAt} />}
    </section>
  );
}

function TextPage({ artefact, at, onAt }: RawTextProps & { readonly at: number }) {
  const found = useQuery(artefactTextQuery(artefact.id, at));
  const page = found.data;
  if (page === undefined) {
    return <PendingView query={found} what="the raw text" isCompact />;
  }
  const { text, offset, next_offset, n_bytes } = page;
  return (
    <>
      {(offset > 0 || next_offset !== null) && (
        <Group gap="xs" my="xs">
          <Button
            size="compact-sm"
            variant="default"
            disabled={offset === 0}
            onClick={() => {
              onAt(previousPage(offset));
            }}
          >
            Back
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={next_offset === null}
            onClick={() => {
              onAt(next_offset);
            }}
          >
            Forward
          </Button>
          <Text fz="sm" className="soft" role="status">
            {`bytes ${formatCount(offset)} to ${formatCount(next_offset ?? n_bytes)} of ${formatCount(n_bytes)}`}
          </Text>
        </Group>
      )}
      <pre className="artefact-text" tabIndex={0} role="region" aria-label="Raw text">
        {text}
      </pre>
    </>
  );
}
