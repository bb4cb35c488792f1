import { Alert, Button, Code, Divider, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api, ApiError } from "../../api/client";

import { loginMethodsQuery, providerLoginAddress } from "../../api/accounts";
import { meQuery } from "../../api/queries";
import { ErrorLine, StateView } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import type { Me } from "../../logic/api";
import { takeLoginToken } from "../../state/url";
import { nodes } from "../../components/nodes";

const SIGN_ON_PROBLEMS = {
  expired: "It took too long, or began in another browser. Try again.",
  denied: "The login provider did not let you in.",
  failed: "The login provider's answer was refused. Try again; the server's log has the reason.",
  unavailable: "The login provider does not answer, or not as expected. The server's log has the reason.",
  no_group: "None of your groups may use normstat. Ask an administrator for a group.",
  disabled: "This account is disabled. An administrator can enable it.",
  busy: "Too many failed logins from your address. Try again in a minute.",
};

/** Return the path to open after the login: only paths of this app, so that a link cannot redirect elsewhere. */
function safeNext(next: unknown): string {
  return typeof next === "string" && /^\/(?![/\\])/.test(next) && !next.startsWith("/login") ? next : "/hosts";
}

function useOpenAfterLogin(): (me: Me) => void {
  const router = useRouter();
  const client = useQueryClient();
  const search = useSearch({ strict: false });
  return (me) => {
    client.clear();
    client.setQueryData(meQuery.queryKey, me);
    router.history.replace(safeNext(search["next"]));
  };
}

/** Login by name and password, or by a one-time link (`/login#token=...`). */
export function LoginPage() {
  useDocumentTitle("Log in · normstat");
  const enter = useOpenAfterLogin();
  const link = useMutation({ mutationFn: (token: string) => api.POST("/auth/link", { body: { token } }), onSuccess: enter });
  const { mutate } = link;
  const isSent = useRef(false);
  useEffect(() => {
    // React runs effects twice in development, but the token works only once.
    const token = isSent.current ? null : takeLoginToken();
    if (token !== null) {
      isSent.current = true;
      mutate(token);
    }
  }, [mutate]);

  return (
    <main className="page">
      <Paper withBorder p="xl" maw={400} mx="auto" mt="10vh">
        <Group gap={10} mb="md">
          <img src="/icon.svg" alt="" width={30} height={30} />
          <Title order={1}>normstat</Title>
        </Group>
        {link.isPending ? (
          <StateView state={{ kind: "loading", what: "your account" }} />
        ) : (
          <LoginForm onEnter={enter} linkError={link.error} />
        )}
      </Paper>
    </main>
  );
}

function LinkProblem({ error }: { readonly error: Error }) {
  const isUsed = error instanceof ApiError && [401, 404, 409].includes(error.status);
  return (
    <Alert color="yellow" title={isUsed ? "This login link has expired or was already used" : "The login link could not be used"}>
      <Text fz="sm">
        {isUsed
          ? "A login link works once and for a limited time. Log in with your password, or create a new link on the server:"
          : error.message}
      </Text>
      {isUsed && (
        <Code block mt={6}>
          normstat login-link
        </Code>
      )}
    </Alert>
  );
}

const PROBLEMS: ReadonlyMap<unknown, string> = new Map(Object.entries(SIGN_ON_PROBLEMS));

/** The way in by the login provider, where there is one, and what went wrong there. */
function ProviderLogin() {
  const methods = useQuery(loginMethodsQuery);
  const search = useSearch({ strict: false });
  const problem = PROBLEMS.get(search["problem"]);
  const provider = methods.data?.provider ?? null;
  return (
    <>
      {problem !== undefined && (
        <Alert color="yellow" title="The login did not work">
          {problem}
        </Alert>
      )}
      {provider !== null && (
        <>
          <Button component="a" href={providerLoginAddress(safeNext(search["next"]))} size="sm" variant="default">
            {`Log in by ${provider}`}
          </Button>
          <Divider label="or by password" />
        </>
      )}
    </>
  );
}

function LoginForm({ onEnter, linkError }: { readonly onEnter: (me: Me) => void; readonly linkError: Error | null }) {
  const [isAsked, setAsked] = useState(false);
  const { form, submission } = useServerForm({
    initialValues: { name: "", password: "", code: "" },
    send: ({ code, ...account }) =>
      api.POST("/auth/login", { body: { ...account, code: isAsked ? code : null } }).catch((error: unknown) => {
        setAsked(isAsked || (error instanceof ApiError && error.code === "second_factor_needed"));
        throw error;
      }),
    onSaved: (me) => {
      onEnter(me);
    },
  });
  const { error, isPending, onSubmit } = submission;
  // The first time it is a question, not an error.
  const isQuestion = error instanceof ApiError && error.details["reason"] === "missing";
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        {linkError && <LinkProblem error={linkError} />}
        <ProviderLogin />
        <TextInput
          label="Name"
          autoComplete="username"
          required
          data-autofocus
          readOnly={isAsked}
          {...form.getInputProps("name")}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          readOnly={isAsked}
          {...form.getInputProps("password")}
        />
        {isAsked && (
          <TextInput
            label="Code"
            description="From your authenticator app, or one of your recovery codes"
            autoComplete="one-time-code"
            maxLength={100}
            required
            autoFocus
            {...form.getInputProps("code")}
          />
        )}
        <ErrorLine error={isQuestion ? null : error} />
        <Button type="submit" size="sm" loading={isPending}>
          Log in
        </Button>
        <Text fz="xs" className="soft">
          {nodes`No account yet? The first administrator logs in with the one-time link that the server prints at startup, or with a link from ${<Code>normstat login-link</Code>}. Administrators create the other accounts.`}
        </Text>
      </Stack>
    </form>
  );
}
