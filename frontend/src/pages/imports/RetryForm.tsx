import { api } from "../../api/client";
import { Autocomplete, Button, Group, Select, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";

import { importQuery, importsQuery, specsQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import { useZoneGroups } from "../../components/zone";
import type { Import, ImportedFile, MissingOption, RetryRequest } from "../../logic/api";
import {
  isRequest,
  MAX_TITLE,
  NO_VALUES,
  type OptionProblems,
  type RetryValues,
  retryRequest,
  takesTitle,
} from "../../logic/imports";
import { parseInstant, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";

interface RetryFormProps {
  readonly item: Import;
  readonly file: ImportedFile;
  /** The zone of a start without one. */
  readonly zone: Zone;
}

/** The values that one file of an import lacks, and a button that tries it again without the file being chosen again. */
export function RetryForm({ item, file, zone }: RetryFormProps) {
  const client = useQueryClient();
  const [values, setValues] = useState<RetryValues>(NO_VALUES);
  const [problems, setProblems] = useState<OptionProblems>({});
  const trying = useMutation({
    mutationFn: (request: RetryRequest) => api.POST("/imports/{id}/retry", { params: { path: { id: item.id } }, body: request }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: importQuery(item.id).queryKey });
      void client.invalidateQueries({ queryKey: importsQuery.queryKey });
    },
  });
  const wants = (option: MissingOption): boolean => file.missing.includes(option);
  const change = (some: Partial<RetryValues>): void => {
    setValues({ ...values, ...some });
    setProblems({});
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const result = retryRequest(file, values, parseInstant(values.start, zone, readNow()));
    if (isRequest(result)) {
      trying.mutate(result);
    } else {
      setProblems(result);
    }
  };
  return (
    <form onSubmit={submit} noValidate aria-label={`Complete ${file.path}`} className="retry-form">
      <Text fz="sm" className="mono raw-name">
        {file.path}
      </Text>
      <Group gap="sm" align="flex-end">
        {wants("start") && (
          <TextInput
            size="xs"
            w={220}
            label={`First report at (${zone})`}
            placeholder="2026-11-21 09:05:00"
            value={values.start}
            error={problems.start}
            onChange={(event) => {
              change({ start: event.currentTarget.value });
            }}
          />
        )}
        {wants("interval_s") && (
          <TextInput
            size="xs"
            w={170}
            label="Seconds between reports"
            placeholder="5"
            inputMode="decimal"
            value={values.interval_s}
            error={problems.interval}
            onChange={(event) => {
              change({ interval_s: event.currentTarget.value });
            }}
          />
        )}
        {wants("date") && (
          <TextInput
            size="xs"
            w={150}
            label="Date of the first line"
            placeholder="2026-11-21"
            value={values.date}
            error={problems.date}
            onChange={(event) => {
              change({ date: event.currentTarget.value.trim() });
            }}
          />
        )}
        {wants("zone") && <ZoneField value={values.zone} problem={problems.zone} onChange={change} />}
        {wants("spec") && <SpecField value={values.spec} problem={problems.spec} onChange={change} />}
        {takesTitle(wants("spec") ? values.spec : file.spec) && (
          <TextInput
            size="xs"
            w={220}
            label="Question of the tracer (optional)"
            placeholder="reads by size"
            maxLength={MAX_TITLE}
            value={values.title}
            onChange={(event) => {
              change({ title: event.currentTarget.value });
            }}
          />
        )}
        {wants("first_is_real") && (
          <Text fz="sm">If its first report covers an interval, not the time since boot, load it as a sample.</Text>
        )}
        <Button size="xs" type="submit" loading={trying.isPending} aria-label={`Retry ${file.path}`}>
          {file.missing.length === 1 && wants("first_is_real") ? "First report covers an interval: retry" : "Retry"}
        </Button>
      </Group>
      <ErrorLine error={trying.error} />
    </form>
  );
}

interface FieldProps {
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (change: Partial<RetryValues>) => void;
}

function ZoneField({ value, problem, onChange }: FieldProps) {
  const zones = useZoneGroups();
  return (
    <Autocomplete
      size="xs"
      w={200}
      label="Time zone"
      placeholder="Europe/Berlin"
      data={[...zones]}
      limit={50}
      value={value}
      error={problem}
      onChange={(zone) => {
        onChange({ zone });
      }}
    />
  );
}

function SpecField({ value, problem, onChange }: FieldProps) {
  const specs = useQuery(specsQuery).data?.specs ?? [];
  return (
    <Select
      size="xs"
      w={260}
      label="Spec"
      placeholder="the tool that printed it"
      searchable
      limit={100}
      data={specs.map(({ name, title }) => ({ value: name, label: `${name}: ${title}` }))}
      value={value === "" ? null : value}
      error={problem}
      onChange={(spec) => {
        onChange({ spec: spec ?? "" });
      }}
    />
  );
}
