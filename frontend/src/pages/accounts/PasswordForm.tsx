import { api } from "../../api/client";
import { Alert, Button, Checkbox, Paper, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { meQuery } from "../../api/queries";
import { apiTokensQuery } from "../../api/accounts";
import { ErrorLine } from "../../components/StateView";
import { newPasswordProblem, PASSWORD_HELP } from "../../logic/account";
import type { Me } from "../../logic/api";

/** Changes the user's own password; the first one needs no old password. */
export function PasswordForm({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [isRevoking, setRevoking] = useState(true);
  const changing = useMutation({
    mutationFn: () =>
      api.PUT("/auth/password", {
        body: {
          old_password: me.has_password ? old : null,
          new_password: next,
          // A first password replaces no password that might have been stolen.
          revoke_api_tokens: me.has_password && isRevoking,
        },
      }),
    onSuccess: (changed) => {
      client.setQueryData(meQuery.queryKey, changed);
      setOld("");
      setNext("");
      setAgain("");
      // The change may have revoked them.
      return client.invalidateQueries({ queryKey: apiTokensQuery.queryKey });
    },
  });
  const problem = newPasswordProblem(next, again);
  return (
    <Paper className="card" p="md" maw={420}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          changing.mutate();
        }}
      >
        <Stack gap="sm">
          <Text fz="sm">
            {me.has_password
              ? "Changing the password logs out all other sessions of this account."
              : `Set a password for ${me.name} to log in without a one-time link.`}
          </Text>
          <input type="text" autoComplete="username" value={me.name} readOnly hidden />
          {me.has_password && (
            <PasswordInput
              label="Old password"
              autoComplete="current-password"
              required
              value={old}
              onChange={(event) => {
                setOld(event.currentTarget.value);
              }}
            />
          )}
          <PasswordInput
            label="New password"
            description={PASSWORD_HELP}
            autoComplete="new-password"
            required
            error={next === "" ? null : problem.next}
            value={next}
            onChange={(event) => {
              setNext(event.currentTarget.value);
            }}
          />
          <PasswordInput
            label="Repeat password"
            autoComplete="new-password"
            required
            error={again === "" ? null : problem.again}
            value={again}
            onChange={(event) => {
              setAgain(event.currentTarget.value);
            }}
          />
          {me.has_password && (
            <Checkbox
              size="xs"
              label="Revoke the API tokens of this account"
              description="Scripts that use them will need new ones. Keep them only if no one else can have seen them."
              checked={isRevoking}
              onChange={(event) => {
                setRevoking(event.currentTarget.checked);
              }}
            />
          )}
          <ErrorLine error={changing.error} />
          {changing.isSuccess && next === "" && (
            <Alert color="green" py={6}>
              Password set.
            </Alert>
          )}
          <Button type="submit" loading={changing.isPending} disabled={problem.next !== null || problem.again !== null}>
            {me.has_password ? "Change password" : "Set password"}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
