import { Button, Group, Modal, Stack, Table, Text } from "@mantine/core";
import { IconDownload, IconPackage } from "@tabler/icons-react";
import { bundleAddress, csvAddress, parquetAddress } from "../../api/addresses";
import type { StatInfo } from "../../logic/api";
import { describeDuration, lengthOf, type Window } from "../../logic/time";
import { formatWindow, type Zone, zoneLabel } from "../../logic/zone";
import { nodes } from "../../components/nodes";

interface ExportDialogProps {
  readonly host: string;
  readonly window: Window;
  readonly zone: Zone;
  readonly stats: readonly StatInfo[];
  readonly onClose: () => void;
}

/** Exports the raw samples of a window: all stats as long CSV, or one stat as wide CSV or Parquet. */
export function ExportDialog({ host, window: exported, zone, stats, onClose }: ExportDialogProps) {
  return (
    <Modal opened onClose={onClose} title="Export" size="lg">
      <Stack gap="sm">
        <Text fz="sm">
          {nodes`All samples of ${<b>{host}</b>}, ${formatWindow(zone, exported)} ${zoneLabel(zone, exported.end)} (${describeDuration(lengthOf(exported))}), exactly as the tools printed them.`}
        </Text>
        <Button
          component="a"
          href={csvAddress(host, exported, null)}
          download
          leftSection={<IconDownload size={14} />}
          variant="light"
        >
          CSV of all stats, one value per line: time, epoch, stat, instance, field, value, unit
        </Button>
        <Button
          component="a"
          href={bundleAddress(host, exported)}
          download
          leftSection={<IconPackage size={14} aria-hidden />}
          variant="light"
        >
          Bundle, for another normstat
        </Button>
        <Text fz="xs" className="soft" mt={-6}>
          One file with the raw output of this window, its events, baselines, artefacts, experiments, reports and saved
          comparisons. Drop it on the Import page of another normstat, or open it there with normstat bundle open.
        </Text>
        <Text fz="sm" className="soft">
          One stat, one sample per line (time, instance and a column per field), as CSV or as Parquet for pandas, DuckDB and
          similar tools
        </Text>
        <Table>
          <Table.Tbody>
            {stats.map((stat) => (
              <Table.Tr key={stat.name}>
                <Table.Td>{stat.title}</Table.Td>
                <Table.Td className="mono">{stat.name}</Table.Td>
                <Table.Td className="number">
                  <Group gap={6} justify="flex-end" wrap="nowrap">
                    <Download format="CSV" stat={stat.name} href={csvAddress(host, exported, stat.name)} />
                    <Download format="Parquet" stat={stat.name} href={parquetAddress(host, exported, stat.name)} />
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Modal>
  );
}

interface DownloadProps {
  readonly format: "CSV" | "Parquet";
  readonly stat: string;
  readonly href: string;
}

function Download({ format, stat, href }: DownloadProps) {
  return (
    <Button
      component="a"
      size="compact-xs"
      variant="default"
      href={href}
      download
      leftSection={<IconDownload size={13} aria-hidden />}
      aria-label={`${format} of ${stat}`}
    >
      {format}
    </Button>
  );
}
