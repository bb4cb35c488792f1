import { Alert, Button, Stack, Table, Text } from "@mantine/core";
import { type QueryKey, useMutation, useQuery, useQueryClient, type UseQueryOptions } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { CopyBox } from "../../components/CopyBox";
import { Age, Instant } from "../../components/Instant";
import { RevokeButton } from "../../components/RevokeButton";
import { ScrollCard } from "../../components/ScrollCard";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import { ROLE_LABELS, sortTokens, tokenState } from "../../logic/account";
import type { NewToken, TokenInfo, TokenList } from "../../logic/api";
import { fromApi, MINUTE } from "../../logic/time";
import type { Zone } from "../../logic/zone";
import { useNow } from "../../state/clock";
import { nodes } from "../../components/nodes";

interface TokensProps<B, K extends QueryKey> {
  readonly kind: "api" | "agent";
  readonly query: UseQueryOptions<TokenList, Error, TokenList, K>;
  readonly zone: Zone;
  readonly help: string;
  readonly create: (body: B) => Promise<NewToken>;
  readonly revoke: (id: number) => Promise<unknown>;
  readonly rotate?: (id: number) => Promise<unknown>;
  readonly form: (send: (body: B) => Promise<unknown>) => ReactNode;
}

/** Tokens of one kind: create (the secret is shown once), list, revoke. */
export function Tokens<B, K extends QueryKey>({ kind, query, zone, help, create, revoke, rotate, form }: TokensProps<B, K>) {
  const client = useQueryClient();
  const tokens = useQuery(query);
  const [revoking, setRevoking] = useState<TokenInfo | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: query.queryKey });
  const [made, setMade] = useState<NewToken | null>(null);
  const ending = useMutation({
    mutationFn: revoke,
    onSuccess: async () => {
      await renew();
      setRevoking(null);
    },
  });
  const rotating = useMutation({ mutationFn: async (id: number) => rotate?.(id), onSuccess: renew });
  return (
    <Stack gap="md">
      <Text fz="sm" className="soft">
        {help}
      </Text>
      {form(async (body) => {
        setMade(await create(body));
        await renew();
      })}
      <ErrorLine error={rotating.error} />
      {made && (
        <Secret
          made={made}
          onClose={() => {
            setMade(null);
          }}
        />
      )}
      <ScrollCard label="Tokens">
        {tokens.data === undefined ? (
          <PendingView query={tokens} what="tokens" />
        ) : tokens.data.tokens.length === 0 ? (
          <StateView
            state={{ kind: "empty", title: "No tokens yet", next: "Create one above. Its secret is shown only once." }}
          />
        ) : (
          <TokenTable
            kind={kind}
            tokens={sortTokens(tokens.data.tokens)}
            zone={zone}
            onRotate={(token) => {
              rotating.mutate(token.id);
            }}
            onRevoke={(token) => {
              ending.reset();
              setRevoking(token);
            }}
          />
        )}
      </ScrollCard>
      {revoking && (
        <ConfirmDialog
          title="Revoke token"
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
          {nodes`Revoke ${<b>{revoking.name}</b>}? It stops working at once. This cannot be undone.`}{" "}
          {kind === "agent" && "Agents that use it keep their data, up to the limit of their spool."}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function Secret({ made, onClose }: { readonly made: NewToken; readonly onClose: () => void }) {
  return (
    <Alert
      color="green"
      title={`Token “${made.info.name}” (shown only once)`}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <Stack gap="xs">
        <CopyBox text={made.token} what="the token" />
        {made.command !== null && (
          <>
            <Text fz="sm">Install an agent with this token:</Text>
            <CopyBox text={made.command} what="the command" />
          </>
        )}
      </Stack>
    </Alert>
  );
}

interface TokenTableProps {
  readonly kind: "api" | "agent";
  readonly tokens: readonly TokenInfo[];
  readonly zone: Zone;
  readonly onRotate: (token: TokenInfo) => void;
  readonly onRevoke: (token: TokenInfo) => void;
}

function TokenTable({ kind, tokens, zone, onRotate, onRevoke }: TokenTableProps) {
  const now = useNow(MINUTE);
  return (
    <Table aria-label="Tokens">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>{kind === "agent" ? "Host" : "Role"}</Table.Th>
          <Table.Th>Created</Table.Th>
          <Table.Th>Last used</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tokens.map((token) => (
          <Table.Tr key={token.id}>
            <Table.Td fw={600}>{token.name}</Table.Td>
            <Table.Td>{kind === "agent" ? (token.host ?? "any") : token.role === null ? "" : ROLE_LABELS[token.role]}</Table.Td>
            <Table.Td>
              <Instant at={fromApi(token.created_at)} zone={zone} />
            </Table.Td>
            <Table.Td>
              {token.last_used_at === null ? (
                <span className="soft">never</span>
              ) : (
                <Age at={fromApi(token.last_used_at)} now={now} zone={zone} />
              )}
            </Table.Td>
            <Table.Td>{tokenState(token, now)}</Table.Td>
            <Table.Td className="number">
              {kind === "agent" && token.host !== null && tokenState(token, now) === "active" && (
                <Button
                  size="compact-xs"
                  variant="default"
                  mr={6}
                  title="The agent takes a new token with its next delivery. The old one works until the new one is used."
                  aria-label={`Rotate ${token.name}`}
                  onClick={() => {
                    onRotate(token);
                  }}
                >
                  Rotate
                </Button>
              )}
              {token.revoked_at === null && (
                <RevokeButton
                  label={`Revoke ${token.name}`}
                  onClick={() => {
                    onRevoke(token);
                  }}
                />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
