import { Checkbox, PasswordInput, SimpleGrid } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { saveWebhook, WEBHOOKS_KEY } from "../../api/webhooks";
import { FormDialog } from "../../components/FormDialog";
import { NameField } from "../../components/NameAndNote";
import { useServerForm } from "../../components/useServerForm";
import type { Topic, WebhookInfo } from "../../logic/api";
import { TOPIC_WORDS, toWebhookForm, toWebhookPut } from "../../logic/webhook";

interface WebhookDialogProps {
  /** Null: a new one. */
  readonly webhook: WebhookInfo | null;
  /** All that a webhook can be told of. */
  readonly topics: readonly Topic[];
  /** Called with the signing key where there is a new one. */
  readonly onSaved: (webhook: WebhookInfo) => void;
  readonly onClose: () => void;
}

/** Creates or changes a webhook. */
export function WebhookDialog({ webhook, topics, onSaved, onClose }: WebhookDialogProps) {
  const client = useQueryClient();
  const isNew = webhook === null;
  const { form, submission } = useServerForm({
    initialValues: toWebhookForm(webhook),
    validate: { name: isNotEmpty("Enter a name"), topics: isNotEmpty("Choose at least one") },
    send: (values) => saveWebhook(webhook?.id ?? null, toWebhookPut(values, topics)),
    onSaved: async (saved) => {
      // First of all: the key is shown once, even if the list cannot be asked for.
      onSaved(saved);
      await client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
      onClose();
    },
  });
  return (
    <FormDialog {...submission} size="lg" title={isNew ? "New webhook" : `Edit ${webhook.name}`} onClose={onClose}>
      <NameField {...form.getInputProps("name")} />
      <PasswordInput
        label="URL"
        description={
          isNew
            ? "Begins with http:// or https://. It is stored and never shown again."
            : "One is stored; leave empty to keep it. A new URL gets a new signing key."
        }
        autoComplete="new-password"
        placeholder="https://bot.example.org/normstat"
        required={isNew}
        withAsterisk={false}
        {...form.getInputProps("url")}
      />
      <Checkbox.Group label="Send when" {...form.getInputProps("topics")}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" verticalSpacing="xs" mt="xs">
          {topics.map((topic) => (
            <Checkbox key={topic} value={topic} label={TOPIC_WORDS[topic].label} description={TOPIC_WORDS[topic].help} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Checkbox
        label="Sends messages"
        description="Off: nothing is sent, and waiting messages are dropped."
        {...form.getInputProps("is_enabled", { type: "checkbox" })}
      />
      {!isNew && (
        <Checkbox
          label="Make a new signing key"
          description="It is shown once. The old one is not used any more, so the receiver needs the new one at once."
          {...form.getInputProps("renews_key", { type: "checkbox" })}
        />
      )}
    </FormDialog>
  );
}
