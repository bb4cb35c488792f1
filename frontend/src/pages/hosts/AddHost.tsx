import { List, Paper, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { createJoinToken } from "../../api/join_tokens";
import { CopyBox } from "../../components/CopyBox";
import { JoinTokenForm } from "../../components/JoinTokenForm";
import { words } from "../../words";

/** The install command for hosts; administrators get a new join token in it. */
export function AddHost({ isAdministrator }: { readonly isAdministrator: boolean }) {
  const making = useMutation({ mutationFn: createJoinToken });
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
          <JoinTokenForm
            action={words.hosts.addHost.createInstallCommand}
            name={words.hosts.addHost.createdHostsPage}
            isPending={making.isPending}
            error={making.error}
            onSubmit={making.mutate}
          />
          {making.data && (
            <>
              <CopyBox text={making.data.command} what={words.hosts.addHost.theCommand} />
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
