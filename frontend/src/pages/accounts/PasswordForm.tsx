import { Alert, Button, Checkbox, Paper, PasswordInput, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changePassword } from "../../api/endpoints";
import { apiTokensQuery, meQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import { newPasswordProblem, PASSWORD_HELP } from "../../logic/account";
import type { Me } from "../../logic/api";
import { words } from "../../words";

/** Changes the user's own password; the first one needs no old password. */
export function PasswordForm({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [isRevoking, setRevoking] = useState(true);
  const changing = useMutation({
    mutationFn: () =>
      changePassword({
        old_password: me.has_password ? old : null,
        new_password: next,
        // A first password replaces no password that might have been stolen.
        revoke_api_tokens: me.has_password && isRevoking,
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
              ? words.accounts.passwordForm.changingPasswordLogsOut
              : words.accounts.passwordForm.setPasswordLogWithout(me.name)}
          </Text>
          <input type="text" autoComplete="username" value={me.name} readOnly hidden />
          {me.has_password && (
            <PasswordInput
              label={words.accounts.passwordForm.oldPassword}
              autoComplete="current-password"
              required
              value={old}
              onChange={(event) => {
                setOld(event.currentTarget.value);
              }}
            />
          )}
          <PasswordInput
            label={words.accounts.passwordForm.newPassword}
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
            label={words.accounts.passwordForm.repeatPassword}
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
              label={words.accounts.passwordForm.revokeApiTokensAccount}
              description={words.accounts.passwordForm.scriptsUseThemWill}
              checked={isRevoking}
              onChange={(event) => {
                setRevoking(event.currentTarget.checked);
              }}
            />
          )}
          <ErrorLine error={changing.error} />
          {changing.isSuccess && next === "" && (
            <Alert color="green" py={6}>
              {words.accounts.passwordForm.passwordSet}
            </Alert>
          )}
          <Button type="submit" loading={changing.isPending} disabled={problem.next !== null || problem.again !== null}>
            {me.has_password ? words.accounts.passwordForm.changePassword : words.accounts.passwordForm.setPassword}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
