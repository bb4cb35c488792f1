import { List, Paper, Stack, Text, Title } from "@mantine/core";
import { CopyBox } from "../../components/CopyBox";
import { JoinTokenForm } from "../../components/JoinTokenForm";

/** The install command for hosts; administrators get a new join token in it. */
export function AddHost({ isAdministrator }: { readonly isAdministrator: boolean }) {
  return (
    <Paper className="card" p="md" mb="md">
      <Title order={2} mb={6}>
        Add a host
      </Title>
      {!isAdministrator ? (
        <Text fz="sm">
          Ask an administrator for the install command: it contains a token that only administrators can create.
        </Text>
      ) : (
        <Stack gap="sm">
          <Text fz="sm">
            One command installs the agent, a shell script that runs vmstat, mpstat, iostat and similar tools and sends their
            output. It needs a POSIX shell and curl or wget, but no root. The server cannot send it commands: a file on the host
            decides which tools run.
          </Text>
          <JoinTokenForm action="Create install command" name="created on the Hosts page">
            {(made) => (
              <>
                <CopyBox text={made.command} what="the command" />
                <List size="sm" spacing={2}>
                  <List.Item>
                    Run it on each host, as the user that will run the tools. The host gets a token of its own for the join token
                    in it, which is shown only once.
                  </List.Item>
                  <List.Item>The host appears below once it sends data, usually within 15 seconds.</List.Item>
                  <List.Item>
                    The Accounts page lists which hosts enrolled, and revokes tokens; an agent then keeps its data until it gets a
                    new one.
                  </List.Item>
                </List>
              </>
            )}
          </JoinTokenForm>
        </Stack>
      )}
    </Paper>
  );
}
