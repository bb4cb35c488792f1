import { Stack, Text } from "@mantine/core";
import { CopyBox } from "../../components/CopyBox";

const MAKE = {
  whatItIs:
    "An artefact is one run of a tool such as lockstat, DTrace, perf or strace: a dated answer to a question about a host. Its text is kept and charted, and compared with another one.",
  uploadHere: "Upload a file of such output with the button above, or make one from a shell:",
  ask: "On a host whose stats.conf allows it, the agent runs the tool and sends the answer:",
  put: "Pipe any tool's output to the agent:",
  cli: "Or send a file with the command line:",
  theCommand: "the command",
};

/** The ways to make one from a shell, by the name of the text that says when. */
const COMMANDS = [
  ["ask", ["normstat-agent", "ask", '"lockstat -o - sleep 10"']],
  ["put", ["perf", "report", "--stdio", "|", "normstat-agent", "put"]],
  ["cli", ["normstat", "artefact", "put", "--host", "web1", "lockstat.txt"]],
] as const;

/** What an artefact is, and the ways to make one. */
export function MakeArtefact() {
  return (
    <Stack gap="xs" ta="left">
      <Text fz="sm">
        An artefact is one run of a tool such as lockstat, DTrace, perf or strace: a dated answer to a question about a host. Its
        text is kept and charted, and compared with another one.
      </Text>
      <Text fz="sm">Upload a file of such output with the button above, or make one from a shell:</Text>
      {COMMANDS.map(([way, parts]) => (
        <div key={way}>
          <Text fz="sm">{MAKE[way]}</Text>
          <CopyBox text={parts.join(" ")} what="the command" />
        </div>
      ))}
    </Stack>
  );
}
