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
import { words } from "../../words";

interface TokensProps<B, K extends QueryKey> {
  readonly kind: "api" | "agent";
  readonly query: UseQueryOptions<TokenList, Error, TokenList, K>;
  readonly zone: Zone;
  readonly help: string;
  readonly create: (body: B) => Promise<NewToken>;
  readonly revoke: (id: number) => Promise<unknown>;
  readonly rotate?: (id: number) => Promise<unknown>;
  readonly form: (submit: (body: B) => void, isPending: boolean) => ReactNode;
}

/** Tokens of one kind: create (the secret is shown once), list, revoke. */
export function Tokens<B, K extends QueryKey>({ kind, query, zone, help, create, revoke, rotate, form }: TokensProps<B, K>) {
  const client = useQueryClient();
  const tokens = useQuery(query);
  const [revoking, setRevoking] = useState<TokenInfo | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: query.queryKey });
  const making = useMutation({ mutationFn: create, onSuccess: renew });
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
      {form(making.mutate, making.isPending)}
      <ErrorLine error={making.error} />
      <ErrorLine error={rotating.error} />
      {making.data && <Secret made={making.data} onClose={making.reset} />}
      <ScrollCard label={words.accounts.tokens.tokens}>
        {tokens.data === undefined ? (
          <PendingView query={tokens} what={words.accounts.tokens.tokens2} />
        ) : tokens.data.tokens.length === 0 ? (
          <StateView
            state={{ kind: "empty", title: words.accounts.tokens.noTokensYet, next: words.accounts.tokens.createOneAboveSecret }}
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
          title={words.accounts.tokens.revokeToken}
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
          {words.accounts.tokens.revokeStopsWorkingOnce(<b>{revoking.name}</b>)}{" "}
          {kind === "agent" && words.accounts.tokens.agentsUseKeepTheir}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function Secret({ made, onClose }: { readonly made: NewToken; readonly onClose: () => void }) {
  return (
    <Alert
      color="green"
      title={words.accounts.tokens.tokenShownOnlyOnce(made.info.name)}
      withCloseButton
      closeButtonLabel={words.common.close}
      onClose={onClose}
    >
      <Stack gap="xs">
        <CopyBox text={made.token} what={words.accounts.tokens.theToken} />
        {made.command !== null && (
          <>
            <Text fz="sm">{words.accounts.tokens.installAgentToken}</Text>
            <CopyBox text={made.command} what={words.accounts.tokens.theCommand} />
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
    <Table aria-label={words.accounts.tokens.tokens}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.common.name}</Table.Th>
          <Table.Th>{kind === "agent" ? words.common.host : words.common.role}</Table.Th>
          <Table.Th>{words.common.created}</Table.Th>
          <Table.Th>{words.accounts.tokens.lastUsed}</Table.Th>
          <Table.Th>{words.common.state}</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tokens.map((token) => (
          <Table.Tr key={token.id}>
            <Table.Td fw={600}>{token.name}</Table.Td>
            <Table.Td>
              {kind === "agent" ? (token.host ?? words.accounts.tokens.any) : token.role === null ? "" : ROLE_LABELS[token.role]}
            </Table.Td>
            <Table.Td>
              <Instant at={fromApi(token.created_at)} zone={zone} />
            </Table.Td>
            <Table.Td>
              {token.last_used_at === null ? (
                <span className="soft">{words.accounts.tokens.never}</span>
              ) : (
                <Age at={fromApi(token.last_used_at)} now={now} zone={zone} />
              )}
            </Table.Td>
            <Table.Td>{words.joinTokens.tokenStates[tokenState(token, now)]}</Table.Td>
            <Table.Td className="number">
              {kind === "agent" && token.host !== null && tokenState(token, now) === "active" && (
                <Button
                  size="compact-xs"
                  variant="default"
                  mr={6}
                  title={words.joinTokens.rotateHelp}
                  aria-label={words.joinTokens.rotateOf(token.name)}
                  onClick={() => {
                    onRotate(token);
                  }}
                >
                  {words.joinTokens.rotate}
                </Button>
              )}
              {token.revoked_at === null && (
                <RevokeButton
                  label={words.accounts.tokens.revoke2(token.name)}
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
