import { Button, Group, List, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { createAgentToken } from "../../api/endpoints";
import { CopyBox } from "../../components/CopyBox";
import { ErrorLine } from "../../components/StateView";
import { words } from "../../words";

/** The install command for a host; administrators get a new token in it. */
export function AddHost({ isAdministrator }: { readonly isAdministrator: boolean }) {
  const [host, setHost] = useState("");
  const making = useMutation({
    mutationFn: () => {
      const name = host.trim();
      return createAgentToken(
        name === "" ? { name: words.hosts.addHost.createdHostsPage } : { name: words.hosts.addHost.agentOf(name), host: name },
      );
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    making.mutate();
  };

  return (
    <Paper className="card" p="md" mb="md">
      <Title order={2} mb={6}>
        {words.hosts.addHost.addAHost}
      </Title>
      {!isAdministrator ? (
        <Text fz="sm">{words.hosts.addHost.askAdministratorInstallCommand}</Text>
      ) : (
        <Stack gap="sm">
          <Text fz="sm">{words.hosts.addHost.oneCommandInstallsAgent}</Text>
          <form onSubmit={submit}>
            <Group align="flex-end" gap="xs">
              <TextInput
                size="xs"
                w={300}
                label={words.hosts.addHost.hostNameOptional}
                description={words.hosts.addHost.nameTokenWorksHost}
                placeholder={words.hosts.addHost.anyHost}
                value={host}
                onChange={(event) => {
                  setHost(event.currentTarget.value);
                }}
              />
              <Button type="submit" loading={making.isPending}>
                {words.hosts.addHost.createInstallCommand}{" "}
              </Button>
            </Group>
          </form>
          <ErrorLine error={making.error} />
          {making.data && (
            <>
              <CopyBox text={making.data.command ?? making.data.token} what={words.hosts.addHost.theCommand} />
              <List size="sm" spacing={2}>
                <List.Item>{words.hosts.addHost.runHostUserWill}</List.Item>
                <List.Item>{words.hosts.addHost.hostAppearsBelowOnce}</List.Item>
                <List.Item>{words.hosts.addHost.youCanRevokeToken}</List.Item>
              </List>
            </>
          )}
        </Stack>
      )}
    </Paper>
  );
}
