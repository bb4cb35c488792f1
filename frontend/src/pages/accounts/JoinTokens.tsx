import { Alert, Stack, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createJoinToken, revokeJoinToken } from "../../api/join_tokens";
import { joinTokensQuery } from "../../api/queries";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyBox } from "../../components/CopyBox";
import { Instant } from "../../components/Instant";
import { JoinTokenForm } from "../../components/JoinTokenForm";
import { RevokeButton } from "../../components/RevokeButton";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import type { JoinTokenInfo, NewJoinToken } from "../../logic/api";
import { joinTokenState } from "../../logic/join_token";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { words } from "../../words";

/** Tokens that hosts enrol with: create (the secret is shown once), list with the hosts, revoke. */
export function JoinTokens({ zone }: { readonly zone: Zone }) {
  const client = useQueryClient();
  const tokens = useQuery(joinTokensQuery);
  const [revoking, setRevoking] = useState<JoinTokenInfo | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: joinTokensQuery.queryKey });
  const making = useMutation({ mutationFn: createJoinToken, onSuccess: renew });
  const ending = useMutation({
    mutationFn: revokeJoinToken,
    onSuccess: async () => {
      await renew();
      setRevoking(null);
    },
  });
  return (
    <Stack gap="md" mb="xl">
      <Title order={2}>{words.joinTokens.title}</Title>
      <Text fz="sm" className="soft">
        {words.joinTokens.help}
      </Text>
      <JoinTokenForm
        action={words.joinTokens.create}
        name={words.joinTokens.unnamed}
        isNamed
        isPending={making.isPending}
        error={making.error}
        onSubmit={making.mutate}
      />
      {making.data && <NewOne made={making.data} onClose={making.reset} />}
      <ScrollCard label={words.joinTokens.title}>
        {tokens.data === undefined ? (
          <PendingView query={tokens} what={words.joinTokens.tokens} />
        ) : tokens.data.tokens.length === 0 ? (
          <StateView state={{ kind: "empty", title: words.joinTokens.none, next: words.joinTokens.noneNext }} />
        ) : (
          <JoinTokenTable
            tokens={tokens.data.tokens}
            zone={zone}
            onRevoke={(token) => {
              ending.reset();
              setRevoking(token);
            }}
          />
        )}
      </ScrollCard>
      {revoking && (
        <ConfirmDialog
          title={words.joinTokens.revoke}
          action={words.accounts.tokens.revoke}
          isPending={ending.isPending}
          error={ending.error}
          onClose={() => {
            setRevoking(null);
          }}
          onConfirm={() => {
            ending.mutate(revoking.id);
          }}
        >
          {words.joinTokens.revokeHelp(<b>{revoking.name}</b>)}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function NewOne({ made, onClose }: { readonly made: NewJoinToken; readonly onClose: () => void }) {
  return (
    <Alert
      color="green"
      title={words.joinTokens.commandFor(made.info.max_uses)}
      withCloseButton
      closeButtonLabel={words.common.close}
      onClose={onClose}
    >
      <CopyBox text={made.command} what={words.accounts.tokens.theCommand} />
    </Alert>
  );
}

interface JoinTokenTableProps {
  readonly tokens: readonly JoinTokenInfo[];
  readonly zone: Zone;
  readonly onRevoke: (token: JoinTokenInfo) => void;
}

function JoinTokenTable({ tokens, zone, onRevoke }: JoinTokenTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label={words.joinTokens.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.joinTokens.purpose}</Table.Th>
          <Table.Th>{words.joinTokens.enrolled}</Table.Th>
          <Table.Th>{words.joinTokens.allowedNames}</Table.Th>
          <Table.Th>{words.joinTokens.expires}</Table.Th>
          <Table.Th>{words.common.state}</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tokens.map((token) => {
          const state = joinTokenState(token, now);
          return (
            <Table.Tr key={token.id}>
              <Table.Td fw={600} style={{ overflowWrap: "anywhere" }}>
                {token.name}
              </Table.Td>
              <Table.Td>
                {words.joinTokens.usesOf(token.n_uses, token.max_uses)}
                {token.hosts.length > 0 && (
                  <details>
                    <summary>{words.common.hosts}</summary>
                    {token.hosts.map((host) => (
                      <div key={host.host}>
                        <bdi>{host.host}</bdi> <Instant at={fromApi(host.at)} zone={zone} />
                        {!host.is_active && <span className="soft"> {words.accounts.tokens.revoked}</span>}
                      </div>
                    ))}
                  </details>
                )}
              </Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {token.host_pattern === "" ? words.accounts.tokens.any : token.host_pattern}
                {token.allows_takeover && <div className="soft">{words.joinTokens.takeover}</div>}
              </Table.Td>
              <Table.Td>
                <Instant at={fromApi(token.expires_at)} zone={zone} />
              </Table.Td>
              <Table.Td>{words.joinTokens.states[state]}</Table.Td>
              <Table.Td className="number">
                {state === "usable" && (
                  <RevokeButton
                    label={words.accounts.tokens.revoke2(token.name)}
                    onClick={() => {
                      onRevoke(token);
                    }}
                  />
                )}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
