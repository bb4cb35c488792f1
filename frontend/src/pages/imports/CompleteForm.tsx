import { Autocomplete, Button, Checkbox, Group, Select, Text, TextInput } from "@mantine/core";
import { useForm, type UseFormReturnType } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { importsQuery, specsQuery } from "../../api/queries";
import { ErrorLine } from "../../components/StateView";
import { useZoneGroups } from "../../components/zone";
import { counted } from "../../logic/counted";
import {
  fileTime,
  type LackingFile,
  missingOf,
  NO_VALUES,
  type RetryValues,
  retryProblems,
  retryRequest,
  takesTitle,
} from "../../logic/import_retry";
import { MAX_TITLE } from "../../logic/imports";
import { wholeSecond } from "../../logic/time";
import { formatInstant, parseInstant, type Zone } from "../../logic/zone";
import { readNow } from "../../state/clock";

interface CompleteFormProps {
  /** The files to try again, each with its import. */
  readonly files: readonly LackingFile[];
  /** The zone of a start without one. */
  readonly zone: Zone;
}

/** The values that files lack, given once for all of them, and a button that loads them again without a new upload. */
export function CompleteForm({ files, zone }: CompleteFormProps) {
  const client = useQueryClient();
  const missing = missingOf(files);
  const timed = files.map(({ file }) => fileTime(file)).filter((at) => at !== null);
  const form = useForm<RetryValues>({
    initialValues: NO_VALUES,
    validate: (values) => retryProblems(files, values, parseInstant(values.start, zone, readNow())),
  });
  const trying = useMutation({
    mutationFn: async (values: RetryValues) => {
      const startAt = parseInstant(values.start, zone, readNow());
      for (const { item, file } of files) {
        await api.POST("/imports/{id}/retry", { params: { path: { id: item.id } }, body: retryRequest(file, values, startAt) });
      }
    },
    onSettled: () => client.invalidateQueries({ queryKey: importsQuery.queryKey }),
  });
  const { usesFileTimes, spec } = form.values;
  const [only] = files;
  const what = files.length === 1 ? (only?.file.path ?? "") : counted(files.length, "file");
  const isTimed = usesFileTimes && timed.length === files.length;
  const wants = (option: (typeof missing)[number]): boolean => missing.includes(option);
  const isOnlyFirst = missing.length === 1 && wants("first_is_real");
  return (
    <form
      onSubmit={form.onSubmit((values) => {
        trying.mutate(values);
      })}
      noValidate
      aria-label={`Complete ${what}`}
      className="complete-form"
    >
      <Group gap="sm" align="flex-end">
        {wants("start") && !isTimed && (
          <TextInput
            size="xs"
            w={220}
            label={`First report at (${zone})`}
            placeholder="2026-11-21 09:05:00"
            {...form.getInputProps("start")}
          />
        )}
        {wants("interval_s") && (
          <TextInput
            size="xs"
            w={170}
            label="Seconds between reports"
            placeholder="5"
            inputMode="decimal"
            {...form.getInputProps("interval_s")}
          />
        )}
        {wants("date") && !isTimed && (
          <TextInput size="xs" w={150} label="Date of the first line" placeholder="2026-11-21" {...form.getInputProps("date")} />
        )}
        {wants("zone") && <ZoneField form={form} />}
        {wants("spec") && (
          <SpecField
            value={spec}
            problem={form.errors["spec"]}
            onChange={(chosen) => {
              form.setFieldValue("spec", chosen);
            }}
          />
        )}
        {files.some(({ file }) => takesTitle(wants("spec") ? spec : file.spec)) && (
          <TextInput
            size="xs"
            w={220}
            label="Question of the tracer (optional)"
            placeholder="reads by size"
            maxLength={MAX_TITLE}
            {...form.getInputProps("title")}
          />
        )}
        <Button size="xs" type="submit" loading={trying.isPending} aria-label={`Retry ${what}`}>
          {isOnlyFirst ? "First report covers an interval: retry" : files.length === 1 ? "Retry" : `Retry ${what}`}
        </Button>
      </Group>
      {timed.length > 0 && (
        <Checkbox
          size="xs"
          mt={6}
          label={
            files.length === 1
              ? `Use the time of the file (${formatInstant(zone, wholeSecond(timed[0] ?? readNow()))})`
              : "Use the files' times for all"
          }
          description="as the time of its last line"
          {...form.getInputProps("usesFileTimes", { type: "checkbox" })}
        />
      )}
      {isOnlyFirst && (
        <Text fz="xs" className="soft" mt={4}>
          If its first report covers an interval, not the time since boot, it can be loaded as a sample.
        </Text>
      )}
      <ErrorLine error={trying.error} />
    </form>
  );
}

function ZoneField({ form }: { readonly form: UseFormReturnType<RetryValues> }) {
  const zones = useZoneGroups();
  return (
    <Autocomplete
      size="xs"
      w={200}
      label="Time zone"
      placeholder="Europe/Berlin"
      data={[...zones]}
      limit={50}
      {...form.getInputProps("zone")}
    />
  );
}

interface SpecFieldProps {
  readonly value: string;
  readonly problem: React.ReactNode;
  readonly onChange: (spec: string) => void;
}

function SpecField({ value, problem, onChange }: SpecFieldProps) {
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
        onChange(spec ?? "");
      }}
    />
  );
}
