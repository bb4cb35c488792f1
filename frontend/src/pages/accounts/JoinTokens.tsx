import type { JoinTokenInfo, NewJoinToken } from "../../logic/api";
import { api } from "../../api/client";
import { Alert, Stack, Table, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { joinTokensQuery } from "../../api/accounts";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyBox } from "../../components/CopyBox";
import { Instant } from "../../components/Instant";
import { JoinTokenForm } from "../../components/JoinTokenForm";
import { RevokeButton } from "../../components/RevokeButton";
import { ScrollCard } from "../../components/ScrollCard";
import { PendingView, StateView } from "../../components/StateView";
import { joinTokenState } from "../../logic/join_token";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

const STATES = { usable: "usable", used_up: "used up", expired: "expired", revoked: "revoked" };

/** Tokens that hosts enrol with: create (the secret is shown once), list with the hosts, revoke. */
export function JoinTokens({ zone }: { readonly zone: Zone }) {
  const client = useQueryClient();
  const tokens = useQuery(joinTokensQuery);
  const [revoking, setRevoking] = useState<JoinTokenInfo | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: joinTokensQuery.queryKey });
  const ending = useMutation({
    mutationFn: (id: number) => api.DELETE("/join-tokens/{id}", { params: { path: { id } } }),
    onSuccess: async () => {
      await renew();
      setRevoking(null);
    },
  });
  return (
    <Stack gap="md" mb="xl">
      <Title order={2}>Enrol hosts</Title>
      <Text fz="sm" className="soft">
        One command for many hosts: each exchanges the join token in it for a token of its own, which is valid for that host only.
        Afterwards the join token is useless.
      </Text>
      <JoinTokenForm action="Create install command" name="join token" isNamed renews={[joinTokensQuery.queryKey]}>
        {(made, forget) => <NewOne made={made} onClose={forget} />}
      </JoinTokenForm>
      <ScrollCard label="Enrol hosts">
        {tokens.data === undefined ? (
          <PendingView query={tokens} what="join tokens" />
        ) : tokens.data.tokens.length === 0 ? (
          <StateView state={{ kind: "empty", title: "No join tokens", next: "Create one above to enrol hosts." }} />
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
          title="Revoke join token"
          action="Revoke"
          isPending={ending.isPending}
          error={ending.error}
          onClose={() => {
            setRevoking(null);
          }}
          onConfirm={() => {
            ending.mutate(revoking.id);
          }}
        >
          {nodes`Revoke ${<b>{revoking.name}</b>}? No further host can enrol with it. Hosts that did keep their own tokens.`}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function NewOne({ made, onClose }: { readonly made: NewJoinToken; readonly onClose: () => void }) {
  return (
    <Alert
      color="green"
      title={`Run this on each host, on ${counted(made.info.max_uses, "host")} at most (shown only once)`}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <CopyBox text={made.command} what="the command" />
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
    <Table aria-label="Enrol hosts">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Purpose</Table.Th>
          <Table.Th>Enrolled</Table.Th>
          <Table.Th>Host names</Table.Th>
          <Table.Th>Expires</Table.Th>
          <Table.Th>State</Table.Th>
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
                {`${String(token.n_uses)} of ${counted(token.max_uses, "host")}`}
                {token.hosts.length > 0 && (
                  <details>
                    <summary>Hosts</summary>
                    {token.hosts.map((host) => (
                      <div key={host.host}>
                        <bdi>{host.host}</bdi> <Instant at={fromApi(host.at)} zone={zone} />
                        {!host.is_active && <span className="soft"> revoked</span>}
                      </div>
                    ))}
                  </details>
                )}
              </Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {token.host_pattern === "" ? "any" : token.host_pattern}
                {token.allows_takeover && <div className="soft">Replace hosts with the same name</div>}
              </Table.Td>
              <Table.Td>
                <Instant at={fromApi(token.expires_at)} zone={zone} />
              </Table.Td>
              <Table.Td>{STATES[state]}</Table.Td>
              <Table.Td className="number">
                {state === "usable" && (
                  <RevokeButton
                    label={`Revoke ${token.name}`}
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
