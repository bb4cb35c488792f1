import { Stack, Text } from "@mantine/core";
import { CopyBox } from "../../components/CopyBox";

/** The ways to make one from a shell, each with its command. */
const COMMANDS = [
  [
    "On a host whose stats.conf allows it, the agent runs the tool and sends the answer:",
    'normstat-agent ask "lockstat -o - sleep 10"',
  ],
  ["Pipe any tool's output to the agent:", "perf report --stdio | normstat-agent put"],
  ["Or send a file with the command line:", "normstat artefact put --host web1 lockstat.txt"],
] as const;

/** What an artefact is, and the ways to make one. */
export function MakeArtefact() {
  return (
    <Stack gap="xs" ta="left">
      <Text fz="sm">
        An artefact is one run of a tool such as lockstat, DTrace, perf or strace: a dated answer to a question about a host. Its
        text is kept and charted, and compared with another one.
      </Text>
      <Text fz="sm">Import a file of such output with the button above, or make one from a shell:</Text>
      {COMMANDS.map(([when, command]) => (
        <div key={command}>
          <Text fz="sm">{when}</Text>
          <CopyBox text={command} what="the command" />
        </div>
      ))}
    </Stack>
  );
}
