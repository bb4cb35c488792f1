import { Checkbox, Group, NumberInput, PasswordInput, Select, TagsInput, TextInput, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { saveChannel } from "../../api/alerts";
import { FormDialog } from "../../components/FormDialog";
import {
  CHANNEL_KINDS,
  type ChannelForm,
  CHAT_FORMATS,
  KIND_LABELS,
  MAIL_SECURITIES,
  OPTIONAL_SECRETS,
  toChannelForm,
  toChannelSettings,
} from "../../logic/alert";
import type { AlertChannelInfo } from "../../logic/api";
import { NameField } from "../../components/NameAndNote";

const ALERTS_CHAT_FORMATS = { slack: "Slack", mattermost: "Mattermost", teams: "Microsoft Teams" };

const SECURITIES = { starttls: "STARTTLS", tls: "TLS", none: "none" };

interface ChannelDialogProps {
  /** Null: a new one. */
  readonly channel: AlertChannelInfo | null;
  readonly scripts: readonly string[];
  readonly onClose: () => void;
}

/** Creates or changes a channel. */
export function ChannelDialog({ channel, scripts, onClose }: ChannelDialogProps) {
  const client = useQueryClient();
  const [form, setForm] = useState(() => toChannelForm(channel));
  const change = (part: Partial<ChannelForm>): void => {
    setForm({ ...form, ...part });
  };
  const saving = useMutation({
    mutationFn: () =>
      saveChannel(channel?.id ?? null, { name: form.name.trim(), is_enabled: form.isEnabled, settings: toChannelSettings(form) }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["alerts"] });
      onClose();
    },
  });
  return (
    <FormDialog
      size="lg"
      title={channel === null ? "New channel" : `Edit ${channel.name}`}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <Group gap="xs" grow>
        <NameField
          value={form.name}
          onChange={(value) => {
            change({ name: value });
          }}
        />
        <Select
          label="Kind"
          allowDeselect={false}
          disabled={channel !== null}
          value={form.kind}
          data={CHANNEL_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))}
          onChange={(kind) => {
            change({ kind: CHANNEL_KINDS.find((known) => known === kind) ?? "email" });
          }}
        />
      </Group>
      <KindFields form={form} stored={channel?.secrets ?? []} scripts={scripts} onChange={change} />
      <Checkbox
        label="Sends messages"
        checked={form.isEnabled}
        onChange={(event) => {
          change({ isEnabled: event.currentTarget.checked });
        }}
      />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: ChannelForm;
  /** The names of the secrets that are stored. */
  readonly stored: readonly string[];
  readonly scripts: readonly string[];
  readonly onChange: (part: Partial<ChannelForm>) => void;
}

function KindFields(props: FieldsProps) {
  const { form, scripts, onChange } = props;
  switch (form.kind) {
    case "email":
      return <MailFields {...props} />;
    case "chat":
      return (
        <>
          <Select
            label="Format"
            allowDeselect={false}
            value={form.format}
            data={CHAT_FORMATS.map((value) => ({ value, label: ALERTS_CHAT_FORMATS[value] }))}
            onChange={(format) => {
              onChange({ format: CHAT_FORMATS.find((known) => known === format) ?? "slack" });
            }}
          />
          <SecretInput name="url" label="URL of the incoming webhook" {...props} />
        </>
      );
    case "webhook":
      return (
        <>
          <SecretInput name="url" label="URL" {...props} />
          <SecretInput name="authorization" label="Header Authorization (optional)" {...props} />
          <Textarea
            label="Body (optional)"
            description={"JSON with {words} in its strings; empty: the whole message as JSON."}
            autosize
            minRows={3}
            maxRows={12}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12 } }}
            value={form.template}
            onChange={(event) => {
              onChange({ template: event.currentTarget.value });
            }}
          />
        </>
      );
    case "alertmanager":
      return (
        <>
          <TextInput
            label="URL"
            required
            placeholder="https://alertmanager.example.org:9093"
            value={form.url}
            onChange={(event) => {
              onChange({ url: event.currentTarget.value });
            }}
          />
          <SecretInput name="authorization" label="Header Authorization (optional)" {...props} />
          <TagsInput
            label="Labels added to each alert"
            placeholder={form.labels.length === 0 ? "team=dba" : ""}
            value={[...form.labels]}
            onChange={(labels) => {
              onChange({ labels });
            }}
          />
        </>
      );
    case "script":
      return (
        <Select
          label="Script"
          description={
            scripts.length === 0
              ? "This server allows none: its administrator sets NORMSTAT_ALERT_SCRIPTS_DIR."
              : "Gets the message as JSON on its standard input."
          }
          required
          value={form.script === "" ? null : form.script}
          data={[...new Set([...scripts, ...(form.script === "" ? [] : [form.script])])]}
          onChange={(script) => {
            onChange({ script: script ?? "" });
          }}
        />
      );
  }
}

function MailFields(props: FieldsProps) {
  const { form, onChange } = props;
  return (
    <>
      <Group gap="xs" align="flex-start" wrap="wrap">
        <TextInput
          style={{ flex: 1, minWidth: 160 }}
          label="Mail server"
          required
          placeholder="mail.example.org"
          value={form.server}
          onChange={(event) => {
            onChange({ server: event.currentTarget.value });
          }}
        />
        <NumberInput
          w={90}
          label="Port"
          required
          min={1}
          max={65_535}
          allowDecimal={false}
          value={form.port}
          onChange={(port) => {
            onChange({ port: Number(port) });
          }}
        />
        <Select
          w={150}
          label="Security"
          allowDeselect={false}
          value={form.security}
          data={MAIL_SECURITIES.map((value) => ({ value, label: SECURITIES[value] }))}
          onChange={(security) => {
            onChange({ security: MAIL_SECURITIES.find((known) => known === security) ?? "starttls" });
          }}
        />
      </Group>
      <Group gap="xs" grow align="flex-start">
        <TextInput
          label="Username"
          autoComplete="off"
          value={form.username}
          onChange={(event) => {
            onChange({ username: event.currentTarget.value });
          }}
        />
        <SecretInput name="password" label="Password" {...props} />
      </Group>
      <TextInput
        label="Sender"
        required
        placeholder="normstat@example.org"
        value={form.sender}
        onChange={(event) => {
          onChange({ sender: event.currentTarget.value });
        }}
      />
      <TagsInput
        label="Recipients"
        required
        splitChars={[",", " ", ";"]}
        placeholder={form.recipients.length === 0 ? "oncall@example.org" : ""}
        value={[...form.recipients]}
        onChange={(recipients) => {
          onChange({ recipients });
        }}
      />
    </>
  );
}

interface SecretInputProps extends FieldsProps {
  readonly name: "password" | "url" | "authorization";
  readonly label: string;
}

/** A secret: what is stored is never shown. It stays until another one is typed, or until it is removed where it is optional. */
function SecretInput({ name, label, form, stored, onChange }: SecretInputProps) {
  const optional = OPTIONAL_SECRETS.find((known) => known === name);
  const isStored = stored.includes(name);
  const isRemoved = optional !== undefined && form.removed.includes(optional);
  const state = isRemoved
    ? "The stored one is removed when you save."
    : isStored
      ? "One is stored; leave empty to keep it."
      : null;
  return (
    <div>
      <PasswordInput
        label={label}
        autoComplete="new-password"
        {...(state === null ? {} : { description: state })}
        disabled={isRemoved}
        value={form[name]}
        onChange={(event) => {
          onChange({ [name]: event.currentTarget.value });
        }}
      />
      {isStored && optional !== undefined && (
        <button
          type="button"
          className="text-button"
          aria-label={isRemoved ? `Keep it: ${label}` : `Remove it: ${label}`}
          onClick={() => {
            const others = form.removed.filter((each) => each !== optional);
            onChange({ [name]: "", removed: isRemoved ? others : [...others, optional] });
          }}
        >
          {isRemoved ? "Keep it" : "Remove it"}
        </button>
      )}
    </div>
  );
}
