import { Stack, Text } from "@mantine/core";
import { CopyBox } from "../../components/CopyBox";
import { words } from "../../words";

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
      <Text fz="sm">{words.artefacts.make.whatItIs}</Text>
      <Text fz="sm">{words.artefacts.make.uploadHere}</Text>
      {COMMANDS.map(([way, parts]) => (
        <div key={way}>
          <Text fz="sm">{words.artefacts.make[way]}</Text>
          <CopyBox text={parts.join(" ")} what={words.artefacts.make.theCommand} />
        </div>
      ))}
    </Stack>
  );
}
