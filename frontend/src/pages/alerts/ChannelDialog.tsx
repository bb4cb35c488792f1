import { Checkbox, Group, NumberInput, PasswordInput, Select, TagsInput, TextInput, Textarea } from "@mantine/core";
import { isNotEmpty, type UseFormReturnType } from "@mantine/form";
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
import { useServerForm } from "../../components/useServerForm";

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
  const { form, submission } = useServerForm({
    initialValues: toChannelForm(channel),
    validate: { name: isNotEmpty("Enter a name") },
    send: (values) =>
      saveChannel(channel?.id ?? null, {
        name: values.name.trim(),
        is_enabled: values.is_enabled,
        settings: toChannelSettings(values),
      }),
    renews: [["alerts"]],
    onSaved: onClose,
  });
  return (
    <FormDialog {...submission} size="lg" title={channel === null ? "New channel" : `Edit ${channel.name}`} onClose={onClose}>
      <Group gap="xs" grow align="flex-start">
        <NameField {...form.getInputProps("name")} />
        <Select
          label="Kind"
          allowDeselect={false}
          disabled={channel !== null}
          data={CHANNEL_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))}
          {...form.getInputProps("kind")}
        />
      </Group>
      <KindFields form={form} stored={channel?.secrets ?? []} scripts={scripts} />
      <Checkbox label="Sends messages" {...form.getInputProps("is_enabled", { type: "checkbox" })} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: UseFormReturnType<ChannelForm>;
  /** The names of the secrets that are stored. */
  readonly stored: readonly string[];
  readonly scripts: readonly string[];
}

function KindFields(props: FieldsProps) {
  const { form, scripts } = props;
  const { kind, labels, script } = form.values;
  switch (kind) {
    case "email":
      return <MailFields {...props} />;
    case "chat":
      return (
        <>
          <Select
            label="Format"
            allowDeselect={false}
            data={CHAT_FORMATS.map((value) => ({ value, label: ALERTS_CHAT_FORMATS[value] }))}
            {...form.getInputProps("format")}
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
            {...form.getInputProps("template")}
          />
        </>
      );
    case "alertmanager":
      return (
        <>
          <TextInput label="URL" required placeholder="https://alertmanager.example.org:9093" {...form.getInputProps("url")} />
          <SecretInput name="authorization" label="Header Authorization (optional)" {...props} />
          <TagsInput
            label="Labels added to each alert"
            placeholder={labels.length === 0 ? "team=dba" : ""}
            {...form.getInputProps("labels")}
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
          data={[...new Set([...scripts, ...(script === null ? [] : [script])])]}
          {...form.getInputProps("script")}
        />
      );
  }
}

function MailFields(props: FieldsProps) {
  const { form } = props;
  return (
    <>
      <Group gap="xs" align="flex-start" wrap="wrap">
        <TextInput
          style={{ flex: 1, minWidth: 160 }}
          label="Mail server"
          required
          placeholder="mail.example.org"
          {...form.getInputProps("server")}
        />
        <NumberInput w={90} label="Port" required min={1} max={65_535} allowDecimal={false} {...form.getInputProps("port")} />
        <Select
          w={150}
          label="Security"
          allowDeselect={false}
          data={MAIL_SECURITIES.map((value) => ({ value, label: SECURITIES[value] }))}
          {...form.getInputProps("security")}
        />
      </Group>
      <Group gap="xs" grow align="flex-start">
        <TextInput label="Username" autoComplete="off" {...form.getInputProps("username")} />
        <SecretInput name="password" label="Password" {...props} />
      </Group>
      <TextInput label="Sender" required placeholder="normstat@example.org" {...form.getInputProps("sender")} />
      <TagsInput
        label="Recipients"
        required
        splitChars={[",", " ", ";"]}
        placeholder={form.values.recipients.length === 0 ? "oncall@example.org" : ""}
        {...form.getInputProps("recipients")}
      />
    </>
  );
}

interface SecretInputProps extends FieldsProps {
  readonly name: "password" | "url" | "authorization";
  readonly label: string;
}

/** A secret: what is stored is never shown. It stays until another one is typed, or until it is removed where it is optional. */
function SecretInput({ name, label, form, stored }: SecretInputProps) {
  const { removed } = form.values;
  const optional = OPTIONAL_SECRETS.find((known) => known === name);
  const isStored = stored.includes(name);
  const isRemoved = optional !== undefined && removed.includes(optional);
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
        {...form.getInputProps(name)}
      />
      {isStored && optional !== undefined && (
        <button
          type="button"
          className="text-button"
          aria-label={isRemoved ? `Keep it: ${label}` : `Remove it: ${label}`}
          onClick={() => {
            const others = removed.filter((each) => each !== optional);
            form.setValues({ [name]: "", removed: isRemoved ? others : [...others, optional] });
          }}
        >
          {isRemoved ? "Keep it" : "Remove it"}
        </button>
      )}
    </div>
  );
}
