import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { LOG_FILES, type LogChoice, logFileAddress } from "../../api/trace_log";
import { downloadFrom } from "../../state/download";
import { words } from "../../words";

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
          {words.traceLog.save}
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
            {words.traceLog.files[file]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
