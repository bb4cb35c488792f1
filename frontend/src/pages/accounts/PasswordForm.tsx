import { api } from "../../api/client";
import { Alert, Button, Checkbox, Paper, PasswordInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";

import { meQuery } from "../../api/queries";
import { apiTokensQuery } from "../../api/accounts";
import { ErrorLine } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import { PASSWORD_HELP, passwordProblem } from "../../logic/account";
import type { Me } from "../../logic/api";

/** Changes the user's own password; the first one needs no old password. */
export function PasswordForm({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const { form, submission, saved } = useServerForm({
    initialValues: { old_password: "", new_password: "", again: "", revoke_api_tokens: true },
    validate: {
      new_password: passwordProblem,
      again: (text, { new_password }) => (text === new_password ? null : "passwords do not match"),
    },
    checksEarly: ["new_password", "again"],
    send: ({ old_password, new_password, revoke_api_tokens }) =>
      api.PUT("/auth/password", {
        body: {
          old_password: me.has_password ? old_password : null,
          new_password,
          // A first password replaces no password that might have been stolen.
          revoke_api_tokens: me.has_password && revoke_api_tokens,
        },
      }),
    // The change may have revoked them.
    renews: [apiTokensQuery.queryKey],
    onSaved: (changed, { resetField }) => {
      client.setQueryData(meQuery.queryKey, changed);
      for (const field of ["old_password", "new_password", "again"] as const) {
        resetField(field);
      }
    },
  });
  return (
    <Paper className="card" p="md" maw={420}>
      <form onSubmit={submission.onSubmit}>
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
              {...form.getInputProps("old_password")}
            />
          )}
          <PasswordInput
            label="New password"
            description={PASSWORD_HELP}
            autoComplete="new-password"
            required
            {...form.getInputProps("new_password")}
          />
          <PasswordInput label="Repeat password" autoComplete="new-password" required {...form.getInputProps("again")} />
          {me.has_password && (
            <Checkbox
              size="xs"
              label="Revoke the API tokens of this account"
              description="Scripts that use them will need new ones. Keep them only if no one else can have seen them."
              {...form.getInputProps("revoke_api_tokens", { type: "checkbox" })}
            />
          )}
          <ErrorLine error={submission.error} />
          {saved && form.values.new_password === "" && (
            <Alert color="green" py={6}>
              Password set.
            </Alert>
          )}
          <Button type="submit" loading={submission.isPending}>
            {me.has_password ? "Change password" : "Set password"}
          </Button>
        </Stack>
      </form>
    </Paper>
  );
}
