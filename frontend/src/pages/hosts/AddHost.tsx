import { Button, Group, List, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { createAgentToken } from "../../api/endpoints";
import { CopyBox } from "../../components/CopyBox";
import { ErrorLine } from "../../components/StateView";

/** The install command for a host; administrators get a new token in it. */
export function AddHost({ isAdministrator }: { readonly isAdministrator: boolean }) {
  const [host, setHost] = useState("");
  const making = useMutation({
    mutationFn: () => {
      const name = host.trim();
      return createAgentToken(name === "" ? { name: "created on the Hosts page" } : { name: `agent of ${name}`, host: name });
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    making.mutate();
  };

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
          <form onSubmit={submit}>
            <Group align="flex-end" gap="xs">
              <TextInput
                size="xs"
                w={300}
                label="Host name (optional)"
                description="With a name, the token works for that host only"
                placeholder="any host"
                value={host}
                onChange={(event) => {
                  setHost(event.currentTarget.value);
                }}
              />
              <Button type="submit" loading={making.isPending}>
                Create install command{" "}
              </Button>
            </Group>
          </form>
          <ErrorLine error={making.error} />
          {making.data && (
            <>
              <CopyBox text={making.data.command ?? making.data.token} what="the command" />
              <List size="sm" spacing={2}>
                <List.Item>Run it on the host as the user that will run the tools. Its token is shown only once.</List.Item>
                <List.Item>The host appears below once it sends data, usually within 15 seconds.</List.Item>
                <List.Item>
                  You can revoke the token on the Accounts page; the agent then keeps its data until it gets a new token.
                </List.Item>
              </List>
            </>
          )}
        </Stack>
      )}
    </Paper>
  );
}
