import { api } from "../api/client";
import { Alert, Button, Group, Paper, PasswordInput, Stack, Text, TextInput, type TextInputProps, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery } from "../api/queries";
import { secondFactorQuery } from "../api/accounts";
import type { Me, SecondFactorSetup, SecondFactorState } from "../logic/api";
import { CopyBox } from "./CopyBox";
import { FormDialog } from "./FormDialog";
import { ErrorLine, PendingView } from "./StateView";
import { useServerForm } from "./useServerForm";
import { counted } from "../logic/counted";

/** The second factor of one's own account: set up, recovery codes, off. */
export function SecondFactor({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const state = useQuery(secondFactorQuery);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: secondFactorQuery.queryKey });
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };
  return (
    <Paper className="card" p="md" maw={420}>
      <Stack gap="sm">
        <Title order={2} fz="md">
          Second factor
        </Title>
        {codes !== null ? (
          <Codes
            codes={codes}
            onClose={() => {
              setCodes(null);
              // Only now: the page may have waited for the second factor, and would replace the codes.
              void client.invalidateQueries({ queryKey: meQuery.queryKey });
            }}
          />
        ) : state.data === undefined ? (
          <PendingView query={state} what="Second factor" />
        ) : state.data.confirmed_at === null ? (
          <Setup
            me={me}
            isRequired={state.data.is_required}
            onDone={(made) => {
              setCodes(made);
              return renew();
            }}
          />
        ) : (
          <Active
            state={state.data}
            onCodes={(made) => {
              setCodes(made);
              return renew();
            }}
            onRemoved={async () => {
              await renew();
              await client.invalidateQueries({ queryKey: meQuery.queryKey });
            }}
          />
        )}
      </Stack>
    </Paper>
  );
}

function CodeInput(props: TextInputProps) {
  return <TextInput autoComplete="one-time-code" maxLength={100} required data-autofocus {...props} />;
}

interface SetupProps {
  readonly me: Me;
  readonly isRequired: boolean;
  readonly onDone: (codes: readonly string[]) => Promise<void>;
}

function Setup({ me, isRequired, onDone }: SetupProps) {
  const { form, submission, saved } = useServerForm({
    initialValues: { password: "" },
    send: ({ password }, { reset }) => {
      reset();
      return api.POST("/auth/second-factor", { body: { password: me.has_password ? password : null } });
    },
  });
  if (saved !== undefined) {
    return <Confirmation setup={saved} onDone={onDone} />;
  }
  return (
    <form onSubmit={submission.onSubmit}>
      <Stack gap="sm">
        {isRequired && (
          <Alert color="yellow">This server requires a second factor for your account. Set it up to continue.</Alert>
        )}
        <Text fz="sm">With an authenticator app on your phone, a stolen password alone does not open your account.</Text>
        {me.has_password && (
          <PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps("password")} />
        )}
        <ErrorLine error={submission.error} />
        <Button type="submit" loading={submission.isPending}>
          Set up…
        </Button>
      </Stack>
    </form>
  );
}

function Confirmation({ setup, onDone }: { readonly setup: SecondFactorSetup; readonly onDone: SetupProps["onDone"] }) {
  const { form, submission } = useServerForm({
    initialValues: { code: "" },
    send: (body) => api.POST("/auth/second-factor/confirmation", { body }),
    onSaved: (made) => onDone(made.recovery_codes),
  });
  return (
    <form onSubmit={submission.onSubmit}>
      <Stack gap="sm">
        <Text fz="sm">1. Scan this with an authenticator app:</Text>
        <img
          src={`data:image/svg+xml;utf8,${encodeURIComponent(setup.qr_code)}`}
          alt="QR code for the authenticator app"
          width={220}
          height={220}
          style={{ alignSelf: "center" }}
        />
        <Text fz="sm">or type this secret into it:</Text>
        <CopyBox text={setup.secret} what="the secret" />
        <CodeInput label="2. Code that the app shows" {...form.getInputProps("code")} />
        <ErrorLine error={submission.error} />
        <Button type="submit" loading={submission.isPending}>
          Turn on
        </Button>
      </Stack>
    </form>
  );
}

function Codes({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  return (
    <Alert color="green" title="Recovery codes (shown only once)">
      <Stack gap="sm">
        <Text fz="sm">If you lose your phone, each of these logs you in once. Store them with your passwords.</Text>
        <CopyBox text={codes.join("\n")} what="the recovery codes" />
        <Button onClick={onClose}>I have stored them</Button>
      </Stack>
    </Alert>
  );
}

interface ActiveProps {
  readonly state: SecondFactorState;
  readonly onCodes: (codes: readonly string[]) => Promise<void>;
  readonly onRemoved: () => Promise<void>;
}

function Active({ state, onCodes, onRemoved }: ActiveProps) {
  const [dialog, setDialog] = useState<"codes" | "remove" | null>(null);
  const close = (): void => {
    setDialog(null);
  };
  return (
    <>
      <Text fz="sm">{`Password logins also ask for a code from your authenticator app. ${counted(state.n_recovery_codes, "recovery code is", "recovery codes are")} left.`}</Text>
      <Group>
        <Button
          variant="default"
          onClick={() => {
            setDialog("codes");
          }}
        >
          New recovery codes
        </Button>
        <Button
          variant="default"
          onClick={() => {
            setDialog("remove");
          }}
        >
          Turn off
        </Button>
      </Group>
      {dialog === "codes" && (
        <CodeDialog
          title="New recovery codes"
          text="The old ones stop working."
          send={async (body) => {
            const made = await api.POST("/auth/second-factor/recovery-codes", { body });
            await onCodes(made.recovery_codes);
          }}
          onClose={close}
        />
      )}
      {dialog === "remove" && (
        <CodeDialog
          title="Turn off"
          isDangerous
          text="From then on your password alone is enough to log in."
          send={async (body) => {
            await api.POST("/auth/second-factor/removal", { body });
            await onRemoved();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

interface CodeDialogProps {
  readonly title: string;
  readonly text: string;
  readonly isDangerous?: boolean;
  readonly send: (body: { readonly code: string }) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a code before the second factor changes. */
function CodeDialog({ title, text, isDangerous = false, send, onClose }: CodeDialogProps) {
  const { form, submission } = useServerForm({ initialValues: { code: "" }, send, onSaved: onClose });
  return (
    <FormDialog {...submission} title={title} action={title} isDangerous={isDangerous} onClose={onClose}>
      <Text fz="sm">{text}</Text>
      <CodeInput label="Code" {...form.getInputProps("code")} />
    </FormDialog>
  );
}
