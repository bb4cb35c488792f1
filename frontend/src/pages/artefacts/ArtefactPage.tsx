import { Button, Table, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { artefactQuery } from "../../api/artefacts";
import { IgnoredNote } from "../../components/IgnoredNote";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import type { Artefact, ArtefactPartInfo, RejectedArtefactLine } from "../../logic/api";
import { nameOf, orderParts } from "../../logic/artefact";
import { formatCount } from "../../logic/number";
import { type ArtefactView, decodeArtefactView, DEFAULT_PART, encodeArtefactView, type PartView } from "../../state/artefacts";
import { parseId } from "../../state/search";
import { ArtefactHead } from "./ArtefactHead";
import { FlamePart } from "./FlamePart";
import { HistogramSection } from "./HistogramSection";
import { LogPart } from "./LogPart";
import { RawText } from "./RawText";
import { TableSection } from "./TableSection";
import { words } from "../../words";
import "./artefacts.css";

/** More sections at once take longer than anybody waits. */
const SHOWN = 12;

/** One artefact: its question, its parts with the most telling first, and its text. */
export function ArtefactPage() {
  const { artefact: named } = useParams({ strict: false });
  const id = parseId(named ?? "");
  return id === null ? (
    <div className="page">
      <StateView
        state={{ kind: "empty", title: words.artefacts.page.noSuch(named ?? ""), next: words.artefacts.page.openList }}
      />
    </div>
  ) : (
    <OneArtefact key={id} id={id} />
  );
}

function OneArtefact({ id }: { readonly id: number }) {
  const found = useQuery(artefactQuery(id));
  const name = found.data === undefined ? words.artefacts.list.number(String(id)) : nameOf(found.data.artefact);
  useDocumentTitle(`${name} · normstat`);
  const raw = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeArtefactView(raw), [raw]);
  const navigate = useNavigate();
  const zone = useZone(view.clock);
  const onView = (change: Partial<ArtefactView>): void => {
    void navigate({
      to: "/artefacts/$artefact",
      params: { artefact: String(id) },
      search: encodeArtefactView({ ...view, ...change }),
      replace: true,
      resetScroll: false,
    });
  };
  if (found.data === undefined) {
    return (
      <div className="page">
        <PendingView query={found} what={words.artefacts.page.artefact} />
      </div>
    );
  }
  const { artefact, rejected } = found.data;
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      <ArtefactHead artefact={artefact} zone={zone} clock={view.clock} />
      <Parts
        artefact={artefact}
        view={view}
        zone={zone}
        onPart={(position, change) => {
          const parts = new Map(view.parts);
          parts.set(position, { ...(view.parts.get(position) ?? DEFAULT_PART), ...change });
          onView({ parts });
        }}
      />
      <Rejected artefact={artefact} rejected={rejected} />
      <RawText
        artefact={artefact}
        at={view.textAt}
        onAt={(textAt) => {
          onView({ textAt });
        }}
      />
    </div>
  );
}

interface PartsProps {
  readonly artefact: Artefact;
  readonly view: ArtefactView;
  readonly zone: string;
  readonly onPart: (position: number, change: Partial<PartView>) => void;
}

function Parts({ artefact, view, zone, onPart }: PartsProps) {
  const [areAllShown, setAllShown] = useState(false);
  const parts = orderParts(artefact.parts);
  if (parts.length === 0) {
    return (
      <section className="card artefact-part">
        <StateView
          state={{
            kind: "empty",
            title: artefact.tool === "" ? words.artefacts.page.unknownTool : words.artefacts.page.nothingRead(artefact.tool),
            next: words.artefacts.page.nothingReadNext,
          }}
        />
      </section>
    );
  }
  const shown = areAllShown ? parts : parts.slice(0, SHOWN);
  return (
    <>
      {shown.map((part) => (
        <section key={part.position} className="card artefact-part" aria-label={part.title}>
          <Title order={2} mb={4}>
            {part.title}
          </Title>
          <OnePart
            artefact={artefact}
            part={part}
            zone={zone}
            view={view.parts.get(part.position) ?? DEFAULT_PART}
            onView={(change) => {
              onPart(part.position, change);
            }}
          />
        </section>
      ))}
      {parts.length > shown.length && (
        <Button
          mt="sm"
          variant="default"
          onClick={() => {
            setAllShown(true);
          }}
        >
          {words.artefacts.page.moreParts(parts.length - shown.length)}
        </Button>
      )}
    </>
  );
}

/** What every section of a part gets. */
export interface SectionProps {
  readonly artefact: Artefact;
  readonly part: ArtefactPartInfo;
  readonly zone: string;
  readonly view: PartView;
  readonly onView: (change: Partial<PartView>) => void;
}

function OnePart(props: SectionProps) {
  const { artefact, part } = props;
  switch (part.kind) {
    case "table":
      return <TableSection {...props} />;
    case "histogram":
      return <HistogramSection {...props} />;
    case "stacks":
      return <FlamePart artefact={artefact} part={part} />;
    case "log":
      return <LogPart artefact={artefact} part={part} />;
    default:
      return <Text fz="sm">{words.artefacts.page.newerPart}</Text>;
  }
}

interface RejectedProps {
  readonly artefact: Artefact;
  readonly rejected: readonly RejectedArtefactLine[];
}

function Rejected({ artefact, rejected }: RejectedProps) {
  if (artefact.n_rejected === 0) {
    return null;
  }
  return (
    <section className="card artefact-part">
      <Title order={2} mb={4}>
        {words.common.rejectedLines}
      </Title>
      <Text fz="sm" mb="xs">
        {words.artefacts.page.rejectedNote(artefact.n_rejected, formatCount(rejected.length), artefact.spec)}
      </Text>
      <ScrollCard label={words.common.rejectedLines}>
        <Table aria-label={words.common.rejectedLines}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="number">{words.common.line}</Table.Th>
              <Table.Th>{words.common.text}</Table.Th>
              <Table.Th>{words.common.reason}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rejected.map(({ line_no, text, reason }) => (
              <Table.Tr key={line_no}>
                <Table.Td className="number">{formatCount(line_no)}</Table.Td>
                <Table.Td className="mono artefact-key">{text}</Table.Td>
                <Table.Td>{reason}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
    </section>
  );
}
