import { api } from "../../api/client";
import { Button, Group, Paper, Radio, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";

import { specsQuery } from "../../api/queries";
import { isAdministrator, useMe } from "../../components/me";
import { ErrorLine, StateView } from "../../components/StateView";
import type { SpecDraftRequest } from "../../logic/api";
import { nameProblem } from "../../logic/specs";
import { SpecEditor } from "./SpecEditor";
import "./specs.css";

type Shape = SpecDraftRequest["shape"];

const PLACEHOLDER = `time      logins  orders  wait_ms
10:00:10      12     340     12.5
10:00:20      14     355     11.9`;

/** Creates an add-on from a pasted sample: describe the tool, draft the columns, correct them, save. */
export function NewSpecPage() {
  useDocumentTitle("New add-on · normstat");
  const me = useMe();
  const known = useQuery(specsQuery).data?.specs ?? [];
  const [name, setName] = useState("");
  const [command, setCommand] = useState("");
  const [shape, setShape] = useState<Shape>("single");
  const [instanceColumn, setInstanceColumn] = useState("");
  const [sample, setSample] = useState("");
  const [isTried, setTried] = useState(false);
  const drafting = useMutation({ mutationFn: (body: SpecDraftRequest) => api.POST("/specs/draft", { body }) });
  const wrongName = nameProblem(name, known);

  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (wrongName === null && sample.trim() !== "") {
      drafting.mutate({
        name,
        sample,
        shape,
        ...(command.trim() === "" ? {} : { command: command.trim() }),
        ...(shape === "multi" && instanceColumn.trim() !== "" ? { instance_column: instanceColumn.trim() } : {}),
      });
    }
  };

  if (!isAdministrator(me)) {
    return (
      <div className="page">
        <StateView
          state={{
            kind: "empty",
            title: "Only administrators can create add-ons",
            next: "Send an administrator a sample of the tool's output.",
          }}
        />
      </div>
    );
  }
  return (
    <div className="page">
      <Title order={1} mb={4}>
        New add-on
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        {
          "Paste output of your own tool. Once saved, the add-on works like a built-in spec: agents send the tool's output, files can be imported, and graphs and comparisons include it."
        }
      </Text>
      <Paper className="card" p="md" mb="md">
        <form onSubmit={submit} noValidate aria-label="Tool output">
          <Stack gap="sm">
            <Group gap="sm" align="flex-start">
              <TextInput
                size="xs"
                w={240}
                label="Name"
                placeholder="app_time"
                required
                maxLength={40}
                value={name}
                error={(isTried || name !== "") && wrongName}
                onChange={(event) => {
                  setName(event.currentTarget.value.trim());
                }}
              />
              <TextInput
                size="xs"
                w={320}
                label="Command (optional)"
                placeholder="app_time 10"
                value={command}
                onChange={(event) => {
                  setCommand(event.currentTarget.value);
                }}
              />
            </Group>
            <Radio.Group
              label="Each report has"
              size="xs"
              value={shape}
              onChange={(value) => {
                setShape(value === "multi" ? "multi" : "single");
              }}
            >
              <Group gap="lg" mt={4}>
                <Radio size="xs" value="single" label="one line (like vmstat)" />
                <Radio size="xs" value="multi" label="a line per instance (like iostat)" />
              </Group>
            </Radio.Group>
            {shape === "multi" && (
              <TextInput
                size="xs"
                w={320}
                label="Column with the instance name (optional)"
                description="the column's heading; by default the first column without numbers"
                placeholder="device"
                value={instanceColumn}
                onChange={(event) => {
                  setInstanceColumn(event.currentTarget.value);
                }}
              />
            )}
            <SampleInput
              value={sample}
              error={isTried && sample.trim() === "" ? "Paste the heading and a few reports" : null}
              onChange={setSample}
            />
            <Group gap="sm">
              <Button type="submit" variant={drafting.data ? "default" : "filled"} loading={drafting.isPending}>
                {drafting.data ? "Draft again from sample" : "Draft columns"}
              </Button>
              {drafting.data && (
                <Text fz="sm" className="soft">
                  Drafting again overwrites your edits below.
                </Text>
              )}
            </Group>
            <ErrorLine error={drafting.error} />
          </Stack>
        </form>
      </Paper>
      {drafting.data && (
        <SpecEditor key={drafting.submittedAt} name={drafting.variables.name} toml={drafting.data.toml} sample={sample} />
      )}
    </div>
  );
}

interface SampleInputProps {
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (sample: string) => void;
}

/** Input for a sample of a tool's output. */
export function SampleInput({ value, error, onChange }: SampleInputProps) {
  return (
    <Textarea
      size="xs"
      label="Sample"
      description="The heading and a few reports, exactly as printed"
      placeholder={PLACEHOLDER}
      required
      autosize
      minRows={6}
      maxRows={16}
      spellCheck={false}
      classNames={{ input: "sample-input" }}
      value={value}
      error={error}
      onChange={(event) => {
        onChange(event.currentTarget.value);
      }}
    />
  );
}
