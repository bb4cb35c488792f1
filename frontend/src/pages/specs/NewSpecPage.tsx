import { Button, Group, Paper, Radio, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { draftSpec } from "../../api/endpoints";
import { specsQuery } from "../../api/queries";
import { isAdministrator, useMe } from "../../components/me";
import { ErrorLine, StateView } from "../../components/StateView";
import type { SpecDraftRequest } from "../../logic/api";
import { nameProblem } from "../../logic/specs";
import { SpecEditor } from "./SpecEditor";
import { words } from "../../words";
import "./specs.css";

type Shape = SpecDraftRequest["shape"];

// oxlint-disable-next-line words/catalogue -- what a tool prints
const PLACEHOLDER = `time      logins  orders  wait_ms
10:00:10      12     340     12.5
10:00:20      14     355     11.9`;

/** Creates an add-on from a pasted sample: describe the tool, draft the columns, correct them, save. */
export function NewSpecPage() {
  useDocumentTitle(words.specs.newSpecPage.newAddOnNormstat);
  const me = useMe();
  const known = useQuery(specsQuery).data?.specs ?? [];
  const [name, setName] = useState("");
  const [command, setCommand] = useState("");
  const [shape, setShape] = useState<Shape>("single");
  const [instanceColumn, setInstanceColumn] = useState("");
  const [sample, setSample] = useState("");
  const [isTried, setTried] = useState(false);
  const drafting = useMutation({ mutationFn: draftSpec });
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
            title: words.specs.newSpecPage.onlyAdministratorsCanCreate,
            next: words.specs.newSpecPage.sendAdministratorSampleTools,
          }}
        />
      </div>
    );
  }
  return (
    <div className="page">
      <Title order={1} mb={4}>
        {words.specs.newSpecPage.newAddOn}
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        {words.specs.newSpecPage.pasteOutputYourOwn}
      </Text>
      <Paper className="card" p="md" mb="md">
        <form onSubmit={submit} noValidate aria-label={words.specs.newSpecPage.toolOutput}>
          <Stack gap="sm">
            <Group gap="sm" align="flex-start">
              <TextInput
                size="xs"
                w={240}
                label={words.common.name}
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
                label={words.specs.newSpecPage.commandOptional}
                placeholder={words.specs.newSpecPage.appTime}
                value={command}
                onChange={(event) => {
                  setCommand(event.currentTarget.value);
                }}
              />
            </Group>
            <Radio.Group
              label={words.specs.newSpecPage.eachReportHas}
              size="xs"
              value={shape}
              onChange={(value) => {
                setShape(value === "multi" ? "multi" : "single");
              }}
            >
              <Group gap="lg" mt={4}>
                <Radio size="xs" value="single" label={words.specs.newSpecPage.oneLineLikeVmstat} />
                <Radio size="xs" value="multi" label={words.specs.newSpecPage.linePerInstanceLike} />
              </Group>
            </Radio.Group>
            {shape === "multi" && (
              <TextInput
                size="xs"
                w={320}
                label={words.specs.newSpecPage.columnInstanceNameOptional}
                description={words.specs.newSpecPage.columnsHeadingDefaultFirst}
                placeholder={words.specs.newSpecPage.device}
                value={instanceColumn}
                onChange={(event) => {
                  setInstanceColumn(event.currentTarget.value);
                }}
              />
            )}
            <SampleInput
              value={sample}
              error={isTried && sample.trim() === "" ? words.specs.newSpecPage.pasteHeadingFewReports : null}
              onChange={setSample}
            />
            <Group gap="sm">
              <Button type="submit" variant={drafting.data ? "default" : "filled"} loading={drafting.isPending}>
                {drafting.data ? words.specs.newSpecPage.draftAgainFromSample : words.specs.newSpecPage.draftColumns}
              </Button>
              {drafting.data && (
                <Text fz="sm" className="soft">
                  {words.specs.newSpecPage.draftingAgainOverwritesYour}
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
      label={words.specs.newSpecPage.sample}
      description={words.specs.newSpecPage.headingFewReportsExactly}
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
