import { Alert, Button, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { meQuery } from "../api/queries";
import {
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
  secondFactorQuery,
} from "../api/second_factor";
import type { Me, SecondFactorSetup, SecondFactorState } from "../logic/api";
import { CopyBox } from "./CopyBox";
import { FormDialog } from "./FormDialog";
import { ErrorLine, PendingView } from "./StateView";
import { words } from "../words";

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
          {words.secondFactor.title}
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
          <PendingView query={state} what={words.secondFactor.title} />
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

function CodeInput({
  value,
  onChange,
  label,
}: {
  readonly value: string;
  readonly onChange: (code: string) => void;
  readonly label: string;
}) {
  return (
    <TextInput
      label={label}
      autoComplete="one-time-code"
      maxLength={100}
      required
      data-autofocus
      value={value}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}

interface SetupProps {
  readonly me: Me;
  readonly isRequired: boolean;
  readonly onDone: (codes: readonly string[]) => Promise<void>;
}

function Setup({ me, isRequired, onDone }: SetupProps) {
  const [password, setPassword] = useState("");
  const beginning = useMutation({
    mutationFn: () => beginSecondFactor(me.has_password ? password : null),
    onSettled: () => {
      setPassword("");
    },
  });
  if (beginning.data !== undefined) {
    return <Confirmation setup={beginning.data} onDone={onDone} />;
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        beginning.mutate();
      }}
    >
      <Stack gap="sm">
        {isRequired && <Alert color="yellow">{words.secondFactor.required}</Alert>}
        <Text fz="sm">{words.secondFactor.help}</Text>
        {me.has_password && (
          <PasswordInput
            label={words.secondFactor.password}
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => {
              setPassword(event.currentTarget.value);
            }}
          />
        )}
        <ErrorLine error={beginning.error} />
        <Button type="submit" loading={beginning.isPending}>
          {words.secondFactor.setUp}
        </Button>
      </Stack>
    </form>
  );
}

function Confirmation({ setup, onDone }: { readonly setup: SecondFactorSetup; readonly onDone: SetupProps["onDone"] }) {
  const [code, setCode] = useState("");
  const confirming = useMutation({
    mutationFn: () => confirmSecondFactor(code),
    onSuccess: (made) => onDone(made.recovery_codes),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        confirming.mutate();
      }}
    >
      <Stack gap="sm">
        <Text fz="sm">{words.secondFactor.scan}</Text>
        <img
          src={`data:image/svg+xml;utf8,${encodeURIComponent(setup.qr_code)}`}
          alt={words.secondFactor.qrCode}
          width={220}
          height={220}
          style={{ alignSelf: "center" }}
        />
        <Text fz="sm">{words.secondFactor.type}</Text>
        <CopyBox text={setup.secret} what={words.secondFactor.theSecret} />
        <CodeInput value={code} onChange={setCode} label={words.secondFactor.firstCode} />
        <ErrorLine error={confirming.error} />
        <Button type="submit" loading={confirming.isPending}>
          {words.secondFactor.turnOn}
        </Button>
      </Stack>
    </form>
  );
}

function Codes({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  return (
    <Alert color="green" title={words.secondFactor.codesOnce}>
      <Stack gap="sm">
        <Text fz="sm">{words.secondFactor.codesHelp}</Text>
        <CopyBox text={codes.join("\n")} what={words.secondFactor.theCodes} />
        <Button onClick={onClose}>{words.secondFactor.stored}</Button>
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
  const [code, setCode] = useState("");
  const close = (): void => {
    setDialog(null);
    setCode("");
    renewing.reset();
    removing.reset();
  };
  const renewing = useMutation({ mutationFn: () => renewRecoveryCodes(code), onSuccess: (made) => onCodes(made.recovery_codes) });
  const removing = useMutation({
    mutationFn: () => removeSecondFactor(code),
    onSuccess: async () => {
      await onRemoved();
      setDialog(null);
    },
  });
  const pending = dialog === "codes" ? renewing : removing;
  return (
    <>
      <Text fz="sm">{words.secondFactor.isOn(state.n_recovery_codes)}</Text>
      <Group>
        <Button
          variant="default"
          onClick={() => {
            setDialog("codes");
          }}
        >
          {words.secondFactor.newCodes}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            setDialog("remove");
          }}
        >
          {words.secondFactor.turnOff}
        </Button>
      </Group>
      {dialog !== null && (
        <FormDialog
          title={dialog === "codes" ? words.secondFactor.newCodes : words.secondFactor.turnOff}
          action={dialog === "codes" ? words.secondFactor.newCodes : words.secondFactor.turnOff}
          isDangerous={dialog === "remove"}
          isReady={code.trim() !== ""}
          isPending={pending.isPending}
          error={pending.error}
          onSubmit={() => {
            pending.mutate();
          }}
          onClose={close}
        >
          <Text fz="sm">{dialog === "codes" ? words.secondFactor.newCodesHelp : words.secondFactor.turnOffHelp}</Text>
          <CodeInput value={code} onChange={setCode} label={words.secondFactor.code} />
        </FormDialog>
      )}
    </>
  );
}
