import { Button, Group, Text, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { artefactRawAddress, artefactTextQuery } from "../../api/artefacts";
import { PendingView } from "../../components/StateView";
import type { Artefact } from "../../logic/api";
import { formatBytes, formatCount } from "../../logic/number";
import { previousPage } from "../../logic/text_page";
import { words } from "../../words";

interface RawTextProps {
  readonly artefact: Artefact;
  /** The byte from which the text is shown; null while it is folded. */
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
}

/** The text as the tool printed it, a page at a time. */
export function RawText({ artefact, at, onAt }: RawTextProps) {
  return (
    <section className="card artefact-part" aria-label={words.artefacts.text.rawText}>
      <Group justify="space-between">
        <div>
          <Title order={2}>{words.artefacts.text.rawText}</Title>
          <Text fz="sm" className="soft">
            {words.artefacts.text.size(artefact.n_lines, formatBytes(artefact.n_bytes))}
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
            {at === null ? words.common.show : words.artefacts.text.hide}
          </Button>
          <Button
            component="a"
            href={artefactRawAddress(artefact.id)}
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            download
          >
            {words.artefacts.text.download}
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
    return <PendingView query={found} what={words.artefacts.text.rawTextInText} isCompact />;
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
            {words.artefacts.text.previous}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={next_offset === null}
            onClick={() => {
              onAt(next_offset);
            }}
          >
            {words.artefacts.text.next}
          </Button>
          <Text fz="sm" className="soft" role="status">
            {words.artefacts.text.bytes(formatCount(offset), formatCount(next_offset ?? n_bytes), formatCount(n_bytes))}
          </Text>
        </Group>
      )}
      <pre className="artefact-text" tabIndex={0} role="region" aria-label={words.artefacts.text.rawText}>
        {text}
      </pre>
    </>
  );
}
