import { Button, Group, List, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { createAgentToken } from "../../api/endpoints";
import { CopyBox } from "../../components/CopyBox";
import { ErrorLine } from "../../components/StateView";

/** The one line that makes a host send, with a fresh token for those who may make one. */
export function AddHost({ isAdministrator }: { readonly isAdministrator: boolean }) {
  const [host, setHost] = useState("");
  const making = useMutation({
    mutationFn: () => {
      const name = host.trim();
      return createAgentToken(name === "" ? { name: "added on the hosts page" } : { name: `agent of ${name}`, host: name });
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
          Ask an administrator for the line that installs the agent: it holds a token that only administrators can make.
        </Text>
      ) : (
        <Stack gap="sm">
          <Text fz="sm">
            One line on the host installs a shell script that runs vmstat, mpstat, iostat and their like and sends what they
            print. It needs a POSIX shell and curl or wget, no root, and takes no commands from here: what runs is decided by the
            host&apos;s own file.
          </Text>
          <form onSubmit={submit}>
            <Group align="flex-end" gap="xs">
              <TextInput
                size="xs"
                w={300}
                label="Host name (optional)"
                description="With a name the token is good for that host only"
                placeholder="any host"
                value={host}
                onChange={(event) => {
                  setHost(event.currentTarget.value);
                }}
              />
              <Button type="submit" loading={making.isPending}>
                Make the line
              </Button>
            </Group>
          </form>
          <ErrorLine error={making.error} />
          {making.data && (
            <>
              <CopyBox text={making.data.command ?? making.data.token} what="the line" />
              <List size="sm" spacing={2}>
                <List.Item>
                  Run it on the host as the user that shall run the tools. The token in it is shown this once.
                </List.Item>
                <List.Item>The host appears below with its first data, usually within 15 seconds.</List.Item>
                <List.Item>
                  The token can be revoked on the Accounts page; the host then keeps its data until it has another.
                </List.Item>
              </List>
            </>
          )}
        </Stack>
      )}
    </Paper>
  );
}
