import { api } from "../../api/client";
import { Button, Group, Paper, Tabs, Text, Textarea, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { specsQuery, statsQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import { ColumnsTable } from "./ColumnsTable";
import { Preview } from "./Preview";
import { UnsavedChanges } from "../../components/UnsavedChanges";

const SETTLE_MS = 500;

interface SpecEditorProps {
  readonly name: string;
  readonly toml: string;
  readonly sample: string;
}

/** Edits a spec as a table of columns or as TOML text, with a preview of the sample. */
export function SpecEditor({ name, toml: given, sample }: SpecEditorProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [toml, setToml] = useState(given);
  const [settledToml] = useDebouncedValue(toml, SETTLE_MS);
  const [settledSample] = useDebouncedValue(sample, SETTLE_MS);
  const [isSaved, setSaved] = useState(false);
  const saving = useMutation({
    mutationFn: () => api.PUT("/specs/{name}", { body: { toml }, params: { path: { name } } }),
    onSuccess: () => {
      setSaved(true);
      void client.invalidateQueries({ queryKey: specsQuery.queryKey });
      void client.invalidateQueries({ queryKey: statsQuery.queryKey });
      void navigate({ to: "/specs/$spec", params: { spec: name }, search: {}, ignoreBlocker: true });
    },
  });
  return (
    <>
      <Paper className="card" p="md" mb="md">
        <Tabs defaultValue="columns" keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="columns">Columns</Tabs.Tab>
            <Tabs.Tab value="text">Text (TOML)</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="columns">
            <ColumnsTable toml={toml} onChange={setToml} />
          </Tabs.Panel>
          <Tabs.Panel value="text">
            <Textarea
              aria-label="Spec text"
              size="xs"
              autosize
              minRows={12}
              maxRows={30}
              spellCheck={false}
              classNames={{ input: "sample-input" }}
              value={toml}
              onChange={(event) => {
                setToml(event.currentTarget.value);
              }}
            />
          </Tabs.Panel>
        </Tabs>
      </Paper>
      <Title order={2} mb={6}>
        Preview of the sample
      </Title>
      <Preview toml={settledToml} sample={settledSample} />
      <Group gap="sm" mt="md">
        <Button
          loading={saving.isPending}
          onClick={() => {
            saving.mutate();
          }}
        >
          {`Save ${name}`}
        </Button>
        <Text fz="sm" className="soft">
          Agents and imports will use it from now on.
        </Text>
      </Group>
      <ErrorLine error={saving.error} />
      <UnsavedChanges name={name} isUnsaved={!isSaved && toml !== given} />
    </>
  );
}
