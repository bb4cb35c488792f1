import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { LOG_FILES, type LogChoice, logFileAddress } from "../../api/trace_log";
import { downloadFrom } from "../../state/download";

const FILES = {
  "events.txt": "Events, as the tracer printed them (.txt)",
  "events.csv": "Events as CSV",
  "lanes.svg": "Lanes as SVG",
  "lanes.pdf": "Lanes and who blocked whom as PDF",
  "latencies.svg": "Latencies as SVG",
  "latencies.pdf": "Latencies with table as PDF",
};

interface LogFilesProps {
  readonly choice: LogChoice;
  readonly by: string;
  readonly pair: string;
  /** Whether the log has latencies. */
  readonly hasPair: boolean;
}

/** Takes what the page shows along: the chosen events as text, the pictures for paper. */
export function LogFiles({ choice, by, pair, hasPair }: LogFilesProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button className="no-print" size="compact-xs" variant="default" leftSection={<IconDownload size={14} />}>
          Save
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {LOG_FILES.filter((file) => hasPair || !file.startsWith("latencies")).map((file) => (
          <Menu.Item
            key={file}
            onClick={() => {
              downloadFrom(logFileAddress(choice, file, by, pair));
            }}
          >
            {FILES[file]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
