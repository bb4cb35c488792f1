import { Table, Text } from "@mantine/core";
import { Instant } from "../../components/Instant";
import { ScrollCard } from "../../components/ScrollCard";
import type { ProcessLife } from "../../logic/api";
import { lifeWindow, processTitle } from "../../logic/process";
import { fromApi, type Window } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import type { ProcessName } from "../../state/url";
import { nodes } from "../../components/nodes";

interface LifeTableProps {
  readonly lives: readonly ProcessLife[];
  readonly window: Window;
  readonly zone: Zone;
  readonly onParent: (parent: ProcessName) => void;
  readonly onWindow: (window: Window) => void;
}

/** The processes that had a PID in the window, with what is known of each. */
export function LifeTable({ lives, window: shown, zone, onParent, onWindow }: LifeTableProps) {
  if (lives.length === 0) {
    return (
      <Text fz="sm" className="soft">
        No samples of this process in the window.
      </Text>
    );
  }
  return (
    <ScrollCard label="About this process">
      <Table aria-label="About this process" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Began</Table.Th>
            <Table.Th>Ended</Table.Th>
            <Table.Th>User</Table.Th>
            <Table.Th>Unit</Table.Th>
            <Table.Th>Parent</Table.Th>
            <Table.Th>Arguments</Table.Th>
            <Table.Th>Samples in the window</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lives.map((life) => (
            <Table.Tr key={life.first_sample_at}>
              <Table.Td>
                {life.facts.began_at === null ? (
                  <Unknown />
                ) : (
                  <button
                    type="button"
                    className="text-button"
                    title="Show its whole life"
                    onClick={() => {
                      onWindow(lifeWindow(life, shown));
                    }}
                  >
                    <Instant at={fromApi(life.facts.began_at)} zone={zone} />
                  </button>
                )}
              </Table.Td>
              <Table.Td>
                <End life={life} zone={zone} />
              </Table.Td>
              <Table.Td>{life.facts.user ?? <Unknown />}</Table.Td>
              <Table.Td>{life.facts.unit ?? <Unknown />}</Table.Td>
              <Table.Td>
                <Parent life={life} onParent={onParent} />
              </Table.Td>
              <Table.Td className="mono process-arguments">{life.facts.arguments ?? <Unknown />}</Table.Td>
              <Table.Td>
                {nodes`${<Instant at={fromApi(life.first_sample_at)} zone={zone} />} to ${<Instant at={fromApi(life.last_sample_at)} zone={zone} />}`}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollCard>
  );
}

function Unknown() {
  return <span className="soft">not recorded</span>;
}

function End({ life, zone }: { readonly life: ProcessLife; readonly zone: Zone }) {
  if (life.is_running === true) {
    return <>running at the last report</>;
  }
  if (life.gone_at !== null && life.last_seen_at !== null) {
    return <>{nodes`${<Instant at={fromApi(life.last_seen_at)} zone={zone} />} or up to the next report`}</>;
  }
  return <Unknown />;
}

function Parent({ life, onParent }: { readonly life: ProcessLife; readonly onParent: (parent: ProcessName) => void }) {
  const { parent_pid: pid, parent_command: command } = life.facts;
  if (pid === null) {
    return <Unknown />;
  }
  return command === null ? (
    <>{pid}</>
  ) : (
    <button
      type="button"
      className="text-button"
      onClick={() => {
        onParent({ command, pid });
      }}
    >
      {processTitle({ command, pid })}
    </button>
  );
}
