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
import { Answers } from "./Answers";
import { ArtefactHead } from "./ArtefactHead";
import { FlamePart } from "./FlamePart";
import { HistogramSection } from "./HistogramSection";
import { LogPart } from "./LogPart";
import { RawText } from "./RawText";
import { TableSection } from "./TableSection";
import { counted } from "../../logic/counted";
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
        state={{
          kind: "empty",
          title: `There is no artefact ${named ?? ""}`,
          next: "Open the page Artefacts to find it by its host, tool or words.",
        }}
      />
    </div>
  ) : (
    <OneArtefact key={id} id={id} />
  );
}

function OneArtefact({ id }: { readonly id: number }) {
  const found = useQuery(artefactQuery(id));
  const name = found.data === undefined ? `Artefact ${String(id)}` : nameOf(found.data.artefact);
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
        <PendingView query={found} what="the artefact" />
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
      <Answers artefact={artefact} />
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
            title:
              artefact.tool === ""
                ? "No parser recognises this text"
                : `Nothing could be parsed from this output of ${artefact.tool}`,
            next: "It is kept as it came, below. If you know its tool, choose Change, Reparse.",
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
          {`Show ${counted(parts.length - shown.length, "more part")}`}
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
      return <LogPart {...props} />;
    default:
      return <Text fz="sm">This page cannot draw this part. Reload it.</Text>;
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
        Rejected lines
      </Title>
      <Text fz="sm" mb="xs">
        {`${counted(artefact.n_rejected, "line")} could not be read by ${artefact.spec}; the first ${formatCount(rejected.length)} are listed. They are part of the raw text.`}
      </Text>
      <ScrollCard label="Rejected lines">
        <Table aria-label="Rejected lines">
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="number">Line</Table.Th>
              <Table.Th>Text</Table.Th>
              <Table.Th>Reason</Table.Th>
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
