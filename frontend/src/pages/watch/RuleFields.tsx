import { ActionIcon, Autocomplete, Button, Group, Paper, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { statsQuery } from "../../api/queries";
import { rulesQuery } from "../../api/watch";
import { COMPARISONS, inputChoices, NEW_CONDITION, RULE_PARTS, type RuleForm } from "../../logic/rule_form";

const SEVERITY_CHOICES = [
  { value: "amber", label: "Warning" },
  { value: "red", label: "Critical" },
  { value: "black", label: "Failing: programs stop because of it" },
];
const JUDGED_CHOICES = [
  { value: "held", label: "in every report for" },
  { value: "mean", label: "on average over" },
];

interface RuleFieldsProps {
  readonly form: UseFormReturnType<RuleForm>;
}

/** The fields of a rule: what it looks at, and from which level on it is how bad. */
export function RuleFields({ form }: RuleFieldsProps) {
  const stats = useQuery(statsQuery).data?.stats;
  const rules = useQuery(rulesQuery).data?.rules ?? [];
  const choices = useMemo(() => inputChoices(stats ?? []), [stats]);
  const { input, unit, conditions } = form.values;
  const isKnown = choices.some(({ items }) => items.some(({ value }) => value === input));
  const own = input === "" || isKnown ? [] : [{ value: input, label: input.replace(/^\w+:/, ""), unit }];
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-start">
        <TextInput size="xs" w={300} label="Title" required placeholder="Busy CPUs" {...form.getInputProps("title")} />
        <TextInput
          size="xs"
          w={200}
          label="Name"
          required
          description="in links and commands; another name makes a copy"
          inputWrapperOrder={["label", "input", "description", "error"]}
          {...form.getInputProps("name")}
        />
        <Autocomplete
          size="xs"
          w={160}
          label="Subsystem"
          required
          data={[...new Set(rules.map(({ subsystem }) => subsystem))].sort()}
          {...form.getInputProps("subsystem")}
        />
      </Group>
      <Group gap="sm" align="flex-start">
        <Select
          size="xs"
          w={460}
          label="Field"
          required
          placeholder="cpu.steal, disk.busy, vmstat_linux.cpu_us …"
          searchable
          limit={200}
          maxDropdownHeight={320}
          data={[...own, ...choices.map(({ group, items }) => ({ group, items: [...items] }))]}
          {...form.getInputProps("input")}
          value={input === "" ? null : input}
          onChange={(chosen: string | null) => {
            const found = choices.flatMap(({ items }) => items).find(({ value }) => value === chosen);
            form.setFieldValue("input", chosen ?? "");
            form.setFieldValue("unit", found?.unit ?? "");
          }}
        />
        <Select
          size="xs"
          w={180}
          label="A state for"
          allowDeselect={false}
          data={[...RULE_PARTS]}
          {...form.getInputProps("of")}
        />
        <TextInput size="xs" w={170} label="Recovered after" placeholder="2 min" {...form.getInputProps("endsAfter")} />
      </Group>
      {conditions.map((_, index) => (
        <Condition key={index} form={form} index={index} />
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => {
            const severity = conditions.some((each) => each.severity === "red") ? "amber" : "red";
            form.insertListItem("conditions", { ...NEW_CONDITION, severity });
          }}
        >
          Add a condition
        </Button>
      </Group>
      <Group gap="sm" align="flex-start" grow>
        <Textarea
          size="xs"
          label="What it means"
          required
          autosize
          minRows={2}
          placeholder="What is wrong when this happens, and for whom."
          {...form.getInputProps("about")}
        />
        <Textarea
          size="xs"
          label="Source"
          required
          autosize
          minRows={2}
          placeholder="The manual, or the incident that taught it."
          {...form.getInputProps("source")}
        />
      </Group>
    </Stack>
  );
}

function Condition({ form, index }: RuleFieldsProps & { readonly index: number }) {
  const at = (name: string): string => `conditions.${String(index)}.${name}`;
  const { unit, conditions } = form.values;
  return (
    <Paper withBorder p="sm" role="group" aria-label={`Condition ${String(index + 1)}`}>
      <Group gap="sm" align="flex-start">
        <Select
          size="xs"
          w={140}
          label="Severity"
          allowDeselect={false}
          data={SEVERITY_CHOICES}
          {...form.getInputProps(at("severity"))}
        />
        <Select
          size="xs"
          w={90}
          label="Comparison"
          allowDeselect={false}
          data={[...COMPARISONS]}
          {...form.getInputProps(at("comparison"))}
        />
        <TextInput
          size="xs"
          w={120}
          label="Level"
          required
          inputMode="decimal"
          rightSection={
            <Text fz="xs" className="soft" pr={6}>
              {unit === "1" ? "" : unit}
            </Text>
          }
          rightSectionWidth={52}
          {...form.getInputProps(at("level"))}
        />
        <Select
          size="xs"
          w={180}
          label="Held"
          allowDeselect={false}
          data={JUDGED_CHOICES}
          {...form.getInputProps(at("judged"))}
        />
        <TextInput size="xs" w={110} label="Duration" placeholder="1 min" {...form.getInputProps(at("duration"))} />
        <TextInput
          size="xs"
          w={200}
          label="Where the level comes from"
          placeholder="a first guess"
          {...form.getInputProps(at("levelSource"))}
        />
        {conditions.length > 1 && (
          <ActionIcon
            mt={24}
            aria-label={`Remove condition ${String(index + 1)}`}
            onClick={() => {
              form.removeListItem("conditions", index);
            }}
          >
            <IconTrash size={15} />
          </ActionIcon>
        )}
      </Group>
      <Group gap="sm" align="flex-start" grow mt="xs">
        <TextInput
          size="xs"
          label="What to do"
          required
          placeholder="Find the process that uses the CPU: prstat -mL 5"
          {...form.getInputProps(at("action"))}
        />
        <TextInput
          size="xs"
          label="What it says"
          placeholder="The CPU has been busy for a minute."
          {...form.getInputProps(at("explanation"))}
        />
      </Group>
    </Paper>
  );
}
