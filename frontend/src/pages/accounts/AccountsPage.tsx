import { Tabs, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { agentTokensQuery, apiTokensQuery } from "../../api/queries";
import { IgnoredNote } from "../../components/IgnoredNote";
import { useMe } from "../../components/me";
import { createAgentToken, createApiToken, revokeAgentToken, revokeApiToken } from "../../api/endpoints";
import { zoneOf } from "../../state/clock";
import { ACCOUNT_TABS, type AccountTab, decodeAccountsView, encodeAccountsView } from "../../state/url";
import { AgentTokenForm, ApiTokenForm } from "./TokenForms";
import { PasswordForm } from "./PasswordForm";
import { Tokens } from "./Tokens";
import { Users } from "./Users";

const LABELS: Readonly<Record<AccountTab, string>> = {
  me: "Your password",
  "api-tokens": "API tokens",
  "agent-tokens": "Agent tokens",
  users: "Accounts",
};
const FOR_ADMINISTRATORS: ReadonlySet<AccountTab> = new Set(["agent-tokens", "users"]);

/** The user's own password and API tokens; for administrators also agent tokens and accounts. */
export function AccountsPage() {
  useDocumentTitle("Accounts · normstat");
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeAccountsView(search), [search]);
  const navigate = useNavigate();
  const me = useMe();
  const zone = zoneOf(view.clock);
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
          <PasswordForm me={me} />
        </Tabs.Panel>
        <Tabs.Panel value="api-tokens">
          <Tokens
            kind="api"
            query={apiTokensQuery}
            zone={zone}
            help="For scripts: send the token as “Authorization: Bearer …”. A token acts for the account that created it, with the token's role or the account's, whichever is lower."
            create={createApiToken}
            revoke={revokeApiToken}
            form={(submit, isPending) => <ApiTokenForm me={me} isPending={isPending} onSubmit={submit} />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="agent-tokens">
          <Tokens
            kind="agent"
            query={agentTokensQuery}
            zone={zone}
            help="For agents: the token only allows sending data. After it is revoked, the agent keeps collecting and sends its data once it has a new token."
            create={createAgentToken}
            revoke={revokeAgentToken}
            form={(submit, isPending) => <AgentTokenForm isPending={isPending} onSubmit={submit} />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <Users zone={zone} me={me} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
