import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { hostStatusQuery } from "../../api/use";
import { ColourBadge, ColourMark } from "../../components/ColourBadge";
import { PageLink } from "../../components/PageLink";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView } from "../../components/StateView";
import type { HostStatus, SubsystemStatus, UseMatrix } from "../../logic/api";
import { hasSe, nameSubsystem, needsSomebody, shownInstances, worstOverall } from "../../logic/host_status";
import type { EpochMs } from "../../logic/time";
import { toColour } from "../../logic/watch";
import type { Clock } from "../../state/url";
import { encodeClock } from "../../state/zone_choice";
import "./StatusPanel.css";

interface StatusPanelProps {
  readonly host: string;
  readonly at: EpochMs;
  readonly clock: Clock;
  /** The matrix under the panel, whose worst cell counts too; undefined until it is there. */
  readonly matrix: UseMatrix | undefined;
}

/** The state of each subsystem by its worst rule, with what to do; and what live_test.se said, where the host runs it. */
export function StatusPanel({ host, at, clock, matrix }: StatusPanelProps) {
  const answer = useQuery(hostStatusQuery(host, at));
  if (!answer.data) {
    return <PendingView query={answer} />;
  }
  const { data: status } = answer;
  const overall = worstOverall(status, matrix);
  return (
    <ScrollCard label="Status by subsystem">
      <Table aria-label="Status by subsystem" className="status-panel" verticalSpacing={3} miw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={150}>Overall</Table.Th>
            <Table.Th w={130}>
              <ColourBadge colour={overall.colour} />
            </Table.Th>
            <Table.Th>
              {overall.because === "" ? "What it is, and what to do" : `${overall.because}, in the table below`}
            </Table.Th>
            {hasSe(status) && <SeHead se={status.se} />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {status.rows.map((row) => (
            <Row key={row.subsystem} row={row} clock={clock} hasSeColumn={hasSe(status)} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function SeHead({ se }: Pick<HostStatus, "se">) {
  return (
    <Table.Th w="32%">
      live_test.se {se !== null && <ColourMark colour={toColour(se.colour)} />}
      {se !== null && ` ${se.colour}`}
    </Table.Th>
  );
}

interface RowProps {
  readonly row: SubsystemStatus;
  readonly clock: Clock;
  readonly hasSeColumn: boolean;
}

function Row({ row, clock, hasSeColumn }: RowProps) {
  return (
    <Table.Tr data-colour={row.colour ?? "unknown"} data-bad={needsSomebody(row) || undefined}>
      <Table.Th scope="row">{nameSubsystem(row.subsystem)}</Table.Th>
      <Table.Td>
        {row.rule === null ? <span className="soft">not judged</span> : <ColourBadge colour={toColour(row.colour ?? "")} />}
      </Table.Td>
      <Table.Td>
        <Advice row={row} clock={clock} />
      </Table.Td>
      {hasSeColumn && (
        <Table.Td>
          {row.se !== null && (
            <>
              <ColourMark colour={toColour(row.se.colour)} /> <strong>{row.se.colour}</strong> {row.se.text}
            </>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function Advice({ row, clock }: Pick<RowProps, "row" | "clock">) {
  if (row.rule === null) {
    return (
      <span className="soft">{row.needs === "" ? "No samples at this time." : `Not recorded: a rule needs ${row.needs}.`}</span>
    );
  }
  const bad = shownInstances(row);
  return (
    <>
      {needsSomebody(row) && (
        <PageLink to="/watch/rules/$rule" params={{ rule: row.rule }} search={encodeClock(clock)} fw={600}>
          {row.title}
        </PageLink>
      )}{" "}
      <span>{row.explanation}</span>
      {needsSomebody(row) && (
        <Text fz={12} className="soft">
          {row.action}
        </Text>
      )}
      {bad.length > 0 && (
        <span className="status-instances">
          {bad.map(({ name, colour }) => (
            <span key={name} data-colour={colour}>
              <ColourMark colour={toColour(colour)} /> {name}
            </span>
          ))}
          {row.instances.length > bad.length && <span className="soft">{`of ${String(row.instances.length)}`}</span>}
        </span>
      )}
    </>
  );
}
