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
import type { AlertChannelInfo, ServiceInfo } from "../../logic/api";
import { NameField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";

const ALERTS_CHAT_FORMATS = { slack: "Slack", mattermost: "Mattermost", teams: "Microsoft Teams" };

const SECURITIES = { starttls: "STARTTLS", tls: "TLS", none: "none" };

interface ChannelDialogProps {
  /** Null: a new one. */
  readonly channel: AlertChannelInfo | null;
  readonly scripts: readonly string[];
  readonly services: readonly ServiceInfo[];
  readonly onClose: () => void;
}

/** Creates or changes a channel. */
export function ChannelDialog({ channel, scripts, services, onClose }: ChannelDialogProps) {
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
      <KindFields form={form} stored={channel?.secrets ?? []} scripts={scripts} services={services} />
      <Checkbox label="Sends messages" {...form.getInputProps("is_enabled", { type: "checkbox" })} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: UseFormReturnType<ChannelForm>;
  /** The names of the secrets that are stored. */
  readonly stored: readonly string[];
  readonly scripts: readonly string[];
  readonly services: readonly ServiceInfo[];
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
    case "service":
      return <ServiceFields {...props} />;
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

/** The fields of a service, as the server describes it. Another service begins with its own URL and without a target. */
function ServiceFields(props: FieldsProps) {
  const { form, services } = props;
  const chosen = services.find(({ name }) => name === form.values.service);
  return (
    <>
      <Select
        label="Service"
        required
        allowDeselect={false}
        data={services.map(({ name, label }) => ({ value: name, label }))}
        value={form.values.service}
        onChange={(name) => {
          const next = services.find((each) => each.name === name);
          if (next !== undefined) {
            form.setValues({ service: next.name, url: next.url, target: "" });
          }
        }}
        error={form.errors["service"]}
      />
      {chosen !== undefined && (
        <>
          <SecretInput
            name="key"
            label={chosen.key.is_optional ? `${chosen.key.label} (optional)` : chosen.key.label}
            hint={chosen.key.help}
            isNeeded={!chosen.key.is_optional}
            {...props}
          />
          {chosen.target !== null && (
            <TextInput label={chosen.target.label} required description={chosen.target.help} {...form.getInputProps("target")} />
          )}
          <TextInput
            label="URL"
            required
            description="Change it for another region or for your own server."
            {...form.getInputProps("url")}
          />
        </>
      )}
    </>
  );
}

interface SecretInputProps extends FieldsProps {
  readonly name: "password" | "url" | "authorization" | "key";
  readonly label: string;
  /** What to enter, where none is stored. */
  readonly hint?: string;
  /** A channel does not work without it, so it cannot be removed. */
  readonly isNeeded?: boolean;
}

/** A secret: what is stored is never shown. It stays until another one is typed, or until it is removed where it is optional. */
function SecretInput({ name, label, hint, isNeeded = false, form, stored }: SecretInputProps) {
  const { removed } = form.values;
  const optional = isNeeded ? undefined : OPTIONAL_SECRETS.find((known) => known === name);
  const isStored = stored.includes(name);
  const isRemoved = optional !== undefined && removed.includes(optional);
  const state = isRemoved
    ? "The stored one is removed when you save."
    : isStored
      ? "One is stored; leave empty to keep it."
      : (hint ?? null);
  return (
    <div>
      <PasswordInput
        label={label}
        autoComplete="new-password"
        {...(state === null ? {} : { description: state })}
        withAsterisk={isNeeded && !isStored}
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
