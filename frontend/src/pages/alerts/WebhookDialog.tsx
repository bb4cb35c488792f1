import { Checkbox, PasswordInput, SimpleGrid } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { saveWebhook, WEBHOOKS_KEY } from "../../api/webhooks";
import { FormDialog } from "../../components/FormDialog";
import { NameField } from "../../components/NameAndNote";
import type { Topic, WebhookInfo } from "../../logic/api";
import { chooseTopics, TOPIC_WORDS, toWebhookForm, toWebhookPut, type WebhookForm } from "../../logic/webhook";

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
  const [form, setForm] = useState(() => toWebhookForm(webhook));
  const change = (part: Partial<WebhookForm>): void => {
    setForm({ ...form, ...part });
  };
  const isNew = webhook === null;
  const saving = useMutation({
    mutationFn: () => saveWebhook(webhook?.id ?? null, toWebhookPut(form)),
    onSuccess: async (saved) => {
      // First of all: the key is told once, even if the list cannot be asked for.
      onSaved(saved);
      await client.invalidateQueries({ queryKey: WEBHOOKS_KEY });
      onClose();
    },
  });
  return (
    <FormDialog
      size="lg"
      title={isNew ? "New webhook" : `Edit ${webhook.name}`}
      isReady={form.topics.length > 0}
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <NameField
        value={form.name}
        onChange={(name) => {
          change({ name });
        }}
      />
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
        value={form.url}
        onChange={(event) => {
          change({ url: event.currentTarget.value });
        }}
      />
      <Checkbox.Group
        label="Tell it when"
        description="Choose at least one."
        value={[...form.topics]}
        onChange={(chosen) => {
          change({ topics: chooseTopics(chosen, topics) });
        }}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" verticalSpacing="xs" mt="xs">
          {topics.map((topic) => (
            <Checkbox key={topic} value={topic} label={TOPIC_WORDS[topic].label} description={TOPIC_WORDS[topic].help} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Checkbox
        label="Sends messages"
        description="Off: nothing is sent, and what waits is given up."
        checked={form.isEnabled}
        onChange={(event) => {
          change({ isEnabled: event.currentTarget.checked });
        }}
      />
      {!isNew && (
        <Checkbox
          label="Make a new signing key"
          description="It is shown once. The old one is not used any more, so the receiver needs the new one at once."
          checked={form.renewsKey}
          onChange={(event) => {
            change({ renewsKey: event.currentTarget.checked });
          }}
        />
      )}
    </FormDialog>
  );
}
