import type { AgentTokenCreate, ApiTokenCreate } from "../../logic/api";
import { api } from "../../api/client";
import { Group, Tabs, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { agentTokensQuery, apiTokensQuery } from "../../api/accounts";
import { IgnoredNote } from "../../components/IgnoredNote";
import { SecondFactor } from "../../components/SecondFactor";
import { useMe } from "../../components/me";
import { useZone } from "../../components/zone";

import { ACCOUNT_TABS, type AccountTab, decodeAccountsView, encodeAccountsView } from "../../state/url";
import { AuditLog } from "./AuditLog";
import { JoinTokens } from "./JoinTokens";
import { AgentTokenForm, ApiTokenForm } from "./TokenForms";
import { PasswordForm } from "./PasswordForm";
import { Sessions } from "./Sessions";
import { Tokens } from "./Tokens";
import { Users } from "./Users";

const LABELS: Readonly<Record<AccountTab, string>> = {
  me: "Password and second factor",
  sessions: "Sessions",
  "api-tokens": "API tokens",
  "agent-tokens": "Agent tokens",
  users: "Accounts",
  audit: "Audit log",
};
const FOR_ADMINISTRATORS: ReadonlySet<AccountTab> = new Set(["agent-tokens", "users", "audit"]);

/** The user's own password, sessions and API tokens; for administrators also agent tokens and accounts. */
export function AccountsPage() {
  useDocumentTitle("Accounts · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeAccountsView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const zone = useZone(view.clock);
  const tabs = ACCOUNT_TABS.filter((tab) => me.role === "administrator" || !FOR_ADMINISTRATORS.has(tab));
  return (
    <div className="page page-narrow">
      <IgnoredNote ignored={ignored} />
      <Title order={1} mb="sm">
        Accounts and tokens
      </Title>
      <Tabs
        keepMounted={false}
        value={tabs.includes(view.tab) ? view.tab : "me"}
        onChange={(tab) => {
          void navigate({
            to: "/accounts",
            search: encodeAccountsView({ ...view, tab: ACCOUNT_TABS.find((known) => known === tab) ?? "me" }),
          });
        }}
      >
        <Tabs.List mb="md">
          {tabs.map((tab) => (
            <Tabs.Tab key={tab} value={tab}>
              {LABELS[tab]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="me">
          {me.is_from_provider ? (
            <Text>{"Your account logs in at the company's login provider, which has your password and second factor."}</Text>
          ) : (
            <Group align="flex-start" gap="md">
              <PasswordForm me={me} />
              <SecondFactor me={me} />
            </Group>
          )}
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <Sessions account={null} zone={zone} />
        </Tabs.Panel>
        <Tabs.Panel value="api-tokens">
          <Tokens
            kind="api"
            query={apiTokensQuery}
            zone={zone}
            help="For scripts: send the token as “Authorization: Bearer …”. A token acts for the account that created it, with the token's role or the account's, whichever is lower."
            create={(body: ApiTokenCreate) => api.POST("/api-tokens", { body })}
            revoke={(id: number) => api.DELETE("/api-tokens/{id}", { params: { path: { id } } })}
            form={(send) => <ApiTokenForm me={me} send={send} />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="agent-tokens">
          <JoinTokens zone={zone} />
          <Title order={2} mb="sm">
            Agent tokens
          </Title>
          <Tokens
            kind="agent"
            query={agentTokensQuery}
            zone={zone}
            help="For agents: the token only allows sending data. After it is revoked, the agent keeps collecting and sends its data once it has a new token."
            create={(body: AgentTokenCreate) => api.POST("/agent-tokens", { body })}
            revoke={(id: number) => api.DELETE("/agent-tokens/{id}", { params: { path: { id } } })}
            rotate={(id: number) => api.POST("/agent-tokens/{id}/rotation", { params: { path: { id } }, body: {} })}
            form={(send) => <AgentTokenForm send={send} />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <Users zone={zone} me={me} />
        </Tabs.Panel>
        <Tabs.Panel value="audit">
          <AuditLog
            zone={zone}
            filter={view.filter}
            onlyRefused={view.onlyRefused}
            onFilter={(change) => {
              void navigate({ to: "/accounts", search: encodeAccountsView({ ...view, ...change }), replace: true });
            }}
          />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
